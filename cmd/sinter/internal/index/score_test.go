package index

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/sinterml/sinter"
)

func openCPU(t testing.TB) *sinter.Device {
	t.Helper()
	d, err := sinter.OpenCPU(sinter.CPUOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// The compiled product and the loop agree, in blocks that are asked for as a
// whole, in part, and hardly.
func TestScores(t *testing.T) {
	x := openTest(t, t.TempDir(), Options{})
	var refs []Ref
	var segments *Segments
	for i := range 3 {
		_, b := stubFile(fmt.Sprint("/", i), 500)
		commit(t, x, b)
	}
	err := x.Read(context.Background(), func(r *Reader) (err error) {
		for i, n := range []int{500, 100, 3} {
			_, b := stubFile(fmt.Sprint("/", i), 0)
			pieces, ok := r.Content(b.Contents[0].Key)
			if !ok {
				t.Fatal("a content is missing")
			}
			for j := range n {
				refs = append(refs, pieces[j*5%500].Ref)
			}
		}
		segments, err = r.Segments()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	defer segments.Close()
	refs = append(refs, Ref{9, 9}, refs[7])
	query := stubVector(KeyOf("query"))
	loop, program := make([]float32, len(refs)), make([]float32, len(refs))
	if err := segments.Scores(t.Context(), nil, query, refs, loop); err != nil {
		t.Fatal(err)
	}
	if err := segments.Scores(t.Context(), openCPU(t), query, refs, program); err != nil {
		t.Fatal(err)
	}
	missing := 0
	for i := range loop {
		if math.IsNaN(float64(loop[i])) && math.IsNaN(float64(program[i])) {
			missing++
		} else if d := math.Abs(float64(loop[i] - program[i])); !(d <= 1e-6) {
			t.Errorf("%d: %g and %g", i, loop[i], program[i])
		}
	}
	if missing != 1 || loop[7] != loop[len(loop)-1] {
		t.Errorf("%d of one missing", missing)
	}
}

// A segment that is cut short while it is mapped is an error that names it.
func TestShrinks(t *testing.T) {
	if os.PathSeparator == '\\' {
		t.Skip("this system keeps files that are mapped")
	}
	x := openTest(t, t.TempDir(), Options{})
	_, b := stubFile("/a", 3000)
	commit(t, x, b)
	var refs []Ref
	var segments *Segments
	err := x.Read(context.Background(), func(r *Reader) (err error) {
		pieces, _ := r.Content(b.Contents[0].Key)
		for _, p := range pieces {
			refs = append(refs, p.Ref)
		}
		segments, err = r.Segments()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	defer segments.Close()
	terms := segments.Terms(refs)
	if err := os.Truncate(x.segmentPath(1), 8192); err != nil {
		t.Fatal(err)
	}
	query := stubVector(KeyOf("query"))
	scores := make([]float32, len(refs))
	for name, f := range map[string]func() error{
		"verify":  func() error { _, err := segments.Verify(refs); return err },
		"loop":    func() error { return segments.Scores(t.Context(), nil, query, refs, scores) },
		"program": func() error { return segments.Scores(t.Context(), openCPU(t), query, refs, scores) },
		"terms": func() error {
			return segments.Guard(func() error {
				sum := 0
				for _, t := range terms {
					sum += int(t[0])
				}
				return fmt.Errorf("read terms of a sum of %d", sum)
			})
		},
	} {
		if err := f(); err == nil || !containsText(err, "00000001.seg") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// float16 costs next to nothing of a cosine.
func TestFloat16(t *testing.T) {
	const dim = 384
	r := rand.New(rand.NewPCG(5, 6))
	unit := func() []float32 {
		v := make([]float32, dim)
		var sum float64
		for i := range v {
			v[i] = float32(r.NormFloat64())
			sum += float64(v[i]) * float64(v[i])
		}
		for i := range v {
			v[i] /= float32(math.Sqrt(sum))
		}
		return v
	}
	worst := 0.0
	for range 2000 {
		a, b := unit(), unit()
		exact := 0.0
		for i := range a {
			b[i] = 0.7*a[i] + 0.3*b[i] // related texts
			exact += float64(a[i]) * float64(b[i])
		}
		worst = max(worst, math.Abs(float64(Dot(a, Float16(b)))-exact))
	}
	t.Logf("cosines are off by at most %.2g", worst)
	if !(worst <= 0x1p-11) { // half a unit in the last place, of all numbers, in one direction
		t.Errorf("a cosine is off by %g", worst)
	}
	// Every float16 is widened to what it stands for.
	for h := range 1 << 16 {
		want := sinter.Float16(h).Float32()
		if got := widen(uint32(h)) * 0x1p112; h&0x7c00 != 0x7c00 && got != want {
			t.Fatalf("%#x is %g, want %g", h, got, want)
		}
	}
}

func BenchmarkScores(b *testing.B) {
	const dim, n = 384, 100_000
	s := Space{Model: "stub", DType: "f32", Dim: dim, ID: KeyOf("stub")}
	x, err := Open(b.TempDir(), s, Options{})
	if err != nil {
		b.Fatal(err)
	}
	var batch Batch
	content := Content{Key: KeyOf("all")}
	for i := range n {
		v := make([]uint16, dim)
		for j := range v {
			v[j] = uint16(sinter.NewFloat16(float32((i*7+j*13)%101)/1000 - 0.05))
		}
		k := KeyOf(fmt.Sprint(i))
		batch.Chunks = append(batch.Chunks, Chunk{Key: k, Vector: v, Terms: make([]byte, 300)})
		content.Pieces = append(content.Pieces, Piece{Chunk: k})
	}
	batch.Contents = []Content{content}
	commit(b, x, batch)
	var refs []Ref
	var segments *Segments
	err = x.Read(b.Context(), func(r *Reader) (err error) {
		pieces, _ := r.Content(content.Key)
		for _, p := range pieces {
			refs = append(refs, p.Ref)
		}
		segments, err = r.Segments()
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	defer segments.Close()
	query, scores := make([]float32, dim), make([]float32, n)
	for name, d := range map[string]*sinter.Device{"loop": nil, "program": openCPU(b)} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := segments.Scores(b.Context(), d, query, refs, scores); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("verify", func(b *testing.B) {
		for b.Loop() {
			if bad, err := segments.Verify(refs); err != nil || len(bad) > 0 {
				b.Fatal(bad, err)
			}
		}
	})
}
