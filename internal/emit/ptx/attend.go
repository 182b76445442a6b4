package ptx

import (
	"fmt"
	"math"
	"strings"

	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/emit/flat"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/template"
)

// An attention of f16 or bf16 runs on the units for matrices, in the way of
// FlashAttention-2 (arXiv:2307.08691): a warp has 16 rows of a tile, whose
// queries, running sums and scores stay in its registers while blocks of keys and
// values pass by in shared memory. Scores come out of one product as the operand
// of the next takes them. Where shared memory has two blocks, one is on its way while
// the other is multiplied; else while scores are computed the block's values are on
// their way, and while values are added up, the next keys.
const (
	attendRows  = 16 // of a warp
	attendKeys  = 64 // of a block: the greatest score is looked at once for each
	attendWidth = 128
	// attendShort is the widest head for which threads do with half of their registers.
	attendShort = 32
)

// attends lists the tiles of an attention on units for matrices: all have the
// same bits, as a row is computed alone and blocks of keys count from the first of
// its sequence.
func (t Target) attends(a *template.Attention) []entry.Tile {
	tiles := t.usualAttends(a)
	if t.groupAttends(a) {
		for i := range tiles {
			tiles[i].Depth = patternRow / 2
		}
	}
	return tiles
}

// usualAttends are those that no group of warps multiplies.
func (t Target) usualAttends(a *template.Attention) []entry.Tile {
	p := a.Bare()
	d := p.Q.DType
	if d != p.K.DType || d != p.V.DType || d != ir.F16 && d != ir.BF16 {
		return nil
	}
	// Of f16 that was widened weights have the digits of f32, unless those of TF32
	// will do. Units that know f16 alone have fewer still.
	short := a.DType == ir.F32 && d == ir.F16 && a.TF32
	if d != a.DType && (a.DType != ir.F32 || d == ir.F16 && !a.TF32) || t.SM < 80 && !short {
		return nil
	}
	for _, w := range []int{a.Width, a.VWidth} {
		if w < 16 || w > attendWidth || w%16 != 0 {
			return nil
		}
	}
	tile := func(rows int) entry.Tile {
		return entry.Tile{Rows: rows, Cols: attendKeys, EachRows: attendRows, EachCols: attendKeys / 32}
	}
	if entry.QueryRows(a) <= 4*attendRows {
		return []entry.Tile{tile(64), tile(128)}
	}
	return []entry.Tile{tile(128), tile(64)}
}

// attend writes rows of a tile that are of one sequence.
type attend struct {
	*builder
	ring // of groups of warps
	*flat.QueryRows
	grouped     bool                // groups of four warps multiply
	bare        *template.Attention // with operands as they lie in memory
	half        ir.DType
	items, rows int
	item, lane  string // b32
	warp        string
	near        string // address of shared memory: keys, then values; queries, results
	here        string // address of the keys and values that are multiplied
	kLen        string // b32
	rowOf       [2]rowRange
	first, last rowRange // of the warp, or of the group of four
	q           [][]string
	sum         [][4]string // by 8 lanes of v
	score       [attendKeys / 8][4]string
	total       [4]string // of weights as they are multiplied
	exact       [2]string // of weights before that, where logsumexps are asked for
	peak        [2]string // the greatest score so far
	toBase      string    // what a score is multiplied by in an exponent
	plain       bool      // scores are products with a factor: they are kept without
}

// rowRange is the keys that a row sees, as b32.
type rowRange struct{ from, to string }

// Attend: see flat.Attender.
func (b *builder) Attend(r *flat.QueryRows) {
	a := &attend{builder: b, QueryRows: r, bare: r.Bare()}
	a.half = a.bare.Q.DType
	a.rows, a.items = b.kernel.Tile.Rows, b.kernel.Items
	a.item = b.name(b.Item())
	a.lane, a.warp = b.op(words, "and.b32", a.item, "31"), b.op(words, "shr.u32", a.item, "5")
	if a.grouped = byGroups(b.kernel); a.grouped {
		a.warp = b.op(words, "shfl.sync.idx.b32", a.warp, "0", "31", "0xffffffff") // the same for a warp, as the assembler sees
		a.ring = b.newRing(attendStages, a.blockBytes())
		a.near = b.op(words, "add.u32", a.phases, fmt.Sprint(attendStages*phasesStep))
	} else {
		if b.attended == "" { // parts of a tile use the same memory
			b.attended = b.array(a.bytes(), matrixAlign)
		}
		a.near = b.op(words, "mov.u32", b.attended)
	}
	a.here = b.op(words, "mov.u32", a.near)
	a.kLen = b.op(words, "cvt.u32.u64", b.register(r.KLen))
	a.factors()
	a.ranges()
	a.line("bar.sync 0") // what was before this has left shared memory
	switch {
	case a.grouped:
		a.groupBlocks()
	case a.ahead():
		a.blocksAhead()
	default:
		a.queries(a.near)
		a.begin()
		a.blocks()
	}
	a.finish()
}

// rowBytes is from row to row in shared memory, of so many elements: 16 more than
// those, so that eight rows have 16 bytes each in banks of their own.
func rowBytes(width int) int { return 2*width + 16 }

// keyRow is the bytes of a row of keys or values of a width.
func (a *attend) keyRow(width int) int {
	if a.grouped {
		return 2 * width
	}
	return rowBytes(width)
}

// valuesAt is where values lie behind the keys.
func (a *attend) valuesAt() int { return attendKeys * a.keyRow(a.Width) }

// blockBytes are those of a block of keys and values, twoBlocks those of two of
// which the second comes when queries have left its place.
func (a *attend) blockBytes() int { return a.valuesAt() + attendKeys*a.keyRow(a.VWidth) }

func (a *attend) twoBlocks() int { return a.blockBytes() + max(a.blockBytes(), a.queryBytes()) }

func (a *attend) queryBytes() int { return a.rows * rowBytes(a.Width) }

// ahead tells whether there is room for two. Before 8.0 nothing is copied
// while something else is done.
func (a *attend) ahead() bool { return a.target.SM >= 80 && a.twoBlocks() <= sharedBytes }

// bytes is the shared memory that is needed at a time.
func (a *attend) bytes() int {
	results := a.items / 32 * 8 * 4 * resultRow(a.VWidth)
	if a.ahead() {
		return max(a.twoBlocks(), results)
	}
	return max(a.blockBytes(), a.queryBytes(), results)
}

// row is the row of the tile part that stands at a position of the tile; those
// behind the last are as it is.
func (a *attend) row(at string) flat.Value {
	f := a.Op(flat.Add, flat.I64, a.From, a.value(flat.I64, a.op(longs, "cvt.u64.u32", at)))
	last := a.Op(flat.Sub, flat.I64, a.To, a.Const(flat.I64, 1))
	return a.Op(flat.Select, flat.I64, a.Op(flat.Less, flat.Bool, f, last), f, last)
}

// seen is the keys that row f sees. It ends below its start where there are none.
func (a *attend) seen(f flat.Value) rowRange {
	own := a.Op(flat.Sub, flat.I64, a.Op(flat.Add, flat.I64, a.Query(f), a.KLen), a.QLen)
	at := a.op(words, "cvt.u32.u64", a.register(own))
	r := rowRange{a.op(words, "mov.u32", "0"), a.kLen}
	if a.Attr.Causal {
		r.to = a.op(words, "add.u32", at, "1")
	}
	if a.Attr.Window > 0 { // in 64 bits, as a window may be wider than what there is
		w := min(a.Attr.Window, 1<<40)
		from := a.op(longs, "max.s64", a.op(longs, "add.s64", a.register(own), fmt.Sprint(1-w)), "0")
		behind := a.op(longs, "add.s64", a.register(own), fmt.Sprint(w))
		r.from = a.op(words, "cvt.u32.u64", from)
		r.to = a.op(words, "min.s32", r.to, a.op(words, "cvt.u32.u64", a.op(longs, "min.s64", behind, fmt.Sprint(math.MaxInt32))))
	}
	return r
}

// ranges finds what the rows of the lane, of the warp and of the tile see.
func (a *attend) ranges() {
	first := a.op(words, "mul.lo.u32", a.warp, fmt.Sprint(attendRows))
	mine := a.op(words, "add.u32", first, a.op(words, "shr.u32", a.lane, "2"))
	for r := range a.rowOf {
		a.rowOf[r] = a.seen(a.row(a.op(words, "add.u32", mine, fmt.Sprint(8*r))))
	}
	rows := attendRows
	if a.grouped { // four warps see the same
		rows = 4 * attendRows
		first = a.op(words, "and.b32", first, fmt.Sprint(-rows))
	}
	a.first = a.seen(a.row(first))
	a.last = a.seen(a.row(a.op(words, "add.u32", first, fmt.Sprint(rows-1))))
	// Without rows nothing is seen.
	begin := a.Op(flat.Add, flat.I64, a.From, a.value(flat.I64, a.op(longs, "cvt.u64.u32", first)))
	some := a.name(a.Op(flat.Less, flat.Bool, begin, a.To))
	a.last.to = a.op(words, "selp.b32", a.last.to, "0", some)
}

// begin has nothing seen.
func (a *attend) begin() {
	zero := func() string { return a.op(singles, "mov.f32", "0f00000000") }
	for range a.VWidth / 8 {
		a.sum = append(a.sum, [4]string{zero(), zero(), zero(), zero()})
	}
	for i := range a.score {
		for n := range 4 {
			a.score[i][n] = a.reg(singles)
		}
	}
	a.total = [4]string{zero(), zero(), zero(), zero()}
	for r := range 2 {
		a.peak[r] = a.op(singles, "mov.f32", "0fFF800000")
		if a.Sums != nil {
			a.exact[r] = zero()
		}
	}
}

// seenBlocks is where the keys that rows of the tile see begin, at a whole block, and
// end.
func (a *attend) seenBlocks() (at, end string) {
	last := a.Op(flat.Sub, flat.I64, a.To, a.Const(flat.I64, 1))
	begin := a.op(words, "and.b32", a.seen(a.From).from, fmt.Sprint(-attendKeys))
	return begin, a.seen(last).to
}

// blocks goes through the keys that rows of the tile see.
func (a *attend) blocks() {
	at, end := a.seenBlocks()
	k, v := a.passing(a.bare.K, a.bare.PlainK, a.Width, 0), a.passing(a.bare.V, a.bare.PlainV, a.VWidth, a.valuesAt())
	top, done, next := a.label(), a.label(), a.label()
	a.line("bar.sync 0") // queries have left shared memory
	a.line("@%s bra %s", a.op(predicates, "setp.ge.s32", at, end), done)
	k.start(at)
	v.start(at)
	k.bring(at, a.near)
	a.top(top)
	a.arrived() // keys are there, and values have been added up
	v.bring(at, a.near)
	behind := a.op(words, "add.u32", at, fmt.Sprint(attendKeys))
	active := a.active(at, behind)
	a.If(active, a.multiplyKeys)
	a.arrived() // values are there, and keys have been multiplied
	more := a.op(predicates, "setp.lt.s32", behind, end)
	a.line("@!%s bra %s", more, next)
	k.bring(behind, a.near)
	a.mark(next)
	a.If(active, func() { a.addBlock(at, behind) })
	a.line("mov.u32 %s, %s", at, behind)
	a.line("@%s bra %s", more, top)
	a.mark(done)
}

// blocksAhead is that with two blocks in shared memory, and the queries first.
func (a *attend) blocksAhead() {
	at, end := a.seenBlocks()
	both := []*passing{a.passing(a.bare.K, a.bare.PlainK, a.Width, 0), a.passing(a.bare.V, a.bare.PlainV, a.VWidth, a.valuesAt())}
	some := a.op(predicates, "setp.lt.s32", at, end)
	other := a.op(words, "add.u32", a.near, fmt.Sprint(a.blockBytes()))
	bring := func(at, block string) {
		a.If(a.value(flat.Bool, a.op(predicates, "setp.lt.s32", at, end)), func() {
			for _, p := range both {
				p.bring(at, block)
			}
		})
		a.line("cp.async.commit_group") // of none, too: they are counted
	}
	for _, p := range both {
		p.start(at)
	}
	bring(at, a.near)
	a.queries(other)
	a.begin()
	top, done := a.label(), a.label()
	a.line("bar.sync 0") // queries have left shared memory
	behind := a.op(words, "add.u32", at, fmt.Sprint(attendKeys))
	bring(behind, other)
	a.line("@!%s bra %s", some, done)
	a.top(top)
	a.line("cp.async.wait_group 1") // all but those behind
	a.line("bar.sync 0")
	a.If(a.active(at, behind), func() {
		a.multiplyKeys()
		a.addBlock(at, behind)
	})
	a.line("bar.sync 0") // both have been multiplied
	a.line("mov.u32 %s, %s", at, behind)
	a.line("add.u32 %s, %s, %d", behind, behind, attendKeys)
	bring(behind, a.here)
	a.exchange(a.here, other)
	a.line("@%s bra %s", a.op(predicates, "setp.lt.s32", at, end), top)
	a.mark(done)
}

// exchange has two registers hold what the other held.
func (a *attend) exchange(x, y string) {
	was := a.op(words, "mov.u32", x)
	a.line("mov.u32 %s, %s", x, y)
	a.line("mov.u32 %s, %s", y, was)
}

// active is the predicate that rows of the warp see keys of a block.
func (a *attend) active(at, behind string) flat.Value {
	some := a.op(predicates, "setp.lt.s32", at, a.last.to)
	return a.value(flat.Bool, a.op(predicates, "and.pred", some, a.op(predicates, "setp.lt.s32", a.first.from, behind)))
}

// arrived waits for copies, those of others too.
func (a *attend) arrived() {
	if a.target.SM >= 80 {
		a.line("cp.async.wait_all")
	}
	a.line("bar.sync 0")
}

// addBlock makes weights of a block's scores and adds the weighted values.
func (a *attend) addBlock(at, behind string) {
	full := a.op(predicates, "setp.le.s32", behind, a.first.to)
	if a.Attr.Window > 0 {
		full = a.op(predicates, "and.pred", full, a.op(predicates, "setp.le.s32", a.last.from, at))
	}
	a.scores(at, full)
	if !a.Attr.Causal && a.Attr.Window == 0 { // what nobody sees is 0
		a.addValues(a.weigh())
		return
	}
	// A weight of 0 is not enough to keep out an infinity. Weights are made in both
	// branches, so that in the usual one they and products are in one sequence.
	usual, done := a.label(), a.label()
	a.line("@%s bra %s", full, usual)
	a.line("@%s bra %s", a.finite(), usual)
	a.addSome(a.weigh(), at, behind)
	a.line("bra %s", done)
	a.mark(usual)
	a.addValues(a.weigh())
	a.mark(done)
}

// mma16 multiplies 16 rows by 8 columns, over 16 numbers of 16 bits, by as many
// instructions as the target needs.
func (a *attend) mma16(sum [4]string, x, y []string) {
	kind := a.half.String()
	if a.target.SM >= 80 {
		a.mma("m16n8k16", kind, sum, x, y)
		return
	}
	a.mma("m16n8k8", kind, sum, x[:2], y[:1])
	a.mma("m16n8k8", kind, sum, x[2:], y[1:])
}

// mma multiplies 16 rows by 8 columns, over as much as the shape says.
func (a *attend) mma(shape, kind string, sum [4]string, x, y []string) {
	sums := strings.Join(sum[:], ", ")
	a.line("mma.sync.aligned.%s.row.col.f32.%s.%s.f32 {%s}, {%s}, {%s}, {%s}", shape, kind, kind, sums, strings.Join(x, ", "), strings.Join(y, ", "), sums)
}

// matrix4 loads four matrices of 8 rows of 16 bytes.
func (b *builder) matrix4(trans, base string, offset int) []string {
	r := []string{b.reg(words), b.reg(words), b.reg(words), b.reg(words)}
	b.line("ldmatrix.sync.aligned.m8n8.x4%s.shared.b16 {%s}, [%s+%d]", trans, strings.Join(r, ", "), base, offset)
	return r
}

// matrixRow is where the row begins that a lane names to ldmatrix: that of the
// matrix lane/8 of four, which follow each other by rows first or by columns.
func (a *attend) matrixRow(from string, rowLen int, rowsFirst bool) string {
	low := a.op(words, "and.b32", a.lane, "7")
	second := a.op(words, "and.b32", a.op(words, "shr.u32", a.lane, "3"), "1")
	fourth := a.op(words, "shr.u32", a.lane, "4")
	down, right := fourth, second
	if rowsFirst {
		down, right = second, fourth
	}
	row := a.op(words, "mad.lo.u32", down, "8", low)
	at := a.op(words, "mad.lo.u32", row, fmt.Sprint(rowLen), from)
	return a.op(words, "mad.lo.u32", right, "16", at)
}
