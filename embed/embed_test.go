package embed_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/embed"
	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/model/minilm"
)

func open(t testing.TB, o embed.Options) *embed.Encoder {
	t.Helper()
	if o.FS == nil && o.Model == "" {
		o.FS = minilm.FS
	}
	e, err := embed.New(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func encode(t testing.TB, e *embed.Encoder, texts []string) [][]float32 {
	t.Helper()
	v, err := e.Encode(context.Background(), texts)
	if err != nil {
		t.Fatal(err)
	}
	if len(v) != len(texts) {
		t.Fatalf("%d vectors for %d texts", len(v), len(texts))
	}
	return v
}

func equal(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) })
}

// sample is texts of many lengths, so many that tokenizing is split.
func sample(n int) []string {
	words := strings.Fields("the river ran dry in august and nobody who lived beside it was surprised by that at all")
	texts := make([]string, n)
	for i := range texts {
		from := i % len(words)
		texts[i] = fmt.Sprintf("%d %s", i, strings.Join(words[from:min(len(words), from+1+i*7%40)], " "))
	}
	return texts
}

// However texts are batched, each has the vector that it has alone, in the
// order of the texts, in every number format.
func TestBatchesChangeNothing(t *testing.T) {
	batchesChangeNothing(t, sinter.F32, 0, 7, 50, 1<<20)
	batchesChangeNothing(t, sinter.BF16, 0, 50)
	batchesChangeNothing(t, sinter.Int8, 0, 50)
	batchesChangeNothing(t, sinter.Int4, 0, 50)
}

func batchesChangeNothing(t *testing.T, p sinter.Precision, batches ...int) {
	t.Helper()
	texts := sample(effort.Of(20, 10, 40, 70))
	one := open(t, embed.Options{BatchTokens: 1, Precision: p}) // every text a batch of its own
	defer one.Close()
	want := encode(t, one, texts)
	for _, tokens := range batches {
		e := open(t, embed.Options{BatchTokens: tokens, Precision: p})
		got := encode(t, e, texts)
		for i := range texts {
			if !equal(got[i], want[i]) {
				t.Errorf("in batches of %d tokens, text %d differs", tokens, i)
			}
		}
		reversed := slices.Clone(texts)
		slices.Reverse(reversed)
		for i, v := range encode(t, e, reversed) {
			if !equal(v, want[len(texts)-1-i]) {
				t.Errorf("in batches of %d tokens and reverse order, text %d differs", tokens, len(texts)-1-i)
			}
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestVectorsAreOfUnitLength(t *testing.T) {
	e := open(t, embed.Options{})
	defer e.Close()
	for i, v := range encode(t, e, append(sample(5), "", " ")) {
		sum := 0.0
		for _, f := range v {
			sum += float64(f) * float64(f)
		}
		if len(v) != e.Dim() || !(math.Abs(sum-1) <= 1e-5) {
			t.Errorf("vector %d has %d elements and the squared length %v", i, len(v), sum)
		}
	}
}

// Long texts are cut: what comes behind the limit makes no difference.
func TestLongTextsAreCut(t *testing.T) {
	e := open(t, embed.Options{})
	defer e.Close()
	long := strings.Repeat("word ", 2*e.MaxTokens())
	v := encode(t, e, []string{long, long + "and more of it", "word"})
	if !equal(v[0], v[1]) || equal(v[0], v[2]) {
		t.Error("what is behind the limit counts, or what is before it does not")
	}
	if n := len(e.Tokenizer().EncodeMax(long, e.MaxTokens()).IDs); n != e.MaxTokens() {
		t.Errorf("%d tokens, the limit is %d", n, e.MaxTokens())
	}
}

func TestManyGoroutines(t *testing.T) {
	for _, p := range []sinter.Precision{sinter.F32, sinter.Int8} {
		manyGoroutines(t, p)
	}
}

func manyGoroutines(t *testing.T, p sinter.Precision) {
	t.Helper()
	e := open(t, embed.Options{BatchTokens: 64, Precision: p})
	defer e.Close()
	texts := sample(20)
	want := encode(t, e, texts)
	var wait sync.WaitGroup
	for g := range 16 {
		wait.Go(func() {
			from := g % len(texts)
			got, err := e.Encode(context.Background(), texts[from:])
			if err != nil {
				t.Error(err)
				return
			}
			for i, v := range got {
				if !equal(v, want[from+i]) {
					t.Errorf("text %d differs", from+i)
				}
			}
		})
	}
	wait.Wait()
}

// Close waits for what has begun; what comes later is refused.
func TestCloseWhileEncoding(t *testing.T) {
	texts := sample(12)
	e := open(t, embed.Options{BatchTokens: 32})
	want := encode(t, e, texts)
	var wait sync.WaitGroup
	var begun sync.WaitGroup
	for range 4 {
		begun.Add(1)
		wait.Go(func() {
			for i := 0; ; i++ {
				if i == 1 {
					begun.Done()
				}
				got, err := e.Encode(context.Background(), texts)
				if err != nil {
					if !errors.Is(err, sinter.ErrClosed) {
						t.Error(err)
					}
					if i == 0 {
						begun.Done()
					}
					return
				}
				if !slices.EqualFunc(got, want, equal) {
					t.Error("a vector differs")
				}
			}
		})
	}
	begun.Wait()
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	wait.Wait()
	if err := e.Close(); !errors.Is(err, sinter.ErrClosed) {
		t.Errorf("closed twice: %v", err)
	}
}

func TestCancelled(t *testing.T) {
	e := open(t, embed.Options{})
	defer e.Close()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := e.Encode(ctx, sample(200)); !errors.Is(err, context.Canceled) {
		t.Errorf("encoding: %v", err)
	}
	if _, err := embed.New(ctx, embed.Options{FS: minilm.FS}); !errors.Is(err, context.Canceled) {
		t.Errorf("opening: %v", err)
	}
}

func TestOptions(t *testing.T) {
	d, err := sinter.Open("cpu")
	if err != nil {
		t.Fatal(err)
	}
	e := open(t, embed.Options{Device: d, Compile: sinter.Options{NoOpt: []string{"all"}}})
	if n := d.Stats().Compiled; n != 1 {
		t.Errorf("the device has compiled %d programs", n)
	}
	if e.Dim() != 384 || e.MaxTokens() != 256 {
		t.Errorf("%d elements, %d tokens", e.Dim(), e.MaxTokens())
	}
	encode(t, e, []string{"x"})
	if err := errors.Join(e.Close(), d.Close()); err != nil {
		t.Error(err)
	}
	for want, o := range map[string]embed.Options{
		"no model":      {},
		"no/such":       {Model: "no/such"},
		"config.json":   {Model: t.TempDir()},
		"use F32":       {FS: minilm.FS, Precision: sinter.F64},
		"precision f64": {FS: asking{minilm.FS, sinter.F64}},
		"-1 tokens":     {FS: minilm.FS, BatchTokens: -1},
		"zero Device":   {FS: minilm.FS, Device: &sinter.Device{}},
		"no tokenizer":  {FS: without{minilm.FS, "tokenizer.json"}},
		"nonsense":      {FS: minilm.FS, Compile: sinter.Options{NoOpt: []string{"nonsense"}}},
	} {
		if e, err := embed.New(context.Background(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
			if err == nil {
				_ = e.Close()
			}
		}
	}
}

// asking is a file system whose model asks for a precision.
type asking struct {
	fs.FS
	precision sinter.Precision
}

func (f asking) Precision() sinter.Precision { return f.precision }

// The model says what it is computed in, unless the options do.
func TestModelAsksForPrecision(t *testing.T) {
	texts := sample(3)
	of := func(o embed.Options) [][]float32 {
		e := open(t, o)
		defer e.Close()
		return encode(t, e, texts)
	}
	asks := asking{minilm.FS, sinter.Int8}
	in8, inF32 := of(embed.Options{FS: asks}), of(embed.Options{FS: asks, Precision: sinter.F32})
	if !slices.EqualFunc(in8, of(embed.Options{FS: minilm.FS, Precision: sinter.Int8}), equal) {
		t.Error("a model that asks for int8 is not computed in it")
	}
	if !slices.EqualFunc(inF32, of(embed.Options{FS: minilm.FS, Precision: sinter.F32}), equal) || slices.EqualFunc(in8, inF32, equal) {
		t.Error("the options do not decide")
	}
}

// without is a file system that lacks a file.
type without struct {
	fs.FS
	name string
}

func (f without) Open(name string) (fs.File, error) {
	if name == f.name {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return f.FS.Open(name)
}

func TestCosine(t *testing.T) {
	for _, c := range []struct {
		a, b []float32
		want float32
	}{
		{[]float32{1, 0}, []float32{0, 1}, 0}, {[]float32{3, 4}, []float32{6, 8}, 1}, {[]float32{1, 1}, []float32{-2, -2}, -1},
		{[]float32{0, 0}, []float32{1, 2}, 0}, {nil, nil, 0}, {[]float32{1e30}, []float32{1e30}, 1},
	} {
		if got := embed.Cosine(c.a, c.b); !(math.Abs(float64(got-c.want)) <= 1e-6) {
			t.Errorf("Cosine(%v, %v) = %v, want %v", c.a, c.b, got, c.want)
		}
	}
	if got := embed.Cosine([]float32{1}, []float32{1, 2}); got == got {
		t.Errorf("lengths that differ give %v", got)
	}
}

// A search ranks passages by how alike they are to a question.
func ExampleEncoder_Encode() {
	ctx := context.Background()
	e, err := embed.New(ctx, embed.Options{FS: minilm.FS})
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()
	passages := []string{
		"Bread rises because yeast turns sugar into gas.",
		"The fastest trains run on magnets.",
		"Flour, water and salt make a simple loaf.",
		"Interest rates were raised again.",
	}
	v, err := e.Encode(ctx, append(passages, "Why does dough get bigger?"))
	if err != nil {
		log.Fatal(err)
	}
	question := v[len(passages)]
	order := []int{0, 1, 2, 3}
	slices.SortFunc(order, func(i, j int) int {
		if embed.Cosine(question, v[i]) > embed.Cosine(question, v[j]) {
			return -1
		}
		return 1
	})
	for _, i := range order[:2] {
		fmt.Println(passages[i])
	}
	// Output:
	// Bread rises because yeast turns sugar into gas.
	// Flour, water and salt make a simple loaf.
}
