package main

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/bench"
	"github.com/sinterml/sinter/embed"
	"github.com/sinterml/sinter/model/minilm"
)

const batchTexts, batchTokens = 8, 128

// published is all-MiniLM-L6-v2, whose rate stands beside ours.
var published = sizes{vocab: 30522, positions: 512, layers: 6, width: 384, heads: 12, inner: 1536}

// embedder is what both encoders do.
type embedder func(ctx context.Context, texts [][]int32) ([][]float32, error)

// measure times this encoder and the published one in turns and prints a row
// for each and each number of threads. Shares of the two can be compared: the
// bound of each counts its own operations.
func measure(ctx context.Context, w io.Writer, dtype string) (err error) {
	var closers []func() error
	defer func() {
		for _, c := range slices.Backward(closers) {
			err = errors.Join(err, c())
		}
	}()
	threads := []int{1}
	if all := runtime.GOMAXPROCS(0); all > 1 {
		threads = append(threads, all)
	}
	isa, weights := bench.ISAs()[0], small.draw(seed)
	open := func(p sinter.Precision, d *sinter.Device, err error) (ours, theirs embedder, _ error) {
		if err != nil {
			return nil, nil, err
		}
		closers = append(closers, d.Close)
		e, err := small.compile(weights, d, p)
		if err != nil {
			return nil, nil, err
		}
		closers = append(closers, e.close)
		m, err := embed.New(ctx, embed.Options{FS: minilm.FS, Device: d, Precision: p})
		if err != nil {
			return nil, nil, err
		}
		closers = append(closers, m.Close)
		return e.embed, m.EncodeIDs, nil
	}
	ours, theirs := map[int]embedder{}, map[int]embedder{}
	for _, n := range threads {
		d, err := sinter.OpenCPU(sinter.CPUOptions{ISA: isa, Threads: n})
		if ours[n], theirs[n], err = open(precisions[dtype], d, err); err != nil {
			return err
		}
	}
	referee, err := sinter.Open("interp")
	ourReference, theirReference, err := open(sinter.F32, referee, err)
	if err != nil {
		return err
	}
	mine, err := timed(ctx, "encoder", small, isa, dtype, threads, ours, ourReference)
	if err != nil {
		return err
	}
	other, err := timed(ctx, "minilm", published, isa, dtype, threads, theirs, theirReference)
	if err != nil {
		return err
	}
	rows, err := bench.MeasureInTurns(ctx, 0, mine, other)
	if err != nil {
		return err
	}
	return bench.WriteReport(w, rows)
}

// timed is the case of an encoder. Its accuracy is the cosine with what the
// reference interpreter gives, in f32, for the first text.
func timed(ctx context.Context, name string, s sizes, isa, dtype string, threads []int, on map[int]embedder, reference embedder) (bench.Case, error) {
	r := rand.New(rand.NewPCG(seed, 2))
	texts := make([][]int32, batchTexts)
	for i := range texts {
		for range batchTokens {
			texts[i] = append(texts[i], int32(r.IntN(s.vocab)))
		}
	}
	want, err := reference(ctx, texts[:1])
	if err != nil {
		return bench.Case{}, err
	}
	return bench.Case{
		Name: name, Set: "model", ISA: isa, DType: dtype, Shape: []int{batchTexts, batchTokens},
		Work: batchTexts, Unit: "seq/s", Flops: s.flops(batchTexts, batchTokens), Threads: threads,
		Run: func(ctx context.Context, n int) error {
			_, err := on[n](ctx, texts)
			return err
		},
		Accuracy: func(ctx context.Context, n int) (float64, error) {
			got, err := on[n](ctx, texts)
			if err != nil {
				return 0, err
			}
			return float64(embed.Cosine(got[0], want[0])), nil
		},
	}, nil
}
