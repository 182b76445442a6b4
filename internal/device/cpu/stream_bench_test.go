package cpu

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"
	"time"
	"unsafe"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/emit/x86/asm"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/jit"
)

// bandwidthGraphs are programs of one kernel each, bound by memory, over N
// rows.
var bandwidthGraphs = map[string]string{
	"add": `graph
symbol N 0 1000000
leaf 0 input "x" f32[N 1024]
leaf 1 input "y" f32[N 1024]
%0 = input : f32[N 1024]
%1 = input leaf=1 : f32[N 1024]
%2 = add %0 %1 : f32[N 1024]
return %2
`,
	"fma3": `graph
symbol N 0 1000000
leaf 0 input "x" f32[N 1024]
leaf 1 input "y" f32[N 1024]
leaf 2 input "z" f32[N 1024]
%0 = input : f32[N 1024]
%1 = input leaf=1 : f32[N 1024]
%2 = input leaf=2 : f32[N 1024]
%3 = mul %0 %1 : f32[N 1024]
%4 = add %3 %2 : f32[N 1024]
%5 = mul %4 %0 : f32[N 1024]
%6 = add %5 %1 : f32[N 1024]
return %6
`,
	"gelu": `graph
symbol N 0 1000000
leaf 0 input "x" f32[N 1024]
%0 = input : f32[N 1024]
%1 = const value=0x3f3504f3 : f32[]
%2 = reshape %1 : f32[1 1]
%3 = expand %2 : f32[N 1024]
%4 = mul %0 %3 : f32[N 1024]
%5 = erf %4 : f32[N 1024]
%6 = const value=0x3f800000 : f32[]
%7 = reshape %6 : f32[1 1]
%8 = expand %7 : f32[N 1024]
%9 = add %5 %8 : f32[N 1024]
%10 = mul %0 %9 : f32[N 1024]
return %10
`,
	"softmax384":  softmaxGraph(384),
	"softmax1024": softmaxGraph(1024),
	"norm384":     normGraph(384),
	"norm1024":    normGraph(1024),
}

func softmaxGraph(cols int) string {
	return fmt.Sprintf(`graph
symbol N 0 1000000
leaf 0 input "x" f32[N %[1]d]
%%0 = input : f32[N %[1]d]
%%1 = reducemax %%0 axes=[1] : f32[N 1]
%%2 = expand %%1 : f32[N %[1]d]
%%3 = sub %%0 %%2 : f32[N %[1]d]
%%4 = exp %%3 : f32[N %[1]d]
%%5 = sum %%4 axes=[1] : f32[N 1]
%%6 = recip %%5 : f32[N 1]
%%7 = expand %%6 : f32[N %[1]d]
%%8 = mul %%4 %%7 : f32[N %[1]d]
return %%8
`, cols)
}

// normGraph is a layer norm without weights.
func normGraph(cols int) string {
	return fmt.Sprintf(`graph
symbol N 0 1000000
leaf 0 input "x" f32[N %[1]d]
%%0 = input : f32[N %[1]d]
%%1 = const value=0x%08[2]x : f32[]
%%2 = reshape %%1 : f32[1 1]
%%3 = expand %%2 : f32[N 1]
%%4 = sum %%0 axes=[1] : f32[N 1]
%%5 = mul %%4 %%3 : f32[N 1]
%%6 = expand %%5 : f32[N %[1]d]
%%7 = sub %%0 %%6 : f32[N %[1]d]
%%8 = mul %%7 %%7 : f32[N %[1]d]
%%9 = sum %%8 axes=[1] : f32[N 1]
%%10 = mul %%9 %%3 : f32[N 1]
%%11 = sqrt %%10 : f32[N 1]
%%12 = recip %%11 : f32[N 1]
%%13 = expand %%12 : f32[N %[1]d]
%%14 = mul %%7 %%13 : f32[N %[1]d]
return %%14
`, cols, math.Float32bits(1/float32(cols)))
}

// BenchmarkStreaming reports the rate at which kernels bound by memory move
// their bytes on one thread, with plain and with streaming stores, as a share
// of the faster of a copy with plain and one with streaming stores. They take
// turns; medians of the rounds.
func BenchmarkStreaming(b *testing.B) {
	for _, isa := range []ISA{AMX, AVX512, AVX2} {
		d, err := New(Options{ISA: isa, Threads: 1})
		if err != nil {
			b.Logf("without %v: %v", isa, err)
			continue
		}
		for name, text := range bandwidthGraphs {
			b.Run(fmt.Sprintf("%v/%s", isa, name), func(b *testing.B) { benchStreaming(b, d, text) })
		}
		_ = d.Close()
	}
}

func benchStreaming(b *testing.B, d *Device, text string) {
	runs, bound := bindForms(b, d, text, 32768)
	copyCode := streamingCopy(b, d)
	dst, src := bound[0].Outputs[0].Bytes(), bound[0].Leaves[0].Bytes()
	moves := [4]func(){func() { copy(dst, src) }, func() { copyCode(dst, src) }, runs[0], runs[1]}
	tensors := float64(len(bound[0].Leaves) + 1)
	volume := [4]float64{2, 2, tensors, tensors}
	var rates [4][]float64
	for b.Loop() {
		for i, move := range moves {
			start := time.Now()
			move()
			rates[i] = append(rates[i], volume[i]*float64(len(dst))/float64(time.Since(start)))
		}
	}
	var median [4]float64
	for i := range rates {
		slices.Sort(rates[i])
		median[i] = rates[i][len(rates[i])/2]
	}
	best := max(median[0], median[1])
	b.ReportMetric(median[0], "memmove-GB/s")
	b.ReportMetric(median[1], "copy-GB/s")
	b.ReportMetric(median[2]/best, "plain-share")
	b.ReportMetric(median[3]/best, "share")
	b.ReportMetric(0, "ns/op")
}

// bindForms compiles a graph for the plain form and for that which streams: a run decides
// for one when it is bound.
func bindForms(b *testing.B, d *Device, text string, rows int) (runs [2]func(), bound [2]*device.Bound) {
	cache := d.cache
	defer func() { d.cache = cache }()
	for i, least := range []int{math.MaxInt, 0} {
		d.cache = 0
		runs[i], bound[i] = bindBandwidth(b, d, text, rows)
		d.cache = least
		runs[i]()
	}
	return runs, bound
}

// BenchmarkStreamingSizes reports the time of the form that streams as a part of that of the
// plain one, in turns, by the size of all that a kernel touches: alone, and with a loop behind
// it that reads the result. First when the caches were others' meanwhile, then again at
// once. Device.cache says from which size on a kernel streams.
func BenchmarkStreamingSizes(b *testing.B) {
	for _, threads := range []int{1, 2} {
		d, err := New(Options{Threads: threads})
		if err != nil {
			b.Fatal(err)
		}
		for name, text := range bandwidthGraphs {
			for _, rows := range []int{1024, 2048, 4096, 8192, 16384} {
				for _, again := range []bool{false, true} {
					b.Run(fmt.Sprintf("%d/%s/%d/again=%v", threads, name, rows, again), func(b *testing.B) { benchStreamingSize(b, d, text, rows, again) })
				}
			}
		}
		_ = d.Close()
	}
}

func benchStreamingSize(b *testing.B, d *Device, text string, rows int, again bool) {
	runs, bound := bindForms(b, d, text, rows)
	t := newTurns(b, again)
	for b.Loop() {
		for i, run := range runs {
			t.time(i, run, bound[i].Outputs[0].Bytes())
		}
	}
	t.report("streaming/plain")
	b.ReportMetric(float64(len(bound[0].Outputs[0].Bytes())*(len(bound[0].Leaves)+1))/(1<<20), "MB")
}

// bindBandwidth compiles a graph and returns what runs it over so many rows.
func bindBandwidth(tb testing.TB, d *Device, text string, rows int) (run func(), bound *device.Bound) {
	ctx := context.Background()
	g, err := ir.Parse(text)
	if err != nil {
		tb.Fatal(err)
	}
	m, err := d.CompileGraph(ctx, g, device.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = m.Close() })
	bound = &device.Bound{Module: m, Env: ir.Env{"N": rows}}
	size := 4 * must(g.Outputs[0].Shape.Numel().Eval(bound.Env))
	alloc := func() device.Buffer {
		buf := must(d.Alloc(size))
		tb.Cleanup(func() { _ = buf.Close() })
		x := unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(buf.Bytes()))), len(buf.Bytes())/4)
		for i := range x {
			x[i] = float32(i%61)/16 - 2
		}
		return buf
	}
	for range g.Leaves {
		bound.Leaves = append(bound.Leaves, alloc())
	}
	bound.Outputs = []device.Buffer{alloc()}
	return func() {
		ev, err := d.Submit(ctx, bound)
		if err == nil {
			err = ev.Wait(ctx)
		}
		if err != nil {
			tb.Fatal(err)
		}
	}, bound
}

// streamingCopy is a copy of multiples of four vectors.
func streamingCopy(tb testing.TB, d *Device) func(dst, src []byte) {
	a := asm.New(d.target())
	width := a.Length().Bytes()
	for i, r := range []asm.R{asm.RDX, asm.RSI, asm.RCX} {
		a.Op(asm.MOV, r, asm.Ptr(asm.RDI, 8*i))
	}
	a.Align(64)
	again := a.Here()
	for i := range 4 {
		a.Op(asm.VMOVUPS, asm.V(i), asm.Ptr(asm.RSI, i*width))
		a.Op(asm.VMOVNTPS, asm.Ptr(asm.RDX, i*width), asm.V(i))
	}
	for _, r := range []asm.R{asm.RDX, asm.RSI} {
		a.Op(asm.ADD, r, asm.Imm(int64(4*width)))
	}
	a.Op(asm.SUB, asm.RCX, asm.Imm(int64(4*width)))
	a.J(asm.NE, again)
	a.Op(asm.SFENCE)
	a.Op(asm.VZEROUPPER)
	a.Op(asm.RET)
	code := must(jit.Map(must(a.Finish())))
	tb.Cleanup(func() { _ = code.Close() })
	return func(dst, src []byte) {
		args := [3]uint64{uint64(uintptr(unsafe.Pointer(&dst[0]))), uint64(uintptr(unsafe.Pointer(&src[0]))), uint64(len(dst))}
		jit.Call(code.Entry(0), unsafe.Pointer(&args))
		runtime.KeepAlive(&args)
	}
}
