package cpu

import (
	"math"
	"sync"

	"github.com/sinterml/sinter/internal/emit/x86"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/jit"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/template"
)

// attentionKernel is an attention in machine code, for any lengths: tile
// kernels of the matrix product for scores and weighted sums, a softmax kernel
// between them, around these parts generated for this attention. The products
// take their operands by lanes of 32 bits: an f32 or two successive bf16. Where
// VDPBF16PS is slow rows of q and weights, one operand of each, are bf16 in f32.
type attentionKernel struct {
	work    *template.Attention // narrowed to the format
	format  template.Format
	group   int // elements of a lane, and
	element int // the bytes of one: of q, k and v in memory, and of packed k and v
	left    int // the bytes of one in rows of q and of weights that are multiplied
	tiles   *tileSet
	inner   *attentionSet

	// Rows of q or k that lie in memory as they are multiplied are used in place.
	q, k, v      rowsAt
	copyQ, copyK *part // nil: in place
	packV        *part
	score        *part // nil: the softmax kernel multiplies by scale
	finish       *part

	scale    float32 // for the softmax kernel
	wideV    int     // lanes of a row of sums, in whole vectors
	rowState int     // elements of a row of sums, with top and total behind them
}

// rowsAt is a template.PlainRows as a kernel has it.
type rowsAt struct {
	template.PlainRows
	plain bool
}

// attentionSet is the inner kernels of one instruction set and format, mapped.
type attentionSet struct {
	softmax, turnRows, finite uintptr
}

// As the tile kernels, they are made once a process and never unmapped.
var attentionSets = [2]map[x86.GemmFormat]func() (*attentionSet, error){
	x86.AVX2:   {x86.GemmF32: newAttentionSet(x86.AVX2, x86.GemmF32)},
	x86.AVX512: {x86.GemmF32: newAttentionSet(x86.AVX512, x86.GemmF32), x86.GemmBF16: newAttentionSet(x86.AVX512, x86.GemmBF16), x86.GemmWide: newAttentionSet(x86.AVX512, x86.GemmWide)},
}

func newAttentionSet(isa x86.ISA, format x86.GemmFormat) func() (*attentionSet, error) {
	return sync.OnceValues(func() (*attentionSet, error) {
		k, err := x86.EmitAttention(isa, format)
		if err != nil {
			return nil, err
		}
		code, err := jit.Map(k.Code)
		if err != nil {
			return nil, err
		}
		return &attentionSet{code.Entry(k.Softmax), code.Entry(k.TurnRows), code.Entry(k.Finite)}, nil
	})
}

// compileAttention makes the kernel of an attention. Where there is no machine
// code, in f64, for widths of 0 and for a scale that f32 does not hold, its
// loops do. Where f16 and bf16 are the program's own types, all is f32 between
// operands and results: units for bf16 take subnormal numbers for 0.
func compileAttention(c *compiler, t *template.Attention) (kernel, error) {
	scale := float32(t.Attr.Scale)
	if !c.templates() || t.DType.Compute() != ir.F32 || t.Width == 0 || t.VWidth == 0 || scale == 0 || math.IsInf(float64(scale), 0) {
		code, err := c.loops(t.Loops())
		if err != nil {
			return nil, err
		}
		return &attentionLoops{work: t, loops: code}, nil
	}
	has := c.device.has
	has.AMXTile = has.AMXTile && t.Width%(x86.GemmAMXBF16.Group()*x86.GemmChunk) == 0 // rows of q are used in place
	wanted := t.Format()
	if t.DType != ir.F32 {
		t, wanted = t.Widened(), template.Single
	}
	format, kernels := tileFormat(wanted, c.isa, &has)
	tile := x86.GemmTiles(c.isa, kernels)[0]
	if kernels == x86.GemmBF16 && c.device.widens {
		kernels, tile = x86.GemmWide, x86.GemmTiles(c.isa, x86.GemmWide)[1] // more rows share the widening of keys and values
	}
	tiles, err := tileKind{isa: c.isa, format: kernels}.set(tile)
	if err != nil {
		return nil, err
	}
	between := kernels
	if kernels.AMX() {
		between = x86.GemmBF16
	}
	inner, err := attentionSets[c.isa][between]()
	if err != nil {
		return nil, err
	}
	if err := c.listAttention(between, tiles); err != nil {
		return nil, err
	}
	full, t := t, t.Narrow(format)
	group := format.Group()
	k := &attentionKernel{work: t, format: format, group: group, element: 4 / group, left: kernels.StepA() / group, tiles: tiles, inner: inner, scale: scale}
	k.wideV = ceilDiv(t.VWidth, tiles.lanes) * tiles.lanes
	k.rowState = k.wideV + tiles.lanes
	k.q.PlainRows, k.q.plain = t.PlainQ()
	k.k.PlainRows, k.k.plain = t.PlainK()
	k.v.PlainRows, k.v.plain = t.PlainV()
	parts := []struct {
		to   **part
		make func() *template.Part
	}{
		{&k.packV, func() *template.Part { return t.PackV(tiles.width(), k.roundV()) }},
		{&k.finish, func() *template.Part { return t.Finish(k.wideV, k.wideV+1) }},
	}
	add := func(to **part, make func() *template.Part) {
		parts = append(parts, struct {
			to   **part
			make func() *template.Part
		}{to, make})
	}
	switch {
	case k.left > k.element:
		add(&k.copyQ, full.CopyQ)
	case !k.q.plain:
		add(&k.copyQ, t.CopyQ)
	}
	if !k.k.plain {
		add(&k.copyK, t.CopyK)
	}
	if !t.PlainScores() {
		k.scale = 1
		add(&k.score, t.Score)
	}
	for _, p := range parts {
		if *p.to, err = c.part(p.make()); err != nil {
			return nil, err
		}
	}
	return k, nil
}

// strides are a rowsAt's in one run, in elements, and the bytes of one.
type strides struct{ param, base, seq, head, row, element int }

func (p *rowsAt) strides(env ir.Env, element int) (s strides, err error) {
	if !p.plain {
		return s, nil
	}
	s.param, s.element = p.Param, element
	for _, v := range []struct {
		to *int
		e  *loop.Expr
	}{{&s.base, p.Base}, {&s.seq, p.Seq}, {&s.head, p.Head}, {&s.row, p.Row}} {
		if *v.to, err = evalIndex(v.e, env, 0); err != nil {
			return s, err
		}
	}
	return s, nil
}
