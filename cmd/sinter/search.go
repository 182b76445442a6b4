package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/sinterml/sinter/cmd/sinter/internal/ranking"
	"github.com/sinterml/sinter/cmd/sinter/internal/textfiles"
)

// searchFlags are those of the search command.
type searchFlags struct {
	top     int
	index   string
	noIndex bool
	rerank  rerankFlags
	rank    rankFlags
	show    showFlags
	files   fileFlags
}

func (a *app) searchCommand() *cobra.Command {
	var f searchFlags
	c := &cobra.Command{
		Use:   "search QUERY [PATH...]",
		Short: "Search text files by meaning and words",
		Long: `Search finds the passages of the text files below each PATH, by default the
current folder, that answer QUERY best: whose meaning is close to it, and that
share words with it, rare ones above all. A PATH may also be a file, or - for
standard input. Of one file at most two passages are shown while there are
others.

With --rerank a cross-encoder, which reads QUERY and a passage at once, sorts
the best 50 anew. It is a second model, given by --rerank-model, by
$SINTER_RERANK_MODEL, or found in the local hub cache under one of the names in
docs/models.md.

The files are those that ripgrep searches: hidden files are left out, as are
those that .gitignore, .ignore, .rgignore, .git/info/exclude and git's global
excludes name; links are not followed. Binary files, and files larger than
--max-filesize, are left out as well. A text file given as PATH is always
searched.`,
		Example: `  sinter search "how are errors wrapped" src docs
  sinter search -t go -g '!*_test.go' "parse a date"
  sinter search -l --min-score 0.3 "retry with backoff" | xargs grep -n sleep
  sinter search --files --hidden -g '!.git'
  sinter search --rerank "when is the cache dropped" docs
  git log | sinter search "why is the cache gone" -`,
		Args: func(_ *cobra.Command, args []string) error {
			if f.files.list {
				return nil
			}
			if len(args) == 0 {
				return usagef("give a query, in quotation marks if it has spaces")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			f.show.whole = cmd.Flags().Changed("context")
			if f.files.list {
				if err := checkFilesAlone(cmd.Flags().Changed); err != nil {
					return err
				}
				return a.listFiles(cmd.Context(), args, f.files)
			}
			if err := checkEmpty(cmd.Flags(), "a folder", "index"); err != nil {
				return err
			}
			q, err := a.query(args, f)
			if err != nil {
				return err
			}
			return a.search(cmd.Context(), q)
		},
	}
	set := c.Flags()
	set.IntVar(&f.top, "top", 10, "show at most so many passages")
	set.StringVar(&f.index, "index", "", "folder to keep the index in (default sinter/index in the user's cache folder)")
	set.BoolVar(&f.noIndex, "no-index", false, "use no index: embed everything anew and keep nothing")
	f.rank.register(set)
	f.rerank.register(set)
	f.show.register(set)
	f.files.register(set)
	return c
}

// query is a search that makes sense.
type query struct {
	text   string
	paths  []string
	files  textfiles.Options
	rank   ranking.Options
	rerank rerankOptions
	show   show
	// index is the folder to keep the index in, "" for the default.
	index   string
	noIndex bool
}

func (a *app) query(args []string, f searchFlags) (query, error) {
	q := query{text: args[0], index: f.index, noIndex: f.noIndex}
	switch {
	case !utf8.ValidString(q.text):
		return q, usagef("the query is not valid UTF-8")
	case strings.TrimSpace(q.text) == "":
		return q, usagef("the query is empty")
	case f.top < 1:
		return q, usagef("--top %d: use at least 1", f.top)
	case f.noIndex && f.index != "":
		return q, usagef("--index and --no-index: give one")
	}
	var err error
	if q.paths, err = pathsOf(args[1:]); err != nil {
		return q, err
	}
	if q.rank, err = f.rank.options(f.top); err != nil {
		return q, err
	}
	if q.show, err = a.show(f.show, f.files.null); err != nil {
		return q, err
	}
	q.rank.OneEach = q.show.paths
	if err = a.rerankOptions(&q, f.rerank); err != nil {
		return q, err
	}
	q.files, err = f.files.options(a.env)
	return q, err
}

// searchResult is what --json prints.
type searchResult struct {
	Query    string `json:"query"`
	Model    string `json:"model"`
	Reranker string `json:"reranker,omitempty"`
	Device   string `json:"device"`
	DType    string `json:"dtype"`
	Files    int    `json:"files"`
	// Pending files are being indexed by another process, and left out.
	Pending      int     `json:"pending,omitempty"`
	Chunks       int     `json:"chunks"`   // passages in the index
	Embedded     int     `json:"embedded"` // of them anew
	IndexSeconds float64 `json:"index_seconds"`
	QuerySeconds float64 `json:"query_seconds"`
	Skipped      skipped `json:"skipped"`
	Results      []found `json:"results"`
}

// found is a passage that answers.
type found struct {
	Path    string  `json:"path"`
	Line    int     `json:"line"`
	EndLine int     `json:"end_line"`
	Score   float32 `json:"score"` // what results are ranked by
	// Cosine is that of the vectors of query and passage, null where the passage
	// has none.
	Cosine *float32 `json:"cosine"`
	BM25   float32  `json:"bm25"` // 0 with --rank vectors
	Text   string   `json:"text"`
	Before []string `json:"before,omitempty"` // lines, with --context
	After  []string `json:"after,omitempty"`

	start int // byte in its line where the text begins, if that was asked for
}

// skipped counts the files that are not in the index, by reason.
type skipped struct {
	Binary     int `json:"binary"`
	TooLarge   int `json:"too_large"`
	Unreadable int `json:"unreadable"`
}

func (a *app) search(ctx context.Context, q query) (err error) {
	start := time.Now()
	opening := a.startEncoder(ctx) // which takes about as long as looking for files
	defer func() { err = errors.Join(err, opening.close()) }()
	var skip skipped
	q.files.Skip = func(_ string, err error) { a.skip(&skip, err) }
	files, err := textfiles.List(ctx, q.paths, q.files)
	if err != nil {
		return err
	}
	b := newIndexBuilder(a, a.openKeeper(q), q, &skip)
	defer b.close()
	sources := b.known(ctx, files)
	e, err := opening.wait()
	if err != nil {
		return err
	}
	second, err := a.openReranker(ctx, q.rerank, e.device)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, second.close()) }()
	b.encoder = e
	a.warnPooling(e)
	a.warnQuery(q, e)
	if err := b.build(ctx, sources, b.early(ctx, start, q)); err != nil {
		return err
	}
	indexed := time.Now()
	results, err := rank(ctx, e, &b.index, q)
	if err != nil {
		return err
	}
	if results, err = second.sort(ctx, q, results); err != nil {
		return err
	}
	result := searchResult{
		Query: q.text, Model: a.modelName(), Reranker: q.rerank.model, Device: e.device.Name(), DType: a.dtype(),
		Files: len(b.index.files), Pending: b.left, Chunks: len(b.index.passages), Embedded: b.index.embedded, Skipped: skip,
		Results: results,
	}
	result.IndexSeconds = indexed.Sub(start).Seconds()
	result.QuerySeconds = time.Since(indexed).Seconds()
	return a.printFound(q, result)
}

func (a *app) warn(format string, args ...any) {
	if !a.settings.quiet {
		fmt.Fprintf(a.stderr, "sinter: %s\n", printableLines(fmt.Sprintf(format, args...)))
	}
}
