package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/cmd/sinter/internal/cosine"
)

// similarityFlags are those of similarity alone.
type similarityFlags struct {
	jsonl     bool
	dedup     float64
	png, npy  string
	shorten   shorten
	prompt    promptFlag
	dedupUsed bool
}

// Beyond these a matrix is of no use to whoever reads it: JSON of 4e8 numbers,
// a picture with several texts a pixel.
const (
	maxMatrixJSON = 20_000
	maxMatrixPNG  = 2_000
)

func (a *app) similarityCommand() *cobra.Command {
	var f similarityFlags
	c := &cobra.Command{
		Use:   "similarity FILE",
		Short: "Compare texts with one another, or find those that say the same",
		Long: `Similarity prints the cosine of each text of FILE, one a line, with each other:
1 for the same direction, 0 for nothing in common. - is standard input. Output
is JSON unless it goes to a terminal, which is shown what fits. --png draws the
matrix; --npy writes it as a NumPy file, a row at a time, however large.

--dedup T prints the groups of texts whose cosine is T or more, by the number of
their lines from 0. Two texts are in one group, too, where a chain of such pairs
leads from one to the other: the lower T is, the longer such chains become. Equal
texts are in one group whatever T is. Texts like no other are not listed. No pair
is missed, and memory is that of the vectors.`,
		Example: `  sinter similarity titles.txt
  sinter similarity --png map.png titles.txt
  sinter similarity --dedup 0.95 --json questions.txt | jq '.groups[][1:][]'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("give one file of texts, or - for standard input: there are %d arguments", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			f.dedupUsed = cmd.Flags().Changed("dedup")
			if err := a.checkSimilarity(cmd, f); err != nil {
				return err
			}
			return a.similarityOf(cmd.Context(), args[0], f)
		},
	}
	set := c.Flags()
	set.BoolVar(&f.jsonl, "jsonl", false, "each line is a JSON string")
	set.Float64Var(&f.dedup, "dedup", 0, "print the groups of texts whose cosine is `T` or more, -1 to 1")
	set.StringVar(&f.png, "png", "", "draw the matrix into `FILE`, - for standard output")
	set.StringVar(&f.npy, "npy", "", "write the matrix into `FILE`, for NumPy, - for standard output")
	f.prompt.register(set)
	f.shorten.register(set)
	return c
}

func (a *app) checkSimilarity(cmd *cobra.Command, f similarityFlags) error {
	if err := f.prompt.check(cmd.Flags()); err != nil {
		return err
	}
	if err := f.shorten.check(cmd.Flags()); err != nil {
		return err
	}
	if err := checkEmpty(cmd.Flags(), "the name of a file", "png", "npy"); err != nil {
		return err
	}
	if f.png != "" && f.png == f.npy {
		return usagef("--png and --npy are one file, %s: give two", f.png)
	}
	for _, name := range []string{"png", "npy"} {
		switch set := cmd.Flags().Lookup(name); {
		case set.Changed && f.dedupUsed:
			return usagef("--%s is about the matrix, --dedup prints groups: give one", name)
		case set.Changed && a.settings.json:
			return usagef("--%s writes the matrix to a file, --json prints it: give one", name)
		}
	}
	if f.dedupUsed && !(f.dedup >= -1 && f.dedup <= 1) {
		return usagef("--dedup %v: a cosine is from -1 to 1; texts that say the same have about 0.95", f.dedup)
	}
	return nil
}

func (a *app) similarityOf(ctx context.Context, name string, f similarityFlags) error {
	if err := errors.Join(a.checkOutput("png", f.png), a.checkOutput("npy", f.npy)); err != nil {
		return err
	}
	s, done, err := a.openTexts(name, f.jsonl)
	if err != nil {
		return err
	}
	defer done()
	t, err := a.newTextEmbedder(ctx, f.prompt.name, f.shorten, s)
	if err != nil {
		return err
	}
	defer t.close()
	// Most memory is vectors, which hold no pointers: to collect more often
	// costs little, and keeps what is free from growing with them.
	defer debug.SetGCPercent(debug.SetGCPercent(25))
	if f.dedupUsed {
		err = a.dedup(ctx, s, t, f.dedup)
	} else {
		err = a.matrix(ctx, s, t, f)
	}
	if err == nil {
		t.warn(a)
	}
	return err
}

// openTexts opens a file of texts, - being standard input.
func (a *app) openTexts(name string, jsonl bool) (s textSource, done func(), err error) {
	if name == "-" {
		s, err = a.source(nil, jsonl)
		return s, func() {}, err
	}
	file, err := os.Open(name)
	if err != nil {
		return s, nil, err
	}
	if info, err := file.Stat(); err != nil || info.IsDir() {
		_ = file.Close()
		if err == nil {
			err = usagef("%s is a folder: give a file with one text a line", name)
		}
		return s, nil, err
	}
	return textSource{input: file, jsonl: jsonl}, func() { _ = file.Close() }, nil
}

// textSet is texts by their vectors and as a person sees them.
type textSet struct {
	vectors *cosine.Vectors
	labels  []string
	texts   int // that there were; more than vectors where only some are shown
}

// readTexts embeds texts up to a number: the rest are only counted.
func (a *app) readTexts(ctx context.Context, s textSource, t *textEmbedder, most int) (*textSet, error) {
	set := &textSet{vectors: cosine.New(t.dim)}
	progress := a.startRate("embedding", "texts", true)
	defer progress.end()
	err := s.batches(ctx, func(first int, texts []string) error {
		set.texts += len(texts)
		texts = texts[:min(len(texts), most-set.vectors.Len())]
		rows, err := t.embed(ctx, first, texts)
		if err != nil {
			return err
		}
		for i, r := range rows {
			if err := set.vectors.Add(r.Embedding); err != nil {
				return err
			}
			set.labels = append(set.labels, label(texts[i]))
		}
		progress.add(int64(len(rows)))
		return nil
	})
	return set, err
}

// label is the start of a text.
func label(text string) string {
	const most = 80 // runes
	n := 0
	for i := range text {
		if n++; n > most {
			text = text[:i]
			break
		}
	}
	return printable(text)
}

func (a *app) matrix(ctx context.Context, s textSource, t *textEmbedder, f similarityFlags) error {
	shown := a.terminal && !a.settings.json && f.png == "" && f.npy == ""
	most := math.MaxInt
	switch {
	case shown:
		most = a.cornerSize()
	case f.png != "":
		most = maxMatrixPNG + 1
	case f.npy == "":
		most = maxMatrixJSON + 1
	}
	set, err := a.readTexts(ctx, s, t, most)
	if err != nil {
		return err
	}
	switch n := set.texts; {
	case shown:
		return a.printCorner(ctx, set, t.encoder.device)
	case f.png != "" && n > maxMatrixPNG:
		return fmt.Errorf("%d texts are too many for a picture: up to %d can be told apart; --npy writes the matrix for other programs, --dedup groups texts", n, maxMatrixPNG)
	case f.png == "" && f.npy == "" && n > maxMatrixJSON:
		return fmt.Errorf("the matrix of %d texts has %d numbers, too many for JSON: --npy writes it a row at a time, --dedup groups texts", n, n*n)
	}
	if f.npy != "" {
		if err := a.matrixNPY(ctx, set, t.encoder.device, f.npy); err != nil {
			return err
		}
	}
	if f.png != "" {
		return a.matrixPNG(ctx, set, t.encoder.device, f.png)
	}
	if f.npy != "" {
		return nil
	}
	return a.matrixJSON(ctx, set, t.encoder.device)
}

func (a *app) matrixNPY(ctx context.Context, set *textSet, d *sinter.Device, path string) error {
	out, err := a.createOutput(path)
	if err != nil {
		return err
	}
	w, err := newNPY(out, set.texts)
	if err == nil {
		err = set.vectors.Matrix(ctx, d, func(_ int, row []float32) error { return w.add(row) })
		err = w.close(err)
	}
	return out.close(err)
}

// matrixJSON writes the matrix a row at a time. What is no number is null.
func (a *app) matrixJSON(ctx context.Context, set *textSet, d *sinter.Device) error {
	out := newLines(a.stdout)
	fmt.Fprintf(out, `{"texts":%d,"matrix":[`, set.texts)
	err := set.vectors.Matrix(ctx, d, func(i int, row []float32) error {
		numbers := make([]*float32, len(row))
		for j, v := range row {
			if !math.IsNaN(float64(v)) {
				numbers[j] = &row[j]
			}
		}
		if i > 0 {
			_ = out.WriteByte(',') // an error stays with the writer
		}
		return out.json.Encode(numbers)
	})
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "]}")
	return out.Flush()
}
