package ptx

import (
	"fmt"
	"math"

	"github.com/sinterml/sinter/internal/emit/flat"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// constant is a number in an instruction.
func constant(v float64) string { return fmt.Sprintf("0f%08X", math.Float32bits(float32(v))) }

// factors finds what scores are multiplied by in exponents of 2: a quarter of
// that, so that what is finite stays so, and exp2 multiplies by 4.
func (a *attend) factors() {
	f := math.Log2E / 4
	// The factor of an ordinary scale is part of that.
	a.plain = a.Mask == nil && a.Attr.SoftCap == 0 && a.Attr.Scale >= 0x1p-40 && a.Attr.Scale <= 0x1p40
	if a.plain {
		f *= a.Attr.Scale
	}
	a.toBase = constant(f)
}

// multiplyKeys computes the products of the warp's queries with a block of keys.
func (a *attend) multiplyKeys() {
	keys := a.matrixRow(a.here, rowBytes(a.Width), false)
	for _, s := range a.score {
		for _, r := range s {
			a.line("mov.f32 %s, 0f00000000", r)
		}
	}
	for k, q := range a.q {
		for j := 0; j < len(a.score); j += 2 {
			y := a.matrix4("", keys, 8*j*rowBytes(a.Width)+32*k)
			a.mma16(a.score[j], q, y[:2])
			a.mma16(a.score[j+1], q, y[2:])
		}
	}
}

// scores makes scores of products, -Inf where a row does not see a key; full is
// the predicate that rows of the warp see all of the block.
func (a *attend) scores(at, full string) {
	column := a.op(words, "add.u32", at, a.op(words, "shl.b32", a.op(words, "and.b32", a.lane, "3"), "1"))
	if a.Mask != nil {
		a.maskedScores(column)
		return
	}
	if !a.plain {
		for _, s := range a.score {
			for _, r := range s {
				a.line("mov.f32 %s, %s", r, a.name(a.Scored(a.Score, a.value(flat.F32, r))))
			}
		}
	}
	skip := a.label()
	a.line("@%s bra %s", full, skip)
	a.eachScore(column, func(_ int, score, _, seen string) {
		a.line("selp.f32 %s, %s, 0fFF800000, %s", score, score, seen)
	})
	a.mark(skip)
}

// eachScore visits the lane's: of row r, key column+n, and whether that is seen.
func (a *attend) eachScore(column string, visit func(r int, score, key, seen string)) {
	for r, seen := range a.rowOf {
		left := a.op(words, "sub.u32", seen.to, column)
		before := a.op(words, "sub.u32", seen.from, column)
		for j, s := range a.score {
			for e := range 2 {
				n := fmt.Sprint(8*j + e)
				p := a.op(predicates, "setp.gt.s32", left, n)
				if a.Attr.Window > 0 {
					p = a.op(predicates, "and.pred", p, a.op(predicates, "setp.le.s32", before, n))
				}
				visit(r, s[2*r+e], n, p)
			}
		}
	}
}

// maskedScores adds the mask, where it is seen alone.
func (a *attend) maskedScores(column string) {
	first := a.op(words, "mad.lo.u32", a.warp, fmt.Sprint(attendRows), a.op(words, "shr.u32", a.lane, "2"))
	var query, head [2]flat.Value
	for r := range query {
		f := a.row(a.op(words, "add.u32", first, fmt.Sprint(8*r)))
		query[r], head[r] = a.Query(f), a.Head(f)
	}
	a.eachScore(column, func(r int, score, n, seen string) {
		dot := a.copied(flat.F32, score)
		a.line("mov.f32 %s, 0fFF800000", score)
		a.If(a.value(flat.Bool, seen), func() {
			key := a.value(flat.I64, a.op(longs, "cvt.u64.u32", a.op(words, "add.u32", column, n)))
			v := a.Scored(a.Score, a.value(flat.F32, dot))
			a.assign(flat.F32, score, a.name(a.Op(flat.Add, flat.F32, v, a.Masked(query[r], head[r], key))))
		})
	})
}

// weigh makes weights of scores, and what was summed so far relative to the
// greatest score.
func (a *attend) weigh() []weights {
	var factor [2]string
	var from [2]reference
	var same string
	for r := range 2 {
		factor[r], from[r] = a.raise(r)
		p := a.op(predicates, "setp.eq.f32", factor[r], constant(1))
		if same != "" {
			p = a.op(predicates, "and.pred", same, p)
		}
		same = p
	}
	kept := a.label()
	all := a.reg(predicates)
	a.line("vote.sync.all.pred %s, %s, 0xffffffff", all, same)
	a.line("@%s bra %s", all, kept) // 1 changes nothing
	for _, s := range append(a.sum[:len(a.sum):len(a.sum)], a.total) {
		for n, x := range s {
			a.line("mul.rn.f32 %s, %s, %s", x, x, factor[n/2])
		}
	}
	for r, x := range a.exact {
		if x != "" {
			a.line("mul.rn.f32 %s, %s, %s", x, x, factor[r])
		}
	}
	a.mark(kept)
	a.lowerFar(from)
	for r := range 2 {
		lower := a.op(singles, "neg.f32", from[r].base)
		for _, s := range a.score {
			for e := range 2 {
				x := s[2*r+e]
				w := a.exp2(a.op(singles, "fma.rn.f32", x, a.toBase, lower))
				a.line("mov.f32 %s, %s", x, w)
				if a.Sums != nil {
					a.line("add.rn.f32 %s, %s, %s", a.exact[r], a.exact[r], w)
				}
			}
		}
	}
	return a.pack()
}

// raise has a row know of the block's greatest score, and gives the factor of what
// was summed so far: 1 where that stays the greatest. NaN is never the greatest:
// its weight is NaN whatever is.
func (a *attend) raise(r int) (factor string, now reference) {
	var all []string
	for _, s := range a.score {
		all = append(all, s[2*r], s[2*r+1])
	}
	for len(all) > 1 {
		var half []string
		for i := 0; i+1 < len(all); i += 2 {
			half = append(half, a.op(singles, "max.f32", all[i], all[i+1]))
		}
		all = half
	}
	most := all[0]
	for _, apart := range []string{"1", "2"} { // the lanes of a row
		most = a.op(singles, "max.f32", most, a.across(most, apart))
	}
	first := a.op(predicates, "setp.eq.f32", a.peak[r], "0fFF800000")
	old := a.reference(r)
	a.line("max.f32 %s, %s, %s", a.peak[r], a.peak[r], most)
	now = a.reference(r)
	change := a.op(singles, "sub.rn.f32", old.base, now.base)
	change = a.op(singles, "fma.rn.f32", a.op(singles, "sub.rn.f32", old.score, now.score), a.toBase, change)
	return a.exp2(a.op(singles, "selp.f32", constant(-1000), change, first)), now // nothing is there yet
}

// reference is what scores of a row are relative to: score is subtracted before
// they become exponents, base after that. One of them is 0.
type reference struct{ score, base string }

// farBase is what the greatest score's exponent has to be below for others to be
// lowered by it, rounded: an ulp more or less must not matter to a weight.
const farBase = 0x1p16

// reference is that of a row's greatest score so far.
func (a *attend) reference(r int) (now reference) {
	none := a.op(predicates, "setp.eq.f32", a.peak[r], "0fFF800000")
	safe := a.op(singles, "selp.f32", constant(0), a.peak[r], none)
	base := a.op(singles, "mul.rn.f32", safe, a.toBase)
	near := a.op(predicates, "setp.lt.f32", a.op(singles, "abs.f32", base), constant(farBase))
	now.score = a.op(singles, "selp.f32", constant(0), safe, near)
	now.base = a.op(singles, "selp.f32", base, constant(0), near)
	return now
}

// lowerFar subtracts references from scores, where there are some that are not 0:
// that would be an instruction more for each score.
func (a *attend) lowerFar(from [2]reference) {
	far := a.op(predicates, "setp.neu.f32", from[0].score, constant(0))
	far = a.op(predicates, "or.pred", far, a.op(predicates, "setp.neu.f32", from[1].score, constant(0)))
	a.If(a.value(flat.Bool, far), func() {
		for _, s := range a.score {
			for n, x := range s {
				a.line("sub.rn.f32 %s, %s, %s", x, x, from[n/2].score)
			}
		}
	})
}

// across is what another lane of the warp holds.
func (a *attend) across(x, apart string) string {
	return a.op(singles, "shfl.sync.bfly.b32", x, apart, "31", "0xffffffff")
}

// exp2 is 2^(4x) for x not above 0, by loop.expandExp2's polynomial. Below 2^-126
// it is 0, as the power of 2 beside the polynomial is.
func (a *attend) exp2(x string) string {
	const bias = 127
	y := a.notBelow(x, -bias/4.)
	const magic = 0x1.8p23
	t := a.op(singles, "fma.rn.f32", y, constant(4), constant(magic+bias))
	n := a.op(singles, "sub.rn.f32", constant(magic+bias), t)
	r := a.op(singles, "fma.rn.f32", y, constant(4), n)
	p := constant(loop.Exp2Near[len(loop.Exp2Near)-1])
	for i := len(loop.Exp2Near) - 2; i >= 0; i-- {
		p = a.op(singles, "fma.rn.f32", p, r, constant(loop.Exp2Near[i]))
	}
	power := a.op(words, "shl.b32", t, "23")
	return a.op(singles, "mul.rn.f32", p, a.op(singles, "mov.b32", power))
}

// notBelow is x, or least where that is more; NaN stays.
func (a *attend) notBelow(x string, least float64) string {
	if a.target.SM >= 80 {
		return a.op(singles, "max.NaN.f32", x, constant(least))
	}
	return a.op(singles, "selp.f32", constant(least), x, a.op(predicates, "setp.lt.f32", x, constant(least)))
}

// weights are those of 16 keys as factors of values: of an instruction or of two.
type weights [][]string

// Where units know f16 alone, weights are that, times scaled, below the greatest f16
// for the greatest weight. What is below leastScaled then is that, but for 0, as an
// infinite value makes the sum infinite: 2^-39 of the greatest.
const (
	scaled      = 0x1p15
	leastScaled = 0x1p-24
)

// shortPair is two weights in f16.
func (a *attend) shortPair(low, high string) string {
	var h [2]string
	for i, w := range [2]string{low, high} {
		some := a.op(predicates, "setp.neu.f32", w, constant(0))
		x := a.notBelow(a.op(singles, "mul.rn.f32", w, constant(scaled)), leastScaled)
		h[i] = a.op(halves, "cvt.rn.f16.f32", a.op(singles, "selp.f32", x, constant(0), some))
	}
	return a.op(words, "mov.b32", "{"+h[0]+", "+h[1]+"}")
}

// pack rounds weights to bf16. Those of f16 would have no digits left below 2^-24:
// they multiply as TF32, whose exponents are those of f32 and which holds all
// values of f16. Weights are cut to its digits, NaN staying what it is.
func (a *attend) pack() []weights {
	var all []weights
	for i := 0; i < len(a.score); i += 2 {
		x, y := a.score[i], a.score[i+1]
		if a.half == ir.F16 && a.target.SM >= 80 {
			all = append(all, weights{a.cut(x), a.cut(y)})
			continue
		}
		pair := func(low, high string) string { return a.op(words, "cvt.rn.bf16x2.f32", high, low) }
		if a.half == ir.F16 {
			pair = a.shortPair
		}
		all = append(all, weights{{pair(x[0], x[1]), pair(x[2], x[3]), pair(y[0], y[1]), pair(y[2], y[3])}})
	}
	return all
}

// cut is the weights of 8 keys as TF32. Of the keys 2n and 2n+1 that a lane has,
// the instruction takes one for n, the other for n+4, and so it does of values.
func (a *attend) cut(w [4]string) (all []string) {
	for _, n := range []int{0, 2, 1, 3} {
		all = append(all, a.op(words, "and.b32", a.op(words, "mov.b32", w[n]), "0xffffe000"))
	}
	return all
}

// times adds weighted values of 16 keys and 8 lanes to a sum.
func (a *attend) times(sum [4]string, w weights, y []string) {
	if len(w) == 1 {
		a.mma16(sum, w[0], y)
		return
	}
	for i, r := range y {
		a.mma("m16n8k8", "tf32", sum, w[i], a.wide(r))
	}
}

// wide is two values of f16 as TF32.
func (a *attend) wide(r string) []string {
	low, high := a.reg(halves), a.reg(halves)
	a.line("mov.b32 {%s, %s}, %s", low, high, r)
	var all []string
	for _, h := range []string{low, high} {
		all = append(all, a.op(words, "mov.b32", a.op(singles, "cvt.f32.f16", h)))
	}
	return all
}
