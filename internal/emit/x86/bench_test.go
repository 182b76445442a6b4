package x86

import (
	"runtime"
	"testing"
	"time"
	"unsafe"

	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/jit"
	"github.com/sinterml/sinter/internal/loop"
)

// BenchmarkEmit times what compiling a program pays for each of its kernels.
func BenchmarkEmit(b *testing.B) {
	for name, k := range kernels(b) {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				if _, err := Emit(k, AVX512); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkBandwidth runs kernels on one thread over data beyond the caches
// and, in turn, copies as many bytes: the bound they are measured by.
func BenchmarkBandwidth(b *testing.B) {
	for _, isa := range []ISA{AVX512, AVX2} {
		if !runnable(isa) {
			continue
		}
		for _, name := range []string{"bias_relu", "layer_norm", "gelu_rational"} {
			b.Run(name+"/"+isaNames[isa], func(b *testing.B) { benchBandwidth(b, kernels(b)[name], isa) })
		}
	}
}

func benchBandwidth(b *testing.B, k *loop.Kernel, isa ISA) {
	const rows, cols = 16384, 768
	env := ir.Env{"M": rows, "N": cols}
	if len(k.Params) == 2 { // one row alone
		env["N"] = rows * cols
	}
	code, err := Emit(k, isa)
	if err != nil {
		b.Fatal(err)
	}
	mapped, err := jit.Map(code.Text)
	if err != nil {
		b.Fatal(err)
	}
	defer mapped.Close()
	l := native.LayoutOf(k)
	words := make([]uint64, l.Words)
	var alloc jit.Allocator
	var first, last []byte
	for i, p := range k.Params {
		n, err := p.Len.Eval(env)
		if err != nil {
			b.Fatal(err)
		}
		m, err := alloc.Alloc(n * p.DType.Size())
		if err != nil {
			b.Fatal(err)
		}
		defer m.Close()
		clear(m.Bytes())
		words[l.Params+i] = uint64(uintptr(m.Pointer()))
		if last = m.Bytes(); i == 0 {
			first = last
		}
	}
	for i, s := range k.Symbols() {
		words[l.Symbols+i] = uint64(env[s.Name])
	}
	lo, hi, err := k.Span(env)
	if err != nil {
		b.Fatal(err)
	}
	words[l.Start], words[l.End] = uint64(lo), uint64(hi)
	run := func() {
		jit.Call(mapped.Entry(0), unsafe.Pointer(&words[0]))
		runtime.KeepAlive(words)
	}
	run()
	copy(last, first)
	var copying, running float64
	for range b.N {
		start := time.Now()
		copy(last, first)
		middle := time.Now()
		run()
		copying += float64(middle.Sub(start))
		running += float64(time.Since(middle))
	}
	b.ReportMetric(copying/running, "of-memmove")
	b.ReportMetric(float64(len(first)+len(last))*float64(b.N)/running, "GB/s")
}
