package ptx

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/sinterml/sinter/internal/emit/flat"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/template"
)

// lying is an operand that may lie in memory as it is: where it begins, and the
// bytes from row to row and from head to head.
type lying struct {
	origin, row, head string // b64
	whole             string // the predicate that 16 bytes can be copied at a time
}

// lies tells how an operand lies; ok is false where it never does.
func (a *attend) lies(plain func() (template.PlainRows, bool), keys bool) (l lying, ok bool) {
	p, ok := plain()
	if !ok {
		return l, false
	}
	size := func(e *loop.Expr) string { return a.op(longs, "shl.b64", a.register(a.Value(e)), "1") }
	l.row, l.head = size(p.Row), size(p.Head)
	l.origin = a.op(longs, "add.u64", a.memory[a.Memory(p.Param).ID].base, size(p.Base))
	l.origin = a.op(longs, "mad.lo.u64", a.register(a.Rows(keys)), l.row, l.origin)
	if !a.Attr.Ragged {
		l.origin = a.op(longs, "mad.lo.u64", a.register(a.Seq), size(p.Seq), l.origin)
	}
	all := a.op(longs, "or.b64", l.origin, a.op(longs, "or.b64", l.row, l.head))
	l.whole = a.op(predicates, "setp.eq.u64", a.op(longs, "and.b64", all, "15"), "0")
	return l, true
}

// queries brings those of the tile into registers, by way of shared memory at an
// address.
func (a *attend) queries(near string) {
	l, ok := a.lies(a.bare.PlainQ, false)
	if ok {
		done, slow := a.label(), a.label()
		a.line("@!%s bra %s", l.whole, slow)
		a.spread(a.rows*a.Width/8, func(n string) {
			row, place := a.split(n, a.Width/8)
			f := a.row(row)
			at := a.op(longs, "mad.lo.u64", a.register(a.Query(f)), l.row, l.origin)
			at = a.op(longs, "mad.lo.u64", a.register(a.Head(f)), l.head, at)
			at = a.op(longs, "add.u64", at, a.op(longs, "mul.wide.u32", place, "16"))
			r := []string{a.reg(words), a.reg(words), a.reg(words), a.reg(words)}
			a.line("ld.global.nc.v4.b32 {%s, %s, %s, %s}, [%s]", r[0], r[1], r[2], r[3], at)
			to := a.op(words, "mad.lo.u32", row, fmt.Sprint(rowBytes(a.Width)), a.op(words, "mad.lo.u32", place, "16", near))
			a.line("st.shared.v4.b32 [%s], {%s, %s, %s, %s}", to, r[0], r[1], r[2], r[3])
		})
		a.line("bra %s", done)
		a.mark(slow)
		a.slowQueries(near)
		a.mark(done)
	} else {
		a.slowQueries(near)
	}
	a.line("bar.sync 0")
	mine := a.op(words, "mad.lo.u32", a.warp, fmt.Sprint(attendRows*rowBytes(a.Width)), near)
	mine = a.matrixRow(mine, rowBytes(a.Width), true)
	for k := range a.Width / 16 {
		a.q = append(a.q, a.matrix4("", mine, 32*k))
	}
}

func (a *attend) slowQueries(near string) {
	a.spread(a.rows*a.Width, func(n string) {
		row, lane := a.split(n, a.Width)
		f := a.row(row)
		x := a.Element(a.bare.Q, false, a.Query(f), a.Head(f), a.value(flat.I64, a.op(longs, "cvt.u64.u32", lane)))
		to := a.op(words, "mad.lo.u32", row, fmt.Sprint(rowBytes(a.Width)), a.op(words, "mad.lo.u32", lane, "2", near))
		a.line("st.shared.u16 [%s], %s", to, a.name(x))
	})
}

// spread has the threads of the block take turns at n elements.
func (a *attend) spread(n int, body func(n string)) {
	a.For(a.Item(), a.Const(flat.I32, uint64(n)), a.items, false, func(e flat.Value) { body(a.name(e)) })
}

// split is the quotient and the remainder by a constant.
func (a *attend) split(x string, n int) (high, low string) {
	if bits.OnesCount(uint(n)) == 1 {
		return a.op(words, "shr.u32", x, fmt.Sprint(log2(n))), a.op(words, "and.b32", x, fmt.Sprint(n-1))
	}
	high = a.op(words, "div.u32", x, fmt.Sprint(n))
	return high, a.op(words, "rem.u32", x, fmt.Sprint(n))
}

// passing are keys or values, whose blocks follow each other in shared memory.
type passing struct {
	*attend
	lying
	plain  bool
	e      *loop.Expr
	width  int
	behind int    // where they begin in a block of both
	place  string // where in them the first copy of the thread belongs
	row    string // of the block, b32
	mine   string // the predicate that the thread has copies
	next   string // address of the first copy, b64
	step   string // bytes from copy to copy, b64
	apart  int    // rows from copy to copy
}

func (a *attend) passing(e *loop.Expr, plain func() (template.PlainRows, bool), width, behind int) *passing {
	p := &passing{attend: a, e: e, width: width, behind: behind}
	p.lying, p.plain = a.lies(plain, true)
	return p
}

// start finds what a thread copies, from the key at on. A row's copies are shared
// out to a power of two of threads.
func (p *passing) start(at string) {
	if !p.plain {
		return
	}
	a := p.attend
	perRow := p.width / 8
	threads := 1 << bits.Len(uint(perRow-1))
	place := a.op(words, "and.b32", a.item, fmt.Sprint(threads-1))
	p.row, p.apart = a.op(words, "shr.u32", a.item, fmt.Sprint(log2(threads))), a.items/threads
	p.mine = a.op(predicates, "setp.lt.u32", place, fmt.Sprint(perRow))
	p.mine = a.op(predicates, "and.pred", p.mine, a.op(predicates, "setp.lt.u32", p.row, fmt.Sprint(attendKeys)))
	from := a.op(longs, "cvt.u64.u32", a.op(words, "add.u32", p.row, at))
	head := a.op(longs, "mad.lo.u64", a.register(a.KVHead), p.head, p.origin)
	p.next = a.op(longs, "mad.lo.u64", from, p.lying.row, head)
	p.next = a.op(longs, "add.u64", p.next, a.op(longs, "mul.wide.u32", place, "16"))
	p.step = a.op(longs, "mul.lo.u64", p.lying.row, fmt.Sprint(min(p.apart, attendKeys)))
	p.place = a.placed(p.row, place, p.width)
}

// placed is where in a block of keys or values a piece of 16 bytes of a row belongs.
func (a *attend) placed(row, piece string, width int) string {
	if a.grouped {
		at := a.op(words, "mad.lo.u32", row, fmt.Sprint(patternRow), a.exchanged(piece, row))
		return a.op(words, "mad.lo.u32", a.op(words, "shr.u32", piece, "3"), fmt.Sprint(farLen), at)
	}
	return a.op(words, "mad.lo.u32", row, fmt.Sprint(rowBytes(width)), a.op(words, "shl.b32", piece, "4"))
}

// bring begins to bring what is from key at on into a block of both. Behind the last
// key it is 0.
func (p *passing) bring(at, block string) {
	a := p.attend
	base := a.op(words, "add.u32", block, fmt.Sprint(p.behind))
	if !p.plain {
		p.slow(at, base)
		return
	}
	done, slow := a.label(), a.label()
	a.line("@!%s bra %s", p.whole, slow)
	key, near := a.op(words, "add.u32", at, p.row), a.op(words, "add.u32", base, p.place)
	for i := range max(1, attendKeys/p.apart) {
		valid := a.op(predicates, "setp.lt.s32", a.op(words, "add.u32", key, fmt.Sprint(i*p.apart)), a.kLen)
		apart := p.apart * rowBytes(p.width)
		if a.grouped { // whole patterns
			apart = p.apart * patternRow
		}
		to := fmt.Sprintf("[%s+%d]", near, i*apart)
		if a.target.SM < 80 {
			p.copy(valid, to)
			continue
		}
		n := a.op(words, "selp.b32", "16", "0", valid)
		a.line("@%s cp.async.cg.shared.global %s, [%s], 16, %s", p.mine, to, p.next, n)
		a.line("add.u64 %s, %s, %s", p.next, p.next, p.step)
	}
	a.line("bra %s", done)
	a.mark(slow)
	p.slow(at, base)
	a.mark(done)
}

// copy copies 16 bytes by way of registers, 0 where there are none.
func (p *passing) copy(valid, to string) {
	a := p.attend
	r := []string{a.copied(flat.I32, "0"), a.copied(flat.I32, "0"), a.copied(flat.I32, "0"), a.copied(flat.I32, "0")}
	list := strings.Join(r, ", ")
	a.line("@%s ld.global.nc.v4.b32 {%s}, [%s]", a.op(predicates, "and.pred", valid, p.mine), list, p.next)
	a.line("@%s st.shared.v4.b32 %s, {%s}", p.mine, to, list)
	a.line("add.u64 %s, %s, %s", p.next, p.next, p.step)
}

// slow brings elements one by one.
func (p *passing) slow(at, base string) {
	a := p.attend
	a.spread(attendKeys*p.width, func(n string) {
		row, lane := a.split(n, p.width)
		key := a.op(words, "add.u32", at, row)
		x := a.copied(flat.I32, "0")
		a.If(a.value(flat.Bool, a.op(predicates, "setp.lt.s32", key, a.kLen)), func() {
			wide := func(r string) flat.Value { return a.value(flat.I64, a.op(longs, "cvt.u64.u32", r)) }
			a.assign(flat.I32, x, a.name(a.Element(p.e, true, wide(key), a.KVHead, wide(lane))))
		})
		to := a.op(words, "add.u32", base, a.placed(row, a.op(words, "shr.u32", lane, "3"), p.width))
		a.line("st.shared.u16 [%s], %s", a.op(words, "mad.lo.u32", a.op(words, "and.b32", lane, "7"), "2", to), x)
	})
}
