package generic

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"
	"weak"

	_ "github.com/sinterml/sinter/internal/effort" // collects garbage less often
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/loop/looptest"
)

// toGeneric turns the interpreter's arguments into ours, over the same memory.
func toGeneric(k *loop.Kernel, a *loop.Args) *Args {
	g := &Args{Params: a.Buffers, Start: a.Start, End: a.End, Status: a.Status}
	for _, s := range k.Symbols() {
		g.Sizes = append(g.Sizes, int64(a.Sizes[s.Name]))
	}
	return g
}

// configs are what emitters restrict themselves to, and everything.
var configs = map[string]looptest.Config{
	"all":          {},
	"wild indices": {WildIndices: true},
	"compute":      {DTypes: []ir.DType{ir.F32, ir.I32, ir.Bool, ir.I64}},
	"half":         {DTypes: []ir.DType{ir.F16, ir.BF16, ir.F32}},
}

func TestRandomKernels(t *testing.T) {
	for name, config := range configs {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(100) {
				c := looptest.Random(rand.New(rand.NewPCG(seed, 1)), config)
				if err := compare(c); err != nil {
					t.Fatalf("seed %d: %v\n%v", seed, err, c.Kernel)
				}
			}
		})
	}
}

func compare(c *looptest.Case) error {
	want, got := c.Copy(), c.Copy()
	if err := loop.Interpret(c.Kernel, want); err != nil {
		return err
	}
	f, err := Compile(c.Kernel)
	if err != nil {
		return err
	}
	if err := inParts(f, c.Kernel, toGeneric(c.Kernel, got)); err != nil {
		return err
	}
	return c.Same(got, want)
}

// inParts runs the iterations of the Global loop as three launches at once,
// each with scratch memory of its own.
func inParts(f *Func, k *loop.Kernel, a *Args) error {
	if a.End-a.Start < 3 {
		return f.Run(a)
	}
	errs := make(chan error)
	ends := []int{a.Start, a.Start + 1, a.End - 1, a.End}
	for i := range 3 {
		part := *a
		part.Start, part.End = ends[i], ends[i+1]
		part.Params = slices.Clone(a.Params)
		for j, p := range k.Params {
			if p.Use == loop.Scratch {
				part.Params[j] = bytes.Repeat([]byte{0xa5}, len(a.Params[j]))
			}
		}
		go func() { errs <- f.Run(&part) }()
	}
	return errors.Join(<-errs, <-errs, <-errs)
}

const header = `kernel "k"
slots 1
symbol N 1 4096
param x f32[N] read
param i i32[N] read
param y f32[N] write
`

func mustCompile(t testing.TB, text string) *Func {
	t.Helper()
	k, err := loop.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Compile(k)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestRunErrors(t *testing.T) {
	for body, want := range map[string]string{
		"for vector j < size(N) { y[j] = x[j + 1] }":              "index 4 of param x is outside its 4 elements",
		"for vector j < size(N) { y[j] = x[j - 1] }":              "index -1 of param x",
		"for vector j < size(N) { y[j] = x[j*2] }":                "index 4 of param x",
		"for vector j < size(N) { y[j*j*j] = x[j] }":              "index 8 of param y",
		"for vector j < size(N) { y[j + 1] = x[j] }":              "index 4 of param y",
		"for vector j < 300 { y[0 ? j < 1] = x[cast.i64(i[0])] }": "index 7 of param x",
		"for vector j < size(N) { y[j] = cast.f32(idiv(4, j)) }":  "idiv by zero",
		"y[0] = cast.f32(mod(i[0], i[1]))":                        "mod by zero",
		"for global r < 2 { y[r] = x[r] }":                        "iterations 1 to 3 are outside the loop's 0 to 2",
		"for global r < size(N) { y[r] = x[r + 2] }":              "index 4 of param x",
	} {
		f := mustCompile(t, header+body)
		x, i, y := make([]byte, 16), make([]byte, 16), make([]byte, 16)
		i[0] = 7
		a := &Args{Params: [][]byte{x, i, y}, Sizes: []int64{4}, Start: 1, End: 3, Status: make([]int64, 1)}
		if !strings.Contains(body, "size(N)") {
			a.Sizes = nil
		}
		err := f.Run(a)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `kernel "k"`) {
			t.Errorf("%s: %v, not %q", body, err, want)
		}
		a.Start, a.End = 0, 1
		i[4] = 1
		if strings.Contains(body, "global") {
			if err := f.Run(a); err != nil {
				t.Errorf("%s: after an error: %v", body, err)
			}
		}
	}
}

func TestRunRefusesArgs(t *testing.T) {
	f := mustCompile(t, header+"for vector j < size(N) { y[j] = x[j] }")
	good := func() *Args {
		return &Args{Params: [][]byte{make([]byte, 4), make([]byte, 4), make([]byte, 4)}, Sizes: []int64{1}, Status: make([]int64, 1)}
	}
	if err := f.Run(good()); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Args){
		"few buffers":  func(a *Args) { a.Params = a.Params[:2] },
		"few sizes":    func(a *Args) { a.Sizes = nil },
		"few status":   func(a *Args) { a.Status = nil },
		"nil buffer":   func(a *Args) { a.Params[0] = nil },
		"short buffer": func(a *Args) { a.Params[2] = a.Params[2][:3] },
	} {
		a := good()
		change(a)
		if err := f.Run(a); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := Compile(&loop.Kernel{Body: []loop.Stmt{nil}}); err == nil {
		t.Error("a malformed kernel was compiled")
	}
}

func bytesOf(v []float32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), 4*len(v))
}

// What a loop without iterations would have read is not read before it, and
// what a kernel has just written is read anew.
func TestHoisting(t *testing.T) {
	for body, want := range map[string]float32{
		"for vector j < size(N) - 4 { y[j] = x[99] }":                                                    9,
		"for vector j < 1 { t = f32(2)\nfor serial k < size(N) - 4 { t add= x[99] }\ny[j] = t }":         2,
		"for vector j < 1 { y[1] = x[3]\ny[j] = y[1] }":                                                  4,
		"for vector j < 1 { t = f32(0)\nfor serial k < size(N) { t add= x[k] }\ny[j] = t }":              10,
		"for vector j < 1 { t = f32(0)\nfor serial k < size(N) { y[0] = x[k]\nt add= y[0] }\ny[j] = t }": 10,
		"for vector j < 1 { t = x[0]\ny[1] = t + t\nt = x[1]\ny[0] = t + t }":                            4,
	} {
		f := mustCompile(t, header+body)
		x, y := []float32{1, 2, 3, 4}, []float32{9, 9, 9, 9}
		a := &Args{Params: [][]byte{bytesOf(x), make([]byte, 16), bytesOf(y)}, Sizes: []int64{4}, Status: make([]int64, 1)}
		if !strings.Contains(body, "size(N)") {
			a.Sizes = nil
		}
		if err := f.Run(a); err != nil || y[0] != want {
			t.Errorf("%s: %v, %v, not %v", body, y[0], err, want)
		}
	}
}

// A statement uses a value of the one before it through the same expression.
func TestSharedAcrossStatements(t *testing.T) {
	l := &loop.Local{Name: "t", DType: ir.F32}
	twice := loop.Apply(ir.Add, ir.F32, l.Ref(), l.Ref())
	k := &loop.Kernel{
		Params: []loop.Param{{Name: "y", DType: ir.F32, Len: ir.N(2), Use: loop.Write}},
		Body: []loop.Stmt{
			&loop.Set{Local: l, Value: loop.Const(ir.F32, 0x3f800000)},
			&loop.Store{Param: 0, Index: loop.Int(0), Value: twice},
			&loop.Set{Local: l, Value: twice},
			&loop.Store{Param: 0, Index: loop.Int(1), Value: twice},
		},
	}
	if err := compare(&looptest.Case{Kernel: k, Args: loop.Args{Buffers: [][]byte{make([]byte, 8)}}}); err != nil {
		t.Error(err)
	}
}

// A value with 2^60 paths to it is compiled once.
func TestSharedCompilesOnce(t *testing.T) {
	j := &loop.Var{Name: "j"}
	for _, e := range []*loop.Expr{loop.Int(1), j.Ref(), loop.Load(0, ir.I64, j.Ref(), nil)} {
		for range 60 {
			e = loop.Apply(ir.Xor, ir.I64, e, e)
		}
		f, err := Compile(&loop.Kernel{
			Params: []loop.Param{{Name: "x", DType: ir.I64, Len: ir.N(1), Use: loop.Read}, {Name: "y", DType: ir.I64, Len: ir.N(1), Use: loop.Write}},
			Body:   []loop.Stmt{&loop.Loop{Var: j, Hi: loop.Int(1), Range: loop.Vector, Body: []loop.Stmt{&loop.Store{Param: 1, Index: j.Ref(), Value: e}}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(f.regs) > 70 {
			t.Errorf("%d registers", len(f.regs))
		}
	}
}

// What a Func keeps for the next run does not keep the buffers of the last.
func TestRunForgetsBuffers(t *testing.T) {
	f := mustCompile(t, header+"for vector j < size(N) { y[j] = x[j] }")
	run := func() weak.Pointer[byte] {
		x := make([]byte, 4096)
		a := &Args{Params: [][]byte{x, make([]byte, 4096), make([]byte, 4096)}, Sizes: []int64{1024}, Status: make([]int64, 1)}
		if err := f.Run(a); err != nil {
			t.Fatal(err)
		}
		return weak.Make(&x[0])
	}
	gone := run()
	runtime.GC()
	if gone.Value() != nil {
		t.Error("the buffer is still reachable")
	}
	runtime.KeepAlive(f)
}

func BenchmarkKernels(b *testing.B) {
	const rows = 64
	for name, body := range map[string]string{
		"add":     "for vector j < size(N) { y[j] = x[j] + x[j] }",
		"sum":     "s = f32(0)\nfor vector j < size(N) { s add= x[j] }\ny[0] = s",
		"softmax": "for serial r < 64 { m = f32(-inf)\nfor vector j < 384 { m max= x[r*384 + j] }\ns = f32(0)\nfor vector j < 384 { %0 = exp(x[r*384 + j] - m)\ns add= %0 }\nfor vector j < 384 { y[r*384 + j] = exp(x[r*384 + j] - m)/s } }",
		"matmul":  "for serial r < 64 { for vector j < 384 { s = f32(0)\nfor serial k < 64 { s add= x[r*64 + k]*x[k*384 + j] }\ny[r*384 + j] = s } }",
		"gather":  "for vector j < size(N) { y[j] = x[index(cast.i64(i[j]), N, 0)] }",
	} {
		b.Run(name, func(b *testing.B) {
			f := mustCompile(b, strings.Replace(header, "4096", "1000000", 1)+body)
			x, y := randomFloats(rand.New(rand.NewPCG(1, 1)), rows*384), make([]float32, rows*384)
			a := &Args{Params: [][]byte{bytesOf(x), make([]byte, 4*len(x)), bytesOf(y)}, Sizes: []int64{rows * 384}, Status: make([]int64, 1)}
			if !strings.Contains(body, "N") {
				a.Sizes = nil
			}
			for b.Loop() {
				if err := f.Run(a); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows/384, "ns/element")
		})
	}
}
