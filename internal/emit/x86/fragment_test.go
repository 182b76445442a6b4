package x86

import (
	"errors"
	"strings"
	"testing"

	_ "github.com/sinterml/sinter/internal/effort" // collects garbage less often
	"github.com/sinterml/sinter/internal/emit/native"
	"github.com/sinterml/sinter/internal/emit/native/nativetest"
	"github.com/sinterml/sinter/internal/emit/x86/asm"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// tileKernel does what the hand-written code of the test below does: rows of
// acc, then an epilogue.
const tileKernel = `kernel "tile"
symbol M 0 1000
symbol N 0 1000
param acc f32[M*N] read
param bias f32[N] read
param scale f32[M] read
param rest f32[M*N] read
param y f32[M*N] write
param h bf16[M*N] write
for global i < size(M) {
	for vector j < size(N) {
		a = acc[i*size(N) + j]
		v = max(fma(a, scale[i], bias[j]), f32(0)) + rest[i*size(N) + j]
		y[i*size(N) + j] = v
		h[i*size(N) + j] = cast.bf16(v)
	}
}
`

// TestFragment writes a tile of results of a fixed shape by hand and has its
// epilogue emitted as a fragment for each row.
func TestFragment(t *testing.T) {
	eachISA(t, func(t *testing.T, isa ISA) {
		const rows, copies = 5, 2
		for _, tail := range []int{0, 1, 5} {
			for _, room := range []int{0, 1024} {
				testFragment(t, isa, tileKernel, rows, copies, tail, room)
			}
		}
	})
}

// Where a lane is, as a number, needs no bounds of the loop, which a fragment has not.
func TestFragmentPositions(t *testing.T) {
	text := strings.Replace(tileKernel, "rest[i*size(N) + j]", "cast.f32(cast.i32(3*j + i))", 1)
	eachISA(t, func(t *testing.T, isa ISA) {
		testFragment(t, isa, text, 2, 2, 0, 0)
	})
}

func testFragment(t *testing.T, isa ISA, text string, rows, copies, tail, room int) {
	k := parse(t, text)
	global := k.Body[0].(*loop.Loop)
	vector := global.Body[0].(*loop.Loop)
	wide := 16
	if isa == AVX2 {
		wide = 8
	}
	cols := copies * wide
	if tail > 0 {
		cols += tail - wide
	}
	if isa == AVX2 && tail > 0 {
		vector.Body = vector.Body[:3] // bf16 has no masked store there
		k.Params = k.Params[:5]
	}
	c, err := nativetest.CaseOf(k, ir.Env{"N": cols, "M": rows}, 3)
	if err != nil {
		t.Fatal(err)
	}

	a := asm.New(isa)
	f := Fragment{
		Asm: a, Kernel: k, Args: asm.RDI, Layout: native.LayoutOf(k), Symbols: native.SymbolWords(len(k.Params), k.Symbols()),
		Lane: vector.Var, Start: At{Reg: asm.RSI}, Vars: map[*loop.Var]At{}, Copies: copies,
		Locals:   map[*loop.Local][]asm.V{},
		Generals: []asm.R{asm.RAX, asm.RBX, asm.RCX, asm.RDX, asm.R8, asm.R9, asm.R10, asm.R11},
		Masks:    []asm.K{2, 3, 4, 5},
		Spill:    asm.R12, Offset: 64, Room: room,
	}
	for v := asm.V(rows * copies); v < 16; v++ {
		f.Vectors = append(f.Vectors, v)
	}
	if room > 0 {
		f.Vectors = f.Vectors[:4] // one, beside those for moving
		f.Generals = f.Generals[:5]
	}
	acc := vector.Body[0].(*loop.Set).Local
	a.Op(asm.MOV, asm.RSI, asm.Imm(0))
	a.Op(asm.MOV, asm.R13, asm.Imm(0))
	a.Op(asm.MOV, asm.R12, asm.Ptr(asm.RDI, 8*f.Layout.Spill))
	a.Op(asm.MOV, asm.RAX, asm.Ptr(asm.RDI, 8*f.Layout.Params))
	if tail > 0 && isa == AVX512 {
		a.Op(asm.MOV, asm.RCX, asm.Imm(1<<tail-1))
		a.Op(asm.KMOVW, asm.K(1), asm.RCX)
		f.Tail = asm.K(1)
	}
	if tail > 0 && isa == AVX2 {
		lanes := make([]byte, 32)
		for i := range 4 * tail {
			lanes[i] = 0xFF
		}
		a.Op(asm.VMOVUPS, asm.V(15), a.Vec(lanes))
		f.Tail = asm.V(15)
		f.Vectors = f.Vectors[:min(len(f.Vectors), 5)]
	}
	for i := range rows * copies {
		m := asm.Ptr(asm.RAX, 4*(i/copies*cols+i%copies*wide))
		switch {
		case f.Tail == nil || i%copies < copies-1:
			a.Op(asm.VMOVUPS, asm.V(i), m)
		case isa == AVX512:
			a.Op(asm.VMOVUPS, asm.V(i), m, asm.MaskZ(1))
		default:
			a.Op(asm.VMASKMOVPS, asm.V(i), asm.V(15), m)
		}
	}
	for i := range rows {
		f.Vars[global.Var] = At{Reg: asm.R13, Plus: i}
		f.Locals[acc] = nil
		for u := range copies {
			f.Locals[acc] = append(f.Locals[acc], asm.V(i*copies+u))
		}
		if err := f.Emit(vector.Body[1:]); err != nil {
			t.Fatal(err)
		}
	}
	a.Op(asm.VZEROUPPER)
	a.Op(asm.RET)
	code, err := a.Finish()
	if err != nil {
		t.Fatal(err)
	}
	g, err := nativetest.NewCall(c, &nativetest.Code{Text: code, SpillBytes: 64 + room}, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Run(); err != nil {
		t.Fatal(err)
	}
	got, err := g.Result(c)
	if err != nil {
		t.Fatal(err)
	}
	want := c.Copy()
	if err := loop.Interpret(k, want); err != nil {
		t.Fatal(err)
	}
	if err := c.Same(got, want); err != nil {
		t.Errorf("tail %d, room %d: %v\n%s", tail, room, err, a.Listing())
	}
}

func TestFragmentErrors(t *testing.T) {
	k := parse(t, tileKernel)
	vector := k.Body[0].(*loop.Loop).Body[0].(*loop.Loop)
	f := Fragment{Asm: asm.New(AVX512), Kernel: k, Layout: native.LayoutOf(k), Lane: vector.Var}
	unsupported := &loop.Store{Param: 4, Index: vector.Var.Ref(), Value: loop.Apply(ir.Exp, ir.F32, loop.Const(ir.F32, 0))}
	if err := f.Emit([]loop.Stmt{unsupported}); !errors.Is(err, native.ErrUnsupported) {
		t.Errorf("an unexpanded exp: %v", err)
	}
	narrow := Fragment{Asm: asm.New(AVX2), Kernel: k, Layout: native.LayoutOf(k), Lane: vector.Var, Start: At{Reg: asm.RSI}}
	unbounded := &loop.Store{Param: 4, Index: vector.Var.Ref(), Value: loop.Apply(ir.Cast, ir.F32, vector.Var.Ref())}
	if err := narrow.Emit([]loop.Stmt{unbounded}); !errors.Is(err, native.ErrUnsupported) {
		t.Errorf("a lane's number as f32, without bounds: %v", err)
	}
	if err := f.Emit(vector.Body); err == nil || f.Asm.Size() != 0 {
		t.Errorf("no free registers: %v, %d bytes", err, f.Asm.Size())
	}
}
