package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/sinterml/sinter/cmd/sinter/internal/textfiles"
)

// searchFlags are those of the search command.
type searchFlags struct {
	top     int
	index   string
	noIndex bool
	globs   []string
	rerank  bool
}

func (a *app) searchCommand() *cobra.Command {
	var f searchFlags
	c := &cobra.Command{
		Use:   "search QUERY [PATH...]",
		Short: "Search text files by meaning",
		Long: `Search finds the passages of the text files below each PATH, by default the
current folder, whose meaning is closest to QUERY. Hidden files, binary files,
files above 2 MiB and files that are not UTF-8 are left out; links are not
followed. Of one file at most two passages are shown while there are others.`,
		Example: `  sinter search "how are errors wrapped" src docs
  sinter search -g '*.go' -g '!*_test.go' "parse a date"`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			q, err := f.query(args)
			if err != nil {
				return err
			}
			return a.search(cmd.Context(), q)
		},
	}
	set := c.Flags()
	set.IntVar(&f.top, "top", 10, "show at most so many passages")
	set.StringArrayVarP(&f.globs, "glob", "g", nil, "only files that match; after ! none that match (repeatable, the last match decides)")
	set.StringVar(&f.index, "index", "", "folder to keep the index in (for now it is built anew each time)")
	set.BoolVar(&f.noIndex, "no-index", false, "keep no index")
	set.BoolVar(&f.rerank, "rerank", false, "sort the best by a second model (not available yet)")
	return c
}

// query is a search that makes sense.
type query struct {
	text  string
	paths []string
	globs textfiles.Globs
	top   int
}

func (f searchFlags) query(args []string) (query, error) {
	q := query{text: args[0], paths: args[1:], top: f.top}
	if len(q.paths) == 0 {
		q.paths = []string{"."}
	}
	var err error
	switch {
	case !utf8.ValidString(q.text):
		return q, usagef("the query is not valid UTF-8")
	case strings.TrimSpace(q.text) == "":
		return q, usagef("the query is empty")
	case f.top < 1:
		return q, usagef("--top %d: use at least 1", f.top)
	case f.rerank:
		return q, usagef("--rerank is not available yet")
	case f.noIndex && f.index != "":
		return q, usagef("--index and --no-index: give one")
	}
	if q.globs, err = textfiles.ParseGlobs(f.globs); err != nil {
		return q, usagef("-g: %w", err)
	}
	return q, nil
}

// searchResult is what --json prints.
type searchResult struct {
	Query        string  `json:"query"`
	Model        string  `json:"model"`
	Device       string  `json:"device"`
	DType        string  `json:"dtype"`
	Files        int     `json:"files"`
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
	Score   float32 `json:"score"` // cosine
	Text    string  `json:"text"`
}

// skipped counts the files that are not in the index, by reason.
type skipped struct {
	Binary     int `json:"binary"`
	TooLarge   int `json:"too_large"`
	Encoding   int `json:"encoding"`
	Unreadable int `json:"unreadable"`
}

func (a *app) search(ctx context.Context, q query) (err error) {
	start := time.Now()
	var skip skipped
	files, err := textfiles.List(ctx, q.paths, textfiles.Options{Globs: q.globs, Warn: func(path string, err error) {
		skip.Unreadable++
		a.warn("%v", err)
	}})
	if err != nil {
		return err
	}
	e, err := a.openEncoder(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	b := newIndexBuilder(a, e, &skip)
	index, err := b.build(ctx, files)
	if err != nil {
		return err
	}
	indexed := time.Now()
	vectors, err := e.Encode(ctx, []string{q.text})
	if err != nil {
		return err
	}
	result := searchResult{
		Query: q.text, Model: a.modelName(), Device: e.device.Name(), DType: a.dtype(),
		Files: index.files, Chunks: len(index.passages), Embedded: len(index.passages), Skipped: skip,
		Results: index.best(vectors[0], q.top),
	}
	result.IndexSeconds = indexed.Sub(start).Seconds()
	result.QuerySeconds = time.Since(indexed).Seconds()
	if a.settings.json {
		return a.printJSON(result)
	}
	return a.printFound(result)
}

func (a *app) warn(format string, args ...any) {
	if !a.settings.quiet {
		fmt.Fprintf(a.stderr, "sinter: "+format+"\n", args...)
	}
}
