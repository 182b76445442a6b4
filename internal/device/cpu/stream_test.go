package cpu

import (
	"bytes"
	"math"
	"testing"
	"unsafe"

	"github.com/sinterml/sinter/internal/cpuid"
	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/ir"
)

// With streaming stores results are the same, bit for bit, however many rows and
// workers.
func TestStreamingResults(t *testing.T) {
	for _, d := range machines(t) {
		for name, text := range bandwidthGraphs {
			for _, rows := range []int{0, 1, 3, 37, 300} {
				var results [2][]byte
				for i, cache := range []int{math.MaxInt, 0} {
					d.cache = 0 // there is a form that streams
					run, bound := bindBandwidth(t, d, text, rows)
					out := bound.Outputs[0].Bytes()
					for j := range out {
						out[j] = 0xA5
					}
					d.cache = cache // whether it is taken is decided in the first run
					run()
					results[i] = bytes.Clone(out)
				}
				if !bytes.Equal(results[0], results[1]) {
					t.Errorf("%v, %s, %d rows: streaming changes results", d.ISA(), name, rows)
				}
			}
		}
	}
}

// Of a third cache that many cores share a thread has a part.
func TestCacheBytes(t *testing.T) {
	for _, c := range []struct {
		vendor            string
		l3, threads, want int
	}{
		{"AuthenticAMD", 96 << 20, 1, 96 << 20}, {"AuthenticAMD", 0, 1, 32 << 20},
		{"GenuineIntel", 260 << 20, 1, 32 << 20}, {"GenuineIntel", 260 << 20, 2, 32 << 20}, {"GenuineIntel", 260 << 20, 4, 64 << 20},
		{"GenuineIntel", 260 << 20, 60, 260 << 20}, {"GenuineIntel", 24 << 20, 8, 24 << 20},
	} {
		host := cpuid.CPU{Vendor: c.vendor, Caches: cpuid.Caches{L3: c.l3}}
		if got := cacheBytes(&host, c.threads); got != c.want {
			t.Errorf("%s, %d MB, %d threads: %d MB, want %d", c.vendor, c.l3>>20, c.threads, got>>20, c.want>>20)
		}
	}
}

// A run streams if it touches more than the caches hold, writes a good part of
// that, and writes to aligned memory.
func TestStreamsTo(t *testing.T) {
	for _, d := range machines(t) {
		if d.ISA() == Generic {
			continue
		}
		d.cache = 3 << 20
		_, bound := bindBandwidth(t, d, bandwidthGraphs["add"], 512)
		k := bound.Module.(*module).kernels[0].(*loopKernel)
		memory := unsafe.Pointer(unsafe.SliceData(bound.Outputs[0].Bytes()))
		for _, c := range []struct {
			rows, cache, offset int
			want                bool
		}{
			{512, 3 << 20, 0, true},
			{512, 6 << 20, 0, false}, // three tensors of 2 MB
			{512, 6<<20 - 1, 0, true},
			{512, 3 << 20, 32, false},
			{512, 3 << 20, 4, false},
			{512, 3 << 20, 64, true},
			{0, 3 << 20, 0, false},
		} {
			d.cache = c.cache
			at := unsafe.Add(memory, c.offset)
			r := &binding{module: bound.Module.(*module), env: ir.Env{"N": c.rows}, ptrs: []unsafe.Pointer{memory, memory, at}}
			if got := must(k.streamsTo(r)); got != c.want {
				t.Errorf("%v, %d rows, caches of %d bytes, offset %d: streams: %v", d.ISA(), c.rows, c.cache, c.offset, got)
			}
		}
	}
}

// Kernels of several passes over rows that leave room in the first cache have all
// in one loop when they stream.
func TestStreamingStaggers(t *testing.T) {
	d, err := New(Options{ISA: AVX512})
	if err != nil {
		t.Skip(err)
	}
	defer d.Close()
	d.firstCache = 32 << 10
	for _, c := range []struct {
		name, text string
		off        []string
		want       bool
	}{
		{"add", bandwidthGraphs["add"], nil, false},
		{"softmax", softmaxGraph(1024), nil, true},
		{"softmax, switched off", softmaxGraph(1024), []string{"stagger"}, false},
		{"softmax, all off", softmaxGraph(1024), []string{"all"}, false},
		{"softmax of long rows", softmaxGraph(1536), nil, false},
		{"norm", normGraph(1024), nil, true},
		{"norm of a few columns", normGraph(64), nil, true},
	} {
		m := must(d.CompileGraph(t.Context(), must(ir.Parse(c.text)), device.Options{NoOpt: c.off, Check: true}))
		k := m.(*module).kernels[0].(*loopKernel)
		if got := k.streams != nil && k.large.work != k.plain.work; got != c.want {
			t.Errorf("%s: staggered: %v\n%v", c.name, got, k.large.work)
		}
		_ = m.Close()
	}
}

// Results that are never large have no second form.
func TestStreamingFormIsRare(t *testing.T) {
	for _, d := range machines(t) {
		for limit, want := range map[string]bool{"1000": false, "1000000": d.ISA() != Generic} {
			text := "graph\nsymbol N 0 " + limit + "\nleaf 0 input \"x\" f32[N 384]\n%0 = input : f32[N 384]\n%1 = neg %0 : f32[N 384]\nreturn %1\n"
			d.cache = 32 << 20
			m := must(d.CompileGraph(t.Context(), must(ir.Parse(text)), device.Options{}))
			if got := m.(*module).kernels[0].(*loopKernel).streams != nil; got != want {
				t.Errorf("%v: up to %s rows: a form that streams: %v", d.ISA(), limit, got)
			}
			_ = m.Close()
		}
	}
}
