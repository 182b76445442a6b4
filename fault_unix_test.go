//go:build unix

package sinter_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sinterml/sinter"
)

// mappedWeights is a file of random f32 that tensors are made of.
type mappedWeights struct {
	path string
	data []byte // the file
	mem  []byte // the mapping
	used int
}

func mapWeights(t *testing.T, elements int) *mappedWeights {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	m := &mappedWeights{path: filepath.Join(t.TempDir(), "weights")}
	for range elements {
		m.data = binary.LittleEndian.AppendUint32(m.data, math.Float32bits(float32(r.NormFloat64())))
	}
	m.write(t)
	f, err := os.Open(m.path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if m.mem, err = unix.Mmap(int(f.Fd()), 0, len(m.data), unix.PROT_READ, unix.MAP_SHARED); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Munmap(m.mem) })
	return m
}

// write makes the file whole again, in place.
func (m *mappedWeights) write(t *testing.T) {
	t.Helper()
	f, err := os.OpenFile(m.path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err == nil {
		_, err = f.Write(m.data)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (m *mappedWeights) truncate(t *testing.T) {
	t.Helper()
	if err := os.Truncate(m.path, 0); err != nil {
		t.Fatal(err)
	}
}

func (m *mappedWeights) weight(name string, shape ...int) sinter.Tensor {
	n := 4
	for _, s := range shape {
		n *= s
	}
	m.used += n
	return sinter.Weight(name, sinter.F32, m.mem[m.used-n:m.used], shape...)
}

// Weights in a file that shrinks before or after the first run, in all kinds of
// kernels: the run's error names the weight, nothing is kept of what was half
// read, no memory is lost, and once the file is whole the results are what they
// would have been.
func TestWeightsThatShrink(t *testing.T) {
	const in, out, rows = 96, 160, 37
	x := sinter.Input("x", sinter.F32, sinter.Sym("rows", 1, 1<<20), sinter.N(in))
	ids := sinter.Input("ids", sinter.I32, sinter.Sym("rows", 1, 1<<20))
	values := make([]float32, rows*in)
	for i := range values {
		values[i] = float32(i%13) - 6
	}
	numbers := make([]int32, rows)
	for i := range numbers {
		numbers[i] = int32(i * 7 % 100)
	}
	graphs := map[string]func(m *mappedWeights) sinter.Tensor{
		"product":     func(m *mappedWeights) sinter.Tensor { return x.MatMul(m.weight("w", in, out)) },
		"transposed":  func(m *mappedWeights) sinter.Tensor { return x.MatMul(m.weight("w", out, in).Transpose(0, 1)) },
		"gather":      func(m *mappedWeights) sinter.Tensor { return m.weight("w", 100, out).Take(ids, 0) },
		"elementwise": func(m *mappedWeights) sinter.Tensor { return x.Mul(m.weight("w", in)).Exp() },
		"rows":        func(m *mappedWeights) sinter.Tensor { return x.Add(m.weight("w", in)).Softmax(-1) },
		"constant":    func(m *mappedWeights) sinter.Tensor { return x.Add(m.weight("w", 300, in).Mean(0)) },
		"sort":        func(m *mappedWeights) sinter.Tensor { s, _ := m.weight("w", 300).Sort(0, false); return x.Sum().Add(s) },
	}
	for _, isa := range []string{"amx-fp16", "amx", "avx512", "avx2", "generic"} {
		for _, threads := range []int{1, 2} {
			for _, precision := range []sinter.Precision{sinter.F32, sinter.Int8} {
				t.Run(fmt.Sprint(isa, threads, precision), func(t *testing.T) {
					d, err := sinter.OpenCPU(sinter.CPUOptions{ISA: isa, Threads: threads})
					if err != nil {
						t.Skip(err)
					}
					defer d.Close()
					for name, graph := range graphs {
						m := mapWeights(t, 1<<16)
						var inputs = map[string]sinter.Tensor{}
						g := sinter.Capture(graph(m))
						if strings.Contains(g.String(), `"x"`) {
							inputs["x"] = sinter.Of(values, rows, in)
						}
						if strings.Contains(g.String(), `"ids"`) {
							inputs["ids"] = sinter.Of(numbers, rows)
						}
						shrinkAndRestore(t, name, m, g, inputs, sinter.Options{Device: d, Precision: precision})
					}
				})
			}
		}
	}
}

func shrinkAndRestore(t *testing.T, name string, m *mappedWeights, g *sinter.Graph, in map[string]sinter.Tensor, o sinter.Options) {
	run := func(p *sinter.Program) ([]float32, error) {
		out, err := p.Run(t.Context(), in)
		if err != nil {
			return nil, err
		}
		defer out[0].Release()
		return sinter.Values[float32](t.Context(), out[0])
	}
	compile := func() *sinter.Program {
		p, err := sinter.Compile(g, o)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return p
	}
	p := compile()
	defer p.Close()
	m.truncate(t)
	var held int64
	for i := range 5 {
		if _, err := run(p); err == nil || !strings.Contains(err.Error(), `"w" cannot be read`) {
			t.Errorf("%s, before the first run: error %v", name, err)
		}
		if now := o.Device.Stats().Allocated; i == 0 {
			held = now
		} else if now > held {
			t.Errorf("%s: %d bytes after the first fault, %d after %d", name, held, now, i+1)
		}
	}
	m.write(t)
	got, err := run(p)
	if err != nil {
		t.Fatalf("%s, restored: %v", name, err)
	}
	// What is packed by now may serve without the file; else it is the error again.
	m.truncate(t)
	again, err := run(p)
	if err == nil && !slices.Equal(again, got) || err != nil && !strings.Contains(err.Error(), `"w" cannot be read`) {
		t.Errorf("%s, after the first run: %v, equal %t", name, err, slices.Equal(again, got))
	}
	m.write(t)
	referee, err := sinter.Open("interp")
	if err != nil {
		t.Fatal(err)
	}
	defer referee.Close()
	if o.Precision == sinter.F32 {
		o.Device = referee
		q := compile()
		defer q.Close()
		want, err := run(q)
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if d := math.Abs(float64(got[i] - want[i])); !(d <= 1e-3*(1+math.Abs(float64(want[i])))) {
				t.Fatalf("%s: value %d is %v, want %v", name, i, got[i], want[i])
			}
		}
	}
}
