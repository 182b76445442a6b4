// Encoder is a sentence encoder as a user of sinter writes one: six blocks of
// a width that no published model has, with random weights. It embeds ragged
// batches of token ids and prints how alike they are.
//
//	go run ./examples/encoder
//	go run ./examples/encoder --json   # how fast, beside a published model
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/embed"
)

// small is the encoder of this example.
var small = sizes{vocab: 30522, positions: 512, layers: 6, width: 320, heads: 5, inner: 700}

const seed = 1

// precisions are what --dtype stands for.
var precisions = map[string]sinter.Precision{"f32": sinter.F32, "bf16": sinter.BF16, "int8": sinter.Int8}

func main() {
	asJSON := flag.Bool("json", false, "measure, and print rows as sinter bench --json does")
	dtype := flag.String("dtype", "f32", "number format that products compute in: f32, bf16, int8")
	flag.Parse()
	if _, ok := precisions[*dtype]; !ok {
		fmt.Fprintf(os.Stderr, "encoder: -dtype %q: use f32, bf16 or int8\n", *dtype)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	run := show
	if *asJSON {
		run = measure
	}
	if err := run(ctx, os.Stdout, *dtype); err != nil {
		fmt.Fprintln(os.Stderr, "encoder:", err)
		os.Exit(1)
	}
}

// show embeds texts and prints the cosine of each pair.
func show(ctx context.Context, w io.Writer, dtype string) (err error) {
	e, err := small.compile(small.draw(seed), nil, precisions[dtype])
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.close()) }()
	texts := [][]int32{
		{101, 1996, 4937, 2938, 2006, 1996, 13523, 102},
		{101, 1996, 4937, 2938, 2006, 1996, 2795, 102},
		{101, 1996, 13523, 2938, 2006, 1996, 4937, 102},
		{101, 15756, 19204, 102},
	}
	vectors, err := e.embed(ctx, texts)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%d texts, %d components each, %d kernels\n\n", len(texts), e.width, e.program.Info().Kernels)
	for i, t := range texts {
		fmt.Fprintf(w, "text %d  %v\n", i, t)
		fmt.Fprintf(w, "        %.4f ...\n", vectors[i][:6])
	}
	fmt.Fprint(w, "\ncosine")
	for j := range texts {
		fmt.Fprintf(w, "  text %d", j)
	}
	for i := range texts {
		fmt.Fprintf(w, "\ntext %d", i)
		for j := range texts {
			fmt.Fprintf(w, "  %6.3f", embed.Cosine(vectors[i], vectors[j]))
		}
	}
	_, err = fmt.Fprintln(w)
	return err
}
