// Finetune trains the last block of the sentence encoder that comes with
// sinter, so that a sentence about a Go function finds its declaration:
//
//	go run ./examples/finetune -out go-minilm
//	sinter embed --model go-minilm "reports whether s begins with prefix"
//
// Of each batch of pairs, every sentence is to be nearer to its own declaration
// than to those of the others (InfoNCE). The packages that it is judged by are
// not among those that it learns from.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log"
	"os"
	"os/signal"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/embed"
	"github.com/sinterml/sinter/model"
	"github.com/sinterml/sinter/model/minilm"
	"github.com/sinterml/sinter/nn"
	"github.com/sinterml/sinter/optim"
	"github.com/sinterml/sinter/safetensors"
	"github.com/sinterml/sinter/train"
)

// options are the flags.
type options struct {
	out           string
	epochs, batch int
	rate          float64
	seed          int64
	pairs         int // to learn from, at most
}

func main() {
	var o options
	flag.StringVar(&o.out, "out", "go-minilm", "folder for the model")
	flag.IntVar(&o.epochs, "epochs", 3, "times that all pairs are seen")
	flag.IntVar(&o.batch, "batch", 32, "pairs of a step")
	flag.Float64Var(&o.rate, "rate", 2e-4, "learning rate at the start")
	flag.Int64Var(&o.seed, "seed", 1, "decides the order of the pairs")
	flag.IntVar(&o.pairs, "pairs", 1<<20, "to learn from, at most")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if _, _, err := run(ctx, os.Stdout, minilm.FS, o); err != nil {
		log.Fatal(err)
	}
}

// run gives how well the encoder retrieves before and after.
func run(ctx context.Context, w io.Writer, fsys fs.FS, o options) (before, after retrieval, err error) {
	heldOut, err := readPairs(heldOutPairs)
	if err != nil {
		return before, after, err
	}
	learn, err := readPairs(trainPairs)
	if err != nil {
		return before, after, err
	}
	if before, err = report(ctx, w, "before", embed.Options{FS: fsys, Precision: sinter.F32}, heldOut); err != nil {
		return before, after, err
	}
	if err = tune(ctx, w, fsys, o, learn[:min(len(learn), o.pairs)]); err != nil {
		return before, after, err
	}
	after, err = report(ctx, w, "after", embed.Options{Model: o.out}, heldOut)
	return before, after, err
}

// report prints how well an encoder retrieves.
func report(ctx context.Context, w io.Writer, when string, o embed.Options, pairs []pair) (retrieval, error) {
	e, err := embed.New(ctx, o)
	if err != nil {
		return retrieval{}, err
	}
	defer e.Close()
	queries, answers := columns(pairs)
	q, err := e.Encode(ctx, queries)
	if err != nil {
		return retrieval{}, err
	}
	a, err := e.Encode(ctx, answers)
	if err != nil {
		return retrieval{}, err
	}
	r := judge(q, a)
	fmt.Fprintf(w, "%-6s  %d pairs of other packages: %v\n", when, len(pairs), r)
	return r, nil
}

func columns(pairs []pair) (queries, answers []string) {
	for _, p := range pairs {
		queries, answers = append(queries, p.query), append(answers, p.answer)
	}
	return queries, answers
}

// tune trains the last block, and writes the model.
func tune(ctx context.Context, w io.Writer, fsys fs.FS, o options, pairs []pair) error {
	c, err := readConfig(fsys)
	if err != nil {
		return err
	}
	data, err := fs.ReadFile(fsys, weightsFile)
	if err != nil {
		return err
	}
	f, err := safetensors.Parse(weightsFile, data)
	if err != nil {
		return err
	}
	defer f.Close()
	t, err := newTuned(f, c)
	if err != nil {
		return err
	}
	if err := t.train(ctx, w, fsys, c, o, pairs); err != nil {
		return err
	}
	return save(ctx, o.out, fsys, f, c, t)
}

func (t *tuned) train(ctx context.Context, w io.Writer, fsys fs.FS, c *config, o options, pairs []pair) error {
	e, err := model.OpenFS(fsys)
	if err != nil {
		return err
	}
	defer e.Close()
	var d pairsData
	queries, answers := columns(pairs)
	if d.queries, err = newFeatures(ctx, e, c, tokenize(e, queries)); err != nil {
		return err
	}
	if d.answers, err = newFeatures(ctx, e, c, tokenize(e, answers)); err != nil {
		return err
	}
	d.size = o.batch
	opt, err := optim.New(optim.Options{ClipNorm: 1}, optim.Group{Params: nn.Params(t), Method: optim.AdamW{WeightDecay: 0.01}})
	if err != nil {
		return err
	}
	_, err = train.Run(ctx, train.Options{
		Net: t, Optimizer: opt, Data: d, Epochs: o.epochs, Seed: o.seed,
		Schedule: optim.Cosine(o.rate, 0, o.epochs*(len(pairs)/o.batch)),
		Loss: func(m *nn.Mode) (sinter.Tensor, map[string]sinter.Tensor) {
			return t.loss(d, m), nil
		},
		Report: func(e train.Event) error {
			if e.EpochEnd {
				fmt.Fprintf(w, "epoch %d  loss %.4f  %.1f s\n", e.Epoch+1, e.Loss, e.Elapsed.Seconds())
			}
			return nil
		},
	})
	return err
}

// loss is how badly the texts of a batch find their partners.
func (t *tuned) loss(d pairsData, m *nn.Mode) sinter.Tensor {
	side := func(name string, f *features) sinter.Tensor {
		x, offsets := f.inputs(name, d.size)
		return t.embed(x, offsets, m)
	}
	return nn.InfoNCE(side("query", d.queries), side("answer", d.answers), nn.InfoNCEOptions{Symmetric: true})
}
