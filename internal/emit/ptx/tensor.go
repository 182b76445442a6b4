package ptx

import (
	"fmt"
	"strings"

	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/emit/flat"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/template"
)

// A product of narrow numbers runs on the units for matrices. A block of 8 warps
// computes 128 x 128 results, a warp 64 x 32 of them in its registers. While it
// multiplies one stage of operands in shared memory, the next is on its way.
const (
	tensorWide  = 128 // rows and columns of a block
	tensorItems = 256
	warpRows    = 64
	warpCols    = 32
	stepBytes   = 32 // of k that the instructions of one step multiply
	stageBytes  = 64 // of k in a stage
	// Rows in shared memory are 16 bytes longer than what they hold, so that eight
	// of them have 16 bytes each in banks of their own.
	deepRow    = stageBytes + 16 // of one row or column, by k
	operandLen = tensorWide * deepRow
	stageLen   = 2 * operandLen
)

// tensorTile says the same to those who count tasks.
var tensorTile = entry.Tile{Rows: tensorWide, Cols: tensorWide, EachRows: 8, EachCols: 8, Depth: stageBytes / 2}

// matrices is how operands are multiplied.
type matrices struct {
	x, y  *loop.Expr // as the units take them
	kinds string     // of both, in the instruction
	size  int        // bytes of an element
	sums  file
	fma   bool // without units for matrices: see single.go
	tf32  bool // f32 that is rounded when it is in registers: see tensor_tf32.go
}

// wideRow is the bytes of shared memory for one k.
func (m matrices) wideRow() int {
	if m.tf32 {
		return tf32Row
	}
	return m.size*tensorWide + 16
}

// matrices tells whether t has units for g.
func (t Target) matrices(g *template.Gemm) (matrices, bool) {
	m := matrices{x: narrow(g.X), y: narrow(g.Y), sums: singles}
	ct, x, y := g.DType.Compute(), m.x.DType, m.y.DType
	m.size = x.Size()
	switch {
	case ct == ir.F32 && x == ir.F16 && y == ir.F16:
		m.kinds = "f16.f16"
	case ct == ir.F32 && x == ir.BF16 && y == ir.BF16 && t.SM >= 80:
		m.kinds = "bf16.bf16"
	case !ct.IsFloat() && ct.Size() == 4 && isByte(x) && isByte(y):
		kind := func(d ir.DType) string { return map[bool]string{false: "s8", true: "u8"}[d.IsUnsigned()] }
		m.kinds, m.sums = kind(x)+"."+kind(y), words
	case g.TF32 && t.SM >= 80:
		m = matrices{x: g.X, y: g.Y, kinds: "tf32.tf32", size: 4, sums: singles, tf32: true}
	default:
		return m, false
	}
	return m, true
}

func isByte(d ir.DType) bool { return d == ir.I8 || d == ir.U8 }

// narrow is e before it is widened.
func narrow(e *loop.Expr) *loop.Expr {
	if e.Kind == loop.KindApply && e.Op == ir.Cast && e.Args[0].DType.Size() < e.DType.Size() {
		return e.Args[0]
	}
	return e
}

// product is the entry point of a product. On units for matrices sums have
// roundings of their own, so that there is one tile for those that t has units
// for.
func (t Target) product(name string, g *template.Gemm, tile entry.Tile) *entry.Kernel {
	if m, ok := t.matrices(g); ok && t.groups(g, m) {
		return t.groupProduct(name, g, m.groupForm(g))
	}
	return t.usualProduct(name, g, tile)
}

// usualProduct is that of a product that no group of warps multiplies.
func (t Target) usualProduct(name string, g *template.Gemm, tile entry.Tile) *entry.Kernel {
	if _, ok := t.matrices(g); ok {
		return entry.PackedProduct(name, g, tensorItems, tensorTile)
	}
	if tile == (entry.Tile{}) && isLarge(g) {
		tile = singleTile
	}
	return flat.Product(name, g, tile)
}

// Multiplies: see flat.Multiplier.
func (b *builder) Multiplies(k *entry.Kernel) bool {
	_, ok := b.target.matrices(k.Gemm)
	return ok || isSingle(k)
}

// tensor writes one product.
type tensor struct {
	*builder
	matrices
	block        *flat.Block
	item, lane   string // b32
	down, across string // the first row and column of the warp in the block
	near         string // address of shared memory
	depth        string // k in all, b32
	sum, total   [warpRows / 16][warpCols / 8][4]string
	blocked      bool // sums are added to totals each SumBlock
}

// Multiply: see flat.Multiplier.
func (b *builder) Multiply(block *flat.Block) {
	m, ok := b.target.matrices(block.Gemm)
	if b.target.Dynamic(b.kernel) > 0 {
		b.multiplyGroups(block, m)
		return
	}
	if !ok {
		m = matrices{x: block.Gemm.X, y: block.Gemm.Y, size: 4, sums: singles, fma: true}
	}
	t := &tensor{builder: b, matrices: m, block: block, item: b.name(b.Item())}
	b.rolled = true // the registers are needed for sums
	t.lane = b.op(words, "and.b32", t.item, "31")
	warp := b.op(words, "shr.u32", t.item, "5")
	t.down = b.op(words, "mul.lo.u32", b.op(words, "shr.u32", warp, "2"), fmt.Sprint(warpRows))
	t.across = b.op(words, "mul.lo.u32", b.op(words, "and.b32", warp, "3"), fmt.Sprint(warpCols))
	t.near = b.op(words, "mov.u32", b.array(2*stageLen, matrixAlign))
	t.depth = b.op(words, "cvt.u32.u64", b.register(block.Depth))
	t.blocked = m.sums == singles && blocked(block.Gemm)
	t.each(func(i, j, n int) {
		t.sum[i][j][n] = b.reg(m.sums)
		if t.blocked {
			t.total[i][j][n] = b.reg(m.sums)
		}
	})
	b.line("bar.sync 0") // the block before this one has left shared memory
	x, y, whole := t.straight()
	if whole == "" {
		t.loop(t.anyX(), t.anyY())
	} else {
		slow, done := b.label(), b.label()
		b.line("@!%s bra %s", whole, slow)
		t.loop(x, y)
		b.line("bra %s", done)
		b.mark(slow)
		t.loop(t.anyX(), t.anyY())
		b.mark(done)
	}
	t.finish()
}

// blocked tells whether sums of floats may have several parts.
func blocked(g *template.Gemm) bool {
	k, known := g.K.Const()
	return !known || k > template.SumBlock
}

// register is a value in a register, for instructions without constants.
func (b *builder) register(v flat.Value) string {
	if !b.values[v.ID].known {
		return b.name(v)
	}
	return b.copied(v.Type, b.name(v))
}

// each visits the sums of a lane.
func (t *tensor) each(visit func(i, j, n int)) {
	for i := range t.sum {
		for j := range t.sum[i] {
			for n := range t.sum[i][j] {
				visit(i, j, n)
			}
		}
	}
}

// set sets a sum.
func (t *tensor) set(to, from string) { t.line("mov.%s %s, %s", files[t.sums].kind, to, from) }

func (t *tensor) zero() string { return map[file]string{singles: "0f00000000", words: "0"}[t.sums] }

// fill brings a stage of an operand into shared memory.
type fill struct {
	deep  bool                   // rows in shared memory are by k
	begin func(stage, at string) // the stage's address and its first k
	end   func(stage string)     // what can wait until the stage before it has been multiplied; nil: nothing
}

// loop multiplies all stages.
func (t *tensor) loop(x, y fill) {
	t.each(func(i, j, n int) {
		t.set(t.sum[i][j][n], t.zero())
		if t.blocked {
			t.set(t.total[i][j][n], t.zero())
		}
	})
	step := fmt.Sprint(stageBytes / t.size)
	at, next := t.op(words, "mov.u32", "0"), t.reg(words)
	stage, other := t.op(words, "mov.u32", t.near), t.op(words, "add.u32", t.near, fmt.Sprint(stageLen))
	top, last, done := t.label(), t.label(), t.label()
	t.line("@%s bra %s", t.op(predicates, "setp.ge.u32", at, t.depth), done)
	t.fill(x, y, stage, at)
	t.top(top)
	if t.target.SM >= 80 {
		t.line("cp.async.wait_all")
	}
	t.line("bar.sync 0")
	t.line("add.u32 %s, %s, %s", next, at, step)
	more := t.op(predicates, "setp.lt.u32", next, t.depth)
	t.line("@!%s bra %s", more, last)
	x.begin(other, next)
	y.begin(t.op(words, "add.u32", other, fmt.Sprint(operandLen)), next)
	t.mark(last)
	if t.fma {
		t.multiplySingles(stage)
	} else {
		t.multiply(stage, x.deep, y.deep)
	}
	if x.end != nil || y.end != nil {
		skip := t.label()
		t.line("@!%s bra %s", more, skip)
		t.endFill(x, y, other)
		t.mark(skip)
	}
	if t.blocked {
		t.addTotals(next, more)
	}
	swap := t.op(words, "mov.u32", stage)
	t.line("mov.u32 %s, %s", stage, other)
	t.line("mov.u32 %s, %s", other, swap)
	t.line("mov.u32 %s, %s", at, next)
	t.line("@%s bra %s", more, top)
	t.mark(done)
	if t.blocked {
		t.each(func(i, j, n int) { t.set(t.sum[i][j][n], t.total[i][j][n]) })
	}
}

// fill brings a stage as a whole.
func (t *tensor) fill(x, y fill, stage, at string) {
	x.begin(stage, at)
	y.begin(t.op(words, "add.u32", stage, fmt.Sprint(operandLen)), at)
	t.endFill(x, y, stage)
}

func (t *tensor) endFill(x, y fill, stage string) {
	if x.end != nil {
		x.end(stage)
	}
	if y.end != nil {
		y.end(t.op(words, "add.u32", stage, fmt.Sprint(operandLen)))
	}
}

// addTotals adds the sums of a block of k that is whole or the last.
func (t *tensor) addTotals(next, more string) {
	inside := t.op(words, "and.b32", next, fmt.Sprint(template.SumBlock-1))
	p := t.op(predicates, "setp.ne.u32", inside, "0")
	t.line("and.pred %s, %s, %s", p, p, more)
	on := t.label()
	t.line("@%s bra %s", p, on)
	t.each(func(i, j, n int) {
		t.line("add.rn.f32 %s, %s, %s", t.total[i][j][n], t.total[i][j][n], t.sum[i][j][n])
		t.set(t.sum[i][j][n], t.zero())
	})
	t.mark(on)
}

// multiply adds the products of a stage.
func (t *tensor) multiply(stage string, deepX, deepY bool) {
	xs := t.op(words, "add.u32", stage, t.first(deepX, t.down, false))
	ys := t.op(words, "add.u32", stage, t.first(deepY, t.across, true))
	for s := range stageBytes / stepBytes {
		var x [warpRows / 16][]string
		var y [warpCols / 8][]string
		for i := range x {
			x[i] = t.four16(deepX, xs, t.matrixAt(deepX, i, s), false)
		}
		for j := 0; j < len(y); j += 2 {
			r := t.four16(deepY, ys, t.matrixAt(deepY, j/2, s)+operandLen, true)
			y[j], y[j+1] = r[:2], r[2:]
		}
		for i := range x {
			for j := range y {
				t.mma(t.sum[i][j], x[i], y[j])
			}
		}
	}
}

// four16 loads four matrices, 16 rows or columns by a step: along these first, or
// along k.
func (t *tensor) four16(deep bool, base string, offset int, depthFirst bool) []string {
	if t.tf32 {
		return t.fourTF32(deep, base, offset, depthFirst)
	}
	return t.matrix4(turned(deep), base, offset)
}

// first is where in a stage the row begins that a lane names to ldmatrix: that of
// the matrix lane/8 of four, which make 16 rows or columns by stepBytes of k.
// Those of X follow each other along rows first, those of Y along k.
func (t *tensor) first(deep bool, from string, depthFirst bool) string {
	if t.tf32 && !deep {
		return t.firstTF32(from)
	}
	low := t.op(words, "and.b32", t.lane, "7")
	second := t.op(words, "and.b32", t.op(words, "shr.u32", t.lane, "3"), "1")
	fourth := t.op(words, "shr.u32", t.lane, "4")
	along, depth := second, fourth // which half
	if depthFirst {
		along, depth = fourth, second
	}
	if deep {
		row := t.op(words, "add.u32", from, t.op(words, "mad.lo.u32", along, "8", low))
		return t.op(words, "mad.lo.u32", row, fmt.Sprint(deepRow), t.op(words, "shl.b32", depth, "4"))
	}
	row := t.op(words, "mad.lo.u32", depth, "8", low)
	col := t.op(words, "mad.lo.u32", along, "8", from)
	return t.op(words, "mad.lo.u32", row, fmt.Sprint(t.wideRow()), t.op(words, "shl.b32", col, "1"))
}

// matrixAt is how far behind the first the i-th 16 rows or columns lie, in a step.
func (t *tensor) matrixAt(deep bool, i, step int) int {
	if deep {
		return 16*i*deepRow + step*stepBytes
	}
	return 16*i*t.size + step*stepBytes/t.size*t.wideRow()
}

// turned is what ldmatrix is told of matrices whose rows are not by k.
func turned(deep bool) string {
	if deep {
		return ""
	}
	return ".trans"
}

// mma multiplies 16 rows by 8 columns over a step, in as many instructions as
// the target needs.
func (t *tensor) mma(sum [4]string, x, y []string) {
	one := func(shape string, d, a, b []string) {
		kind := map[file]string{singles: "f32", words: "s32"}[t.sums]
		sums := strings.Join(d, ", ")
		t.line("mma.sync.aligned.%s.row.col.%s.%s.%s {%s}, {%s}, {%s}, {%s}", shape, kind, t.kinds, kind,
			sums, strings.Join(a, ", "), strings.Join(b, ", "), sums)
	}
	switch {
	case t.tf32:
		one("m16n8k8", sum[:], x, y)
	case t.target.SM >= 80 && t.size == 2:
		one("m16n8k16", sum[:], x, y)
	case t.target.SM >= 80:
		one("m16n8k32", sum[:], x, y)
	case t.size == 2:
		one("m16n8k8", sum[:], x[:2], y[:1])
		one("m16n8k8", sum[:], x[2:], y[1:])
	default:
		for half := range 2 {
			one("m8n8k16", sum[2*half:2*half+2], x[half:half+1], y[:1])
			one("m8n8k16", sum[2*half:2*half+2], x[half+2:half+3], y[1:])
		}
	}
}
