package x86

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/sinterml/sinter/internal/cpuid"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/jit"
)

// The code knows where the fields of its arguments are.
func TestAttentionArgsOffsets(t *testing.T) {
	var s SoftmaxArgs
	var r TurnRowsArgs
	var f FiniteArgs
	for _, c := range []struct {
		name string
		want int
		got  uintptr
	}{
		{"Scores", softmaxScores, unsafe.Offsetof(s.Scores)}, {"LDScores", softmaxLDScores, unsafe.Offsetof(s.LDScores)},
		{"State", softmaxState, unsafe.Offsetof(s.State)}, {"LDState", softmaxLDState, unsafe.Offsetof(s.LDState)},
		{"Ranges", softmaxRanges, unsafe.Offsetof(s.Ranges)}, {"Rows", softmaxRows, unsafe.Offsetof(s.Rows)},
		{"Start", softmaxStart, unsafe.Offsetof(s.Start)}, {"End", softmaxEnd, unsafe.Offsetof(s.End)},
		{"Top", softmaxTop, unsafe.Offsetof(s.Top)}, {"Rescale", softmaxRescale, unsafe.Offsetof(s.Rescale)},
		{"Scale", softmaxScale, unsafe.Offsetof(s.Scale)}, {"Fill", softmaxFill, unsafe.Offsetof(s.Fill)},
		{"Fetch", softmaxFetch, unsafe.Offsetof(s.Fetch)}, {"LDFetch", softmaxLDFetch, unsafe.Offsetof(s.LDFetch)},
		{"FetchBytes", softmaxBytes, unsafe.Offsetof(s.FetchBytes)},
		{"turn rows: Rows", turnRows, unsafe.Offsetof(r.Rows)}, {"turn rows: To", turnTo, unsafe.Offsetof(r.To)},
		{"turn rows: LDTo", turnLDTo, unsafe.Offsetof(r.LDTo)}, {"turn rows: Chunks", turnChunks, unsafe.Offsetof(r.Chunks)},
		{"turn rows: Mask", turnMask, unsafe.Offsetof(r.Mask)},
		{"From", finiteFrom, unsafe.Offsetof(f.From)}, {"LD", finiteLD, unsafe.Offsetof(f.LD)},
		{"finite: Rows", finiteRows, unsafe.Offsetof(f.Rows)}, {"Vectors", finiteVectors, unsafe.Offsetof(f.Vectors)},
		{"Finite", finiteResult, unsafe.Offsetof(f.Finite)},
	} {
		if int(c.got) != c.want {
			t.Errorf("%s is at %d, the code has %d", c.name, c.got, c.want)
		}
	}
}

// attentionCode maps the kernels.
func attentionCode(t *testing.T, isa ISA, format GemmFormat) (*AttentionKernels, *jit.Code) {
	t.Helper()
	k, err := EmitAttention(isa, format)
	if err != nil {
		t.Fatal(err)
	}
	code, err := jit.Map(k.Code)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = code.Close() })
	return k, code
}

// eachAttention is eachISA for every format.
func eachAttention(t *testing.T, f func(t *testing.T, isa ISA, format GemmFormat)) {
	eachISA(t, func(t *testing.T, isa ISA) {
		f(t, isa, GemmF32)
		if cpu := cpuid.Host(); isa == AVX512 && cpu.AVX512BF16 {
			t.Run("bf16", func(t *testing.T) { f(t, isa, GemmBF16) })
			t.Run("bf16 widened", func(t *testing.T) { f(t, isa, GemmWide) })
		}
	})
}

// Two blocks of scores, one step each, against the softmax of all: weights,
// totals, tops, and sums that were there before.
func TestSoftmaxSteps(t *testing.T) {
	eachAttention(t, func(t *testing.T, isa ISA, format GemmFormat) {
		k, code := attentionCode(t, isa, format)
		about := func(got float32, want float64) bool { return about(got, want, format) }
		rng := rand.New(rand.NewPCG(1, 3))
		const rows, stride, sums = 5, 64, 32 // elements; the state lies behind the sums
		for _, scale := range []float32{0.25, -0.5} {
			state := make([]float32, rows*(sums+16))
			want := make([]struct{ top, total, kept float64 }, rows)
			for r := range want {
				want[r].top = math.Inf(-1)
			}
			for step := range 2 {
				scores := make([]float32, rows*stride)
				for i := range scores {
					scores[i] = float32(20 * rng.NormFloat64())
				}
				var ranges [rows][2]int64
				weights := make([]float64, rows*stride)
				for r := range rows {
					from := rng.IntN(48)
					to := from + rng.IntN(49-from)
					if r == 0 {
						from, to = 7, 7 // sees nothing
					}
					ranges[r] = [2]int64{int64(4 * from), int64(4 * to)}
					w := &want[r]
					top := w.top
					for _, s := range scores[r*stride:][from:to] {
						top = max(top, float64(scale)*float64(s))
					}
					keep := 0.0
					if !math.IsInf(w.top, -1) {
						keep = math.Exp(w.top - top)
					}
					w.top, w.total, w.kept = top, w.total*keep, keep
					for j := from; j < to; j++ {
						p := math.Exp(float64(scale)*float64(scores[r*stride+j]) - top)
						weights[r*stride+j] = p
						w.total += p
					}
				}
				fill := float32(math.Inf(-1))
				if scale < 0 {
					fill = -fill
				}
				a := SoftmaxArgs{Scores: unsafe.Pointer(&scores[0]), LDScores: 4 * stride, State: unsafe.Pointer(&state[0]), LDState: 4 * (sums + 16),
					Ranges: &ranges[0], Rows: rows, Start: 0, End: 4 * 48, Top: 4 * sums, Scale: scale, Fill: fill}
				if step > 0 {
					a.Rescale = 4 * sums
				}
				jit.Call(code.Entry(k.Softmax), unsafe.Pointer(&a))
				for r, w := range want {
					row := state[r*(sums+16):]
					if float64(row[sums]) != float64(float32(w.top)) || !about(row[sums+1], w.total) {
						t.Errorf("scale %v, step %d, row %d: top %v, total %v, want %v, %v", scale, step, r, row[sums], row[sums+1], w.top, w.total)
					}
					rounded := 0.0
					for j := range 48 {
						got := scores[r*stride+j]
						if format == GemmBF16 {
							row := unsafe.Slice((*uint16)(unsafe.Pointer(&scores[r*stride])), 48)
							got = ir.BF16ToFloat32(row[j])
						}
						rounded += float64(got)
						exact := weights[r*stride+j]
						if format != GemmF32 && !isRounded(got, exact) || !about(got, exact) {
							t.Fatalf("scale %v, step %d, row %d: weight %d is %v, want %v", scale, step, r, j, got, exact)
						}
					}
					// The sum is that of the rounded weights, far closer to it.
					if format != GemmF32 && step == 0 && !(math.Abs(float64(row[sums+1])-rounded) <= 1e-6*rounded) {
						t.Errorf("scale %v, row %d: total %v, weights sum up to %v", scale, r, row[sums+1], rounded)
					}
					for j := range sums {
						if step > 0 && !about(row[j], 3*w.kept) {
							t.Fatalf("scale %v, row %d: sum %d is %v, want %v", scale, r, j, row[j], 3*w.kept)
						}
						row[j] = 3
					}
				}
			}
		}
	})
}

// isRounded tells whether got is what a weight is rounded to, computed with the
// error that SoftmaxArgs allows. It checks what is not near to subnormal.
func isRounded(got float32, exact float64) bool {
	const off = 0x1p-13 + 1e-5 // and that of the score
	round := func(x float64) float32 { return ir.BF16ToFloat32(ir.BF16FromFloat32(float32(x))) }
	return exact < 1e-30 || round(exact*(1-off)) <= got && got <= round(exact*(1+off)) && math.Float32bits(got)<<16 == 0
}

func about(got float32, want float64, format GemmFormat) bool {
	relative := 1e-5
	if format != GemmF32 {
		relative += 0x1p-8 + 0x1p-13
	}
	return math.Abs(float64(got)-want) <= relative*math.Abs(want)+1e-30
}

// Rows of every width next to unmapped pages.
func TestTurnRows(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		k, code := attentionCode(t, isa, GemmF32)
		lanes := GemmLanes(isa)
		for width := 1; width <= 2*lanes+1; width++ {
			from, err := jit.AllocGuarded(4*width*lanes, 1)
			if err != nil {
				t.Fatal(err)
			}
			rows := unsafe.Slice((*float32)(from.Pointer()), width*lanes)
			var a TurnRowsArgs
			for r := range lanes {
				a.Rows[r] = unsafe.Pointer(&rows[r*width])
				for c := range width {
					rows[r*width+c] = float32(100*r + c)
				}
			}
			to := make([]float32, (width+lanes)*lanes)
			a.To, a.LDTo = unsafe.Pointer(&to[0]), uintptr(4*lanes)
			a.SetWidth(isa, width)
			if err := jit.Protect(func() error { jit.Call(code.Entry(k.TurnRows), unsafe.Pointer(&a)); return nil }); err != nil {
				t.Fatal(err)
			}
			for c := range width {
				for r := range lanes {
					if to[c*lanes+r] != float32(100*r+c) {
						t.Fatalf("width %d: row %d, column %d is %v", width, r, c, to[c*lanes+r])
					}
				}
			}
			if err := from.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestFinite(t *testing.T) {
	eachAttention(t, func(t *testing.T, isa ISA, format GemmFormat) {
		k, code := attentionCode(t, isa, format)
		lanes := GemmLanes(isa)
		data := make([]uint32, 3*lanes)
		const most, lowest = 0x7F7F, 0xFF7F // of bf16
		for i := range data {
			data[i] = most<<16 | most
		}
		test := func() bool {
			a := FiniteArgs{From: unsafe.Pointer(&data[0]), Rows: 1, Vectors: 3, Finite: 1}
			jit.Call(code.Entry(k.Finite), unsafe.Pointer(&a))
			return a.Finite != 0
		}
		if !test() {
			t.Error("the largest numbers are finite")
		}
		for i := range data {
			for _, bad := range []uint32{0x7F80, 0xFF80, 0x7FC0, 0xFFC1} {
				data[i] = bad<<16 | most
				if test() {
					t.Errorf("%#x at %d was not found", bad, i)
				}
				data[i] = most<<16 | bad
				if found := !test(); found != (format != GemmF32) {
					t.Errorf("%#x in the lower half of %d: found %v", bad, i, found)
				}
			}
			data[i] = lowest<<16 | lowest
		}
		// Two rows of a vector, with one between them that is not looked at.
		a := FiniteArgs{From: unsafe.Pointer(&data[0]), LD: uintptr(8 * lanes), Rows: 2, Vectors: 1}
		for i := range data {
			data[i], a.Finite = 0x7FC0<<16, 1
			jit.Call(code.Entry(k.Finite), unsafe.Pointer(&a))
			if between := i/lanes == 1; (a.Finite != 0) != between {
				t.Errorf("NaN at %d: finite is %d", i, a.Finite)
			}
			data[i] = lowest<<16 | lowest
		}
	})
}
