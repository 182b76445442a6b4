package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/embed"
	"github.com/sinterml/sinter/model/minilm"
)

const (
	callers = 8
	turn    = 300 * time.Millisecond // of each side, in each round
)

// row is what was measured for texts of one length. Rates are medians of the
// rounds, in texts a second.
type row struct {
	Name      string  `json:"name"`
	Callers   int     `json:"callers"`
	Tokens    int     `json:"tokens"`
	DType     string  `json:"dtype"`
	Threads   int     `json:"threads"`
	Rate      float64 `json:"rate"`       // of the callers together
	BatchRate float64 `json:"batch_rate"` // of one that has all texts
	Ratio     float64 `json:"ratio"`      // median of the rounds' ratios of the two
	P50       float64 `json:"p50_seconds"`
	P99       float64 `json:"p99_seconds"`
	Alone     float64 `json:"alone_seconds"`    // median time of a text where nobody else asks
	Peak      int64   `json:"peak_bytes"`       // of the device, weights included
	BatchPeak int64   `json:"batch_peak_bytes"` // before there were several callers
}

func (r row) String() string {
	return fmt.Sprintf("%d texts of %3d tokens, %-4s: %6.1f texts/s, batch %6.1f, ratio %.3f; p50 %5.2f ms, p99 %5.2f ms, alone %5.2f ms; peak %.1f MB, of the batch %.1f MB",
		r.Callers, r.Tokens, r.DType, r.Rate, r.BatchRate, r.Ratio, 1e3*r.P50, 1e3*r.P99, 1e3*r.Alone, float64(r.Peak)/1e6, float64(r.BatchPeak)/1e6)
}

// measure lets the sides take turns. The device is a fresh one, so that its
// peak of memory is theirs.
func measure(ctx context.Context, p sinter.Precision, tokens, rounds int) (r row, err error) {
	d, err := sinter.OpenCPU(sinter.CPUOptions{})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	e, err := embed.New(ctx, embed.Options{FS: minilm.FS, Precision: p, Device: d})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	texts := draw(callers, tokens)
	if _, err := repeat(ctx, e, texts); err != nil { // warm
		return r, err
	}
	r = row{Name: "concurrent", Callers: callers, Tokens: tokens, Threads: runtime.GOMAXPROCS(0), BatchPeak: d.Stats().Peak}
	var rates, batches, ratios, waits, alone []float64
	for range rounds {
		one, err := repeat(ctx, e, texts[:1])
		if err != nil {
			return r, err
		}
		batch, err := repeat(ctx, e, texts)
		if err != nil {
			return r, err
		}
		start := time.Now()
		many, err := together(ctx, e, texts)
		if err != nil {
			return r, err
		}
		rate := float64(len(many)) / time.Since(start).Seconds()
		alone, waits = append(alone, one...), append(waits, many...)
		rates, batches = append(rates, rate), append(batches, callers/mean(batch))
		ratios = append(ratios, rate*mean(batch)/callers)
	}
	r.Rate, r.BatchRate, r.Ratio = quantile(rates, 0.5), quantile(batches, 0.5), quantile(ratios, 0.5)
	r.P50, r.P99, r.Alone = quantile(waits, 0.5), quantile(waits, 0.99), quantile(alone, 0.5)
	r.Peak = d.Stats().Peak
	return r, nil
}

// repeat embeds texts for the time of a turn and gives the seconds of each call.
func repeat(ctx context.Context, e *embed.Encoder, texts [][]int32) (seconds []float64, err error) {
	for begin := time.Now(); time.Since(begin) < turn; {
		start := time.Now()
		if _, err := e.EncodeIDs(ctx, texts); err != nil {
			return nil, err
		}
		seconds = append(seconds, time.Since(start).Seconds())
	}
	return seconds, nil
}

// together does that in a goroutine for each text.
func together(ctx context.Context, e *embed.Encoder, texts [][]int32) ([]float64, error) {
	seconds, errs := make([][]float64, len(texts)), make([]error, len(texts))
	var wait sync.WaitGroup
	for i := range texts {
		wait.Go(func() { seconds[i], errs[i] = repeat(ctx, e, texts[i:i+1]) })
	}
	wait.Wait()
	return slices.Concat(seconds...), errors.Join(errs...)
}

// draw makes texts of random tokens, the same each time.
func draw(texts, tokens int) [][]int32 {
	r := rand.New(rand.NewPCG(uint64(tokens), 3))
	ids := make([][]int32, texts)
	for i := range ids {
		for range tokens {
			ids[i] = append(ids[i], 1000+int32(r.IntN(20000)))
		}
	}
	return ids
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// quantile is the value that a part q of the values is not above.
func quantile(values []float64, q float64) float64 {
	v := slices.Sorted(slices.Values(values))
	return v[min(int(q*float64(len(v))), len(v)-1)]
}
