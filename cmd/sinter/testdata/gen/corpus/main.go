// The program corpus makes the chunks of the evaluation corpus of semantic
// search: it collects the files that the patterns of sources.txt match and
// splits them as sinter search does, with the tokenizer in the binary.
//
//	go run ./cmd/sinter/testdata/gen/corpus
//
// run in the root of the repository, writes testdata/corpus/chunks.jsonl.gz
// anew. That gives the frozen file only with the same version of Go and the
// splitter of the day the corpus was frozen.
package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sinterml/sinter/cmd/sinter/internal/passage"
	"github.com/sinterml/sinter/model/minilm"
	"github.com/sinterml/sinter/tokenizer"
)

//go:embed sources.txt
var sources string

// maxTokens is that of a passage in sinter search, special tokens included.
const maxTokens = 256

// chunk is a line of the corpus.
type chunk struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	EndLine int    `json:"end_line"`
	Text    string `json:"text"`
}

func main() {
	log.SetFlags(0)
	out := flag.String("o", filepath.FromSlash("cmd/sinter/testdata/corpus/chunks.jsonl.gz"), "`FILE` to write")
	list := flag.Bool("v", false, "print how many chunks each file has")
	flag.Parse()
	if err := write(*out, *list); err != nil {
		log.Fatal(err)
	}
}

func write(out string, list bool) error {
	split, err := splitter()
	if err != nil {
		return err
	}
	all, err := collect(split, list)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return err
	}
	e := json.NewEncoder(z)
	e.SetEscapeHTML(false)
	for _, c := range all {
		if err := e.Encode(c); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(out, b.Bytes(), 0o644)
}

// splitter splits as sinter search does.
func splitter() (*passage.Splitter, error) {
	t, err := tokenizer.Load(minilm.FS, "tokenizer.json")
	if err != nil {
		return nil, err
	}
	special := len(t.Encode("").IDs)
	tokens := func(line string) [][2]int {
		return slices.DeleteFunc(t.Encode(line).Offsets, func(o [2]int) bool { return o[0] == o[1] })
	}
	return &passage.Splitter{Tokens: tokens, Max: maxTokens - special}, nil
}

// collect reads and splits the files of sources.txt, in its order. A text that
// was there before is left out: one of two equal passages cannot be the better.
func collect(split *passage.Splitter, list bool) ([]chunk, error) {
	var all []chunk
	var from source
	seen := map[string]bool{}
	s := bufio.NewScanner(strings.NewReader(sources))
	for s.Scan() {
		line := strings.TrimSpace(s.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		if prefix, origin, ok := strings.Cut(line, " = "); ok {
			var err error
			if from, err = open(prefix, origin); err != nil {
				return nil, err
			}
			continue
		}
		files, err := fs.Glob(from.tree, line)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", line, err)
		}
		if len(files) == 0 {
			return nil, fmt.Errorf("%s matches no file of %s", line, from.prefix)
		}
		for _, file := range files {
			text, err := fs.ReadFile(from.tree, file)
			if err != nil {
				return nil, err
			}
			if !utf8.Valid(text) {
				return nil, fmt.Errorf("%s: not UTF-8", file)
			}
			before := len(all)
			for _, p := range split.Split(file, string(text)) {
				if !seen[p.Text] {
					seen[p.Text] = true
					all = append(all, chunk{from.prefix + "/" + file, p.Line, p.End, p.Text})
				}
			}
			if list {
				fmt.Printf("%4d %s/%s\n", len(all)-before, from.prefix, file)
			}
		}
	}
	if list {
		fmt.Printf("%4d in all\n", len(all))
	}
	return all, s.Err()
}

// source is a place that files come from.
type source struct {
	prefix string // its folder in the corpus
	tree   fs.FS
}

// open finds a source by its origin: a version of Go, which must be the one
// that runs this program, or a module at a version.
func open(prefix, origin string) (source, error) {
	if version, ok := strings.CutPrefix(origin, "go@"); ok {
		if version != runtime.Version() {
			return source{}, fmt.Errorf("sources.txt wants %s, this is %s", version, runtime.Version())
		}
		root, err := exec.Command("go", "env", "GOROOT").Output()
		return source{prefix, os.DirFS(strings.TrimSpace(string(root)))}, err
	}
	got, err := exec.Command("go", "mod", "download", "-json", origin).Output()
	if err != nil {
		return source{}, fmt.Errorf("downloading %s: %w", origin, err)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(got, &module); err != nil {
		return source{}, err
	}
	return source{prefix, os.DirFS(module.Dir)}, nil
}
