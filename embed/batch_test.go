package embed

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/model/minilm"
)

// The default stays unless it was compared, and did clearly less.
func TestBetter(t *testing.T) {
	tried := func(rates ...float64) (all []sinter.BatchTry) { // of batches of 1, 2, 4, ...
		for i, r := range rates {
			all = append(all, sinter.BatchTry{Size: 1 << i, Time: time.Duration(float64(int(1)<<i) / r * 1e9)})
		}
		return all
	}
	for what, c := range map[string]struct {
		size  int
		tried []sinter.BatchTry
		want  int
	}{
		"faster":         {16, tried(10, 20, 40, 80, 160), 2048},
		"smaller":        {2, tried(10, 20, 15, 12), 256},
		"hardly faster":  {2, tried(10, 20.3, 20.2, 20), cpuBatchTokens},
		"the default":    {8, tried(10, 20, 40, 80), cpuBatchTokens},
		"slower":         {4, tried(10, 20, 39, 40), cpuBatchTokens},
		"not compared":   {4, tried(10, 20, 40), cpuBatchTokens},
		"nothing at all": {0, nil, cpuBatchTokens},
	} {
		if got := better(&sinter.BatchAdvice{Size: c.size, Tried: c.tried}, 128, "opencl:0"); got != c.want {
			t.Errorf("%s: %d tokens, want %d", what, got, c.want)
		}
		if got := better(&sinter.BatchAdvice{Size: c.size, Tried: c.tried}, 128, "cuda:0"); got != gpuBatchTokens { // which was not compared
			t.Errorf("%s: %d tokens on a GPU", what, got)
		}
		if got := better(&sinter.BatchAdvice{Size: c.size, Tried: c.tried}, 128, "cpu"); got != cpuBatchTokens {
			t.Errorf("%s: %d tokens on the cpu", what, got)
		}
	}
}

// What was found is kept, and used where that is asked for.
func TestKeptBatch(t *testing.T) {
	ctx := t.Context()
	open := func(o Options) *Encoder {
		t.Helper()
		o.FS = minilm.FS
		e, err := New(ctx, o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { e.Close() })
		return e
	}
	e := open(Options{})
	a, err := e.RecommendBatch(ctx, 0, sinter.BatchOptions{Most: 2, Again: true})
	if err != nil || a.Tokens != 128 || len(a.Tried) != 2 || a.Tried[1].Bytes <= a.Tried[0].Bytes || a.BatchTokens != cpuBatchTokens {
		t.Fatalf("%+v, %v", a, err)
	}
	if k, err := e.RecommendBatch(ctx, 128, sinter.BatchOptions{Most: 2}); err != nil || !k.Kept || k.Size != a.Size {
		t.Errorf("%+v, %v", k, err)
	}
	if k := open(Options{KeptBatch: true}); k.batch != a.BatchTokens || k.queue.tokens != k.batch {
		t.Errorf("batches of %d tokens", k.batch)
	}
	if k := open(Options{KeptBatch: true, BatchTokens: 77}); k.batch != 77 || k.queue.tokens != 77 {
		t.Errorf("batches of %d tokens", k.batch)
	}
	for tokens, want := range map[int]string{-1: "texts of -1 tokens", 1 << 20: "no more than the model takes"} {
		if a, err := e.RecommendBatch(ctx, tokens, sinter.BatchOptions{}); a != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d tokens: %+v, %v", tokens, a, err)
		}
	}
	//lint:ignore SA1012 nil is the case
	if _, err := e.RecommendBatch(nil, 0, sinter.BatchOptions{}); err == nil {
		t.Error("no context")
	}
	if _, err := new(Encoder).RecommendBatch(context.Background(), 0, sinter.BatchOptions{}); err == nil {
		t.Error("the zero encoder")
	}
}
