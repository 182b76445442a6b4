package cpu

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"
	"unsafe"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/emit/x86/asm"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/jit"
)

// reductionGraphs are reductions of 64 MB of f32 to few results, so that
// reading is all that takes time.
var reductionGraphs = []struct{ name, text string }{
	{"sum", "graph\nleaf 0 input \"x\" f32[4096 4096]\n%0 = input : f32[4096 4096]\n%1 = sum %0 axes=[0 1] : f32[1 1]\nreturn %1\n"},
	{"sum-of-squares", "graph\nleaf 0 input \"x\" f32[4096 4096]\n%0 = input : f32[4096 4096]\n%1 = mul %0 %0 : f32[4096 4096]\n%2 = sum %1 axes=[0 1] : f32[1 1]\nreturn %2\n"},
	{"max", "graph\nleaf 0 input \"x\" f32[4096 4096]\n%0 = input : f32[4096 4096]\n%1 = reducemax %0 axes=[0 1] : f32[1 1]\nreturn %1\n"},
	{"rows4", columnSum(4, 1<<22, 1)},
	{"columns3", columnSum(5592405, 3, 0)},
	{"columns8", columnSum(1<<21, 8, 0)},
	{"columns64", columnSum(1<<18, 64, 0)},
	{"columns768", columnSum(21845, 768, 0)},
	{"columns4096", columnSum(4096, 4096, 0)},
	{"argmax", "graph\nleaf 0 input \"x\" f32[1 16777216]\n%0 = input : f32[1 16777216]\n%1 = argmax %0 axes=[1] : i64[1 1]\nreturn %1\n"},
	{"argmax-rows", "graph\nleaf 0 input \"x\" f32[4096 4096]\n%0 = input : f32[4096 4096]\n%1 = argmax %0 axes=[1] : i64[4096 1]\nreturn %1\n"},
	{"argmax-columns3", "graph\nleaf 0 input \"x\" f32[5592405 3]\n%0 = input : f32[5592405 3]\n%1 = argmax %0 axes=[0] : i64[1 3]\nreturn %1\n"},
}

func columnSum(rows, cols, axis int) string {
	out := [2]int{rows, cols}
	out[axis] = 1
	return fmt.Sprintf("graph\nleaf 0 input \"x\" f32[%[1]d %[2]d]\n%%0 = input : f32[%[1]d %[2]d]\n%%1 = sum %%0 axes=[%[3]d] : f32[%[4]d %[5]d]\nreturn %%1\n",
		rows, cols, axis, out[0], out[1])
}

// BenchmarkReductions reports the rate at which reductions read their operand
// on one and on two threads, as a share of a loop that only reads, on one
// thread. They take turns; medians of the rounds.
func BenchmarkReductions(b *testing.B) {
	for _, isa := range []ISA{AMX, AVX512, AVX2} {
		var devices []*Device
		for threads := 1; threads <= 2; threads++ {
			d, err := New(Options{ISA: isa, Threads: threads})
			if err != nil {
				b.Logf("without %v: %v", isa, err)
				break
			}
			b.Cleanup(func() { _ = d.Close() })
			devices = append(devices, d)
		}
		for _, g := range reductionGraphs {
			if len(devices) == 2 {
				b.Run(fmt.Sprintf("%v/%s", isa, g.name), func(b *testing.B) { benchReduction(b, devices, g.text) })
			}
		}
	}
}

func benchReduction(b *testing.B, devices []*Device, text string) {
	ctx := context.Background()
	g, err := ir.Parse(text)
	if err != nil {
		b.Fatal(err)
	}
	n := 4 * must(g.Leaves[0].Type.Shape.Numel().Eval(nil))
	src := must(devices[0].Alloc(n))
	defer src.Close()
	x := unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(src.Bytes()))), n/4)
	for i := range x {
		x[i] = float32(i%61)/16 - 2
	}
	read := readLoop(b, devices[0])
	moves := []func(){func() { read(src.Bytes()) }}
	for _, d := range devices {
		m, err := d.CompileGraph(ctx, g, device.Options{})
		if err != nil {
			b.Fatal(err)
		}
		defer m.Close()
		out := must(d.Alloc(must(g.Outputs[0].Shape.Numel().Eval(nil)) * g.Outputs[0].DType.Size()))
		defer out.Close()
		bound := &device.Bound{Module: m, Leaves: []device.Buffer{src}, Outputs: []device.Buffer{out}}
		moves = append(moves, func() {
			ev, err := d.Submit(ctx, bound)
			if err == nil {
				err = ev.Wait(ctx)
			}
			if err != nil {
				b.Fatal(err)
			}
		})
	}
	rates := make([][]float64, len(moves))
	for b.Loop() {
		for i, move := range moves {
			start := time.Now()
			move()
			rates[i] = append(rates[i], float64(n)/float64(time.Since(start)))
		}
	}
	median := make([]float64, len(moves))
	for i := range rates {
		slices.Sort(rates[i])
		median[i] = rates[i][len(rates[i])/2]
	}
	b.ReportMetric(median[0], "read-GB/s")
	b.ReportMetric(median[1]/median[0], "share1")
	b.ReportMetric(median[2]/median[0], "share2")
	b.ReportMetric(0, "ns/op")
}

// readLoop adds up multiples of four vectors and forgets the sum.
func readLoop(tb testing.TB, d *Device) func(src []byte) {
	a := asm.New(d.target())
	width := a.Length().Bytes()
	a.Op(asm.MOV, asm.RSI, asm.Ptr(asm.RDI, 0))
	a.Op(asm.MOV, asm.RCX, asm.Ptr(asm.RDI, 8))
	a.Align(64)
	again := a.Here()
	for i := range 4 {
		a.Op(asm.VADDPS, asm.V(i), asm.V(i), asm.Ptr(asm.RSI, i*width))
	}
	a.Op(asm.ADD, asm.RSI, asm.Imm(int64(4*width)))
	a.Op(asm.SUB, asm.RCX, asm.Imm(int64(4*width)))
	a.J(asm.GT, again)
	a.Op(asm.VZEROUPPER)
	a.Op(asm.RET)
	code := must(jit.Map(must(a.Finish())))
	tb.Cleanup(func() { _ = code.Close() })
	return func(src []byte) {
		args := [2]uint64{uint64(uintptr(unsafe.Pointer(&src[0]))), uint64(len(src) / (4 * width) * (4 * width))}
		jit.Call(code.Entry(0), unsafe.Pointer(&args))
	}
}
