package ptx

import (
	"fmt"
	"strings"

	"github.com/sinterml/sinter/internal/emit/flat"
	"github.com/sinterml/sinter/internal/ir"
)

// ones is 1 twice.
func (a *attend) ones() string {
	return map[ir.DType]string{ir.F16: "0x3c003c00", ir.BF16: "0x3f803f80"}[a.half]
}

// valueRow is what a lane names to ldmatrix of a block of values.
func (a *attend) valueRow() string {
	return a.matrixRow(a.op(words, "add.u32", a.here, fmt.Sprint(a.valuesAt())), rowBytes(a.VWidth), true)
}

// valuePattern is that of the j-th 16 lanes where values lie in patterns.
func (a *attend) valuePattern(j string) string {
	row := a.op(words, "and.b32", a.lane, "15")
	piece := a.op(words, "mad.lo.u32", j, "2", a.op(words, "shr.u32", a.lane, "4"))
	at := a.op(words, "add.u32", a.here, fmt.Sprint(a.valuesAt()))
	return a.op(words, "add.u32", at, a.placed(row, piece, a.VWidth))
}

// values loads 16 keys, the i-th, of 16 lanes, the j-th.
func (a *attend) values(from string, i, j int) []string {
	if a.grouped {
		return a.matrix4(".trans", from, 16*i*patternRow)
	}
	return a.matrix4(".trans", from, 16*i*rowBytes(a.VWidth)+32*j)
}

// addTotals adds weights, as they are multiplied, by a matrix of ones.
func (a *attend) addTotals(all []weights) {
	one := a.op(words, "mov.b32", a.ones())
	for _, w := range all {
		a.times(a.total, w, []string{one, one})
	}
}

// addValues adds a block of weighted values.
func (a *attend) addValues(all []weights) {
	a.addTotals(all)
	if a.grouped {
		a.addByGroups(all)
		return
	}
	from := a.valueRow()
	for i, w := range all {
		for j := range a.VWidth / 16 {
			y := a.values(from, i, j)
			a.times(a.sum[2*j], w, y[:2])
			a.times(a.sum[2*j+1], w, y[2:])
		}
	}
}

// finite is the predicate that a block's values are all finite.
func (a *attend) finite() string {
	// Adding the lowest bit of the exponent to it carries where all are set.
	exponent, lowest := "0x7f807f80", "0x00800080"
	if a.half == ir.F16 {
		exponent, lowest = "0x7c007c00", "0x04000400"
	}
	found := a.op(words, "mov.b32", "0")
	row := a.op(words, "add.u32", a.here, fmt.Sprint(a.valuesAt())) // in patterns, a row's worth of any rows
	row = a.op(words, "mad.lo.u32", a.lane, fmt.Sprint(2*a.keyRow(a.VWidth)), row)
	for half := range 2 {
		at := a.op(words, "add.u32", row, fmt.Sprint(half*a.keyRow(a.VWidth)))
		a.For(a.Const(flat.I32, 0), a.Const(flat.I32, uint64(a.VWidth/8)), 1, false, func(flat.Value) {
			r := []string{a.reg(words), a.reg(words), a.reg(words), a.reg(words)}
			a.line("ld.shared.v4.b32 {%s, %s, %s, %s}, [%s]", r[0], r[1], r[2], r[3], at)
			for _, x := range r {
				carry := a.op(words, "add.u32", a.op(words, "and.b32", x, exponent), lowest)
				a.line("or.b32 %s, %s, %s", found, found, carry)
			}
			a.line("add.u32 %s, %s, 16", at, at)
		})
	}
	none := a.op(predicates, "setp.eq.u32", a.op(words, "and.b32", found, "0x80008000"), "0")
	all := a.reg(predicates)
	a.line("vote.sync.all.pred %s, %s, 0xffffffff", all, none)
	return all
}

// addSome is addValues where values are infinite or NaN and rows do not see all
// keys. Rows that do have the sums that they have in any tile; others take the
// keys that they see one by one. Queries and sums lie in memory of the thread
// meanwhile, as the assembler has no registers to do without them.
func (a *attend) addSome(all []weights, at, behind string) {
	a.addTotals(all)
	var whole [2]string
	for r, seen := range a.rowOf {
		whole[r] = a.op(predicates, "setp.le.s32", behind, seen.to)
		whole[r] = a.op(predicates, "and.pred", whole[r], a.op(predicates, "setp.le.s32", seen.from, at))
	}
	own := a.memory[a.Private(ir.F32, 4*(len(a.sum)+len(a.q))).ID].base
	a.aside("st", own)
	from, to, grouped := "", a.op(longs, "mov.u64", own), ""
	if a.grouped {
		grouped = a.groupedAside(all)
	} else {
		from = a.valueRow()
	}
	a.For(a.Const(flat.I32, 0), a.Const(flat.I32, uint64(a.VWidth/16)), 1, false, func(j flat.Value) {
		if a.grouped {
			from = a.valuePattern(a.name(j))
		}
		var sum [2][4]string // of 16 lanes
		load := func(n int, from string) (sum [4]string) {
			for i := range sum {
				sum[i] = a.reg(singles)
			}
			a.line("ld.local.v4.f32 {%s}, [%s+%d]", strings.Join(sum[:], ", "), from, 16*n)
			return sum
		}
		for n := range sum {
			sum[n] = load(n, to)
		}
		for n := range sum {
			a.chosen(sum[n], whole, func(to [4]string) {
				if a.grouped {
					for i, x := range load(n, grouped) {
						a.line("mov.f32 %s, %s", to[i], x)
					}
					return
				}
				for i, w := range all {
					a.times(to, w, a.values(from, i, 0)[2*n:][:2])
				}
			})
		}
		for i, w := range all {
			a.oneByOne(sum, w, whole, i, from, at)
		}
		for n := range sum {
			a.line("st.local.v4.f32 [%s+%d], {%s}", to, 16*n, strings.Join(sum[n][:], ", "))
		}
		if a.grouped {
			a.line("add.u64 %s, %s, 32", grouped, grouped)
		} else {
			a.line("add.u32 %s, %s, 32", from, from)
		}
		a.line("add.u64 %s, %s, 32", to, to)
	})
	a.aside("ld", own)
}

// groupedAside stores what sums are when groups of warps add the weighted values of
// all keys.
func (a *attend) groupedAside(all []weights) (at string) {
	a.addByGroups(all)
	at = a.op(longs, "mov.u64", a.memory[a.Private(ir.F32, 4*len(a.sum)).ID].base)
	for n, s := range a.sum {
		a.line("st.local.v4.f32 [%s+%d], {%s}", at, 16*n, strings.Join(s[:], ", "))
	}
	return at
}

// oneByOne adds the values of the i-th 16 keys to sums of 16 lanes, in rows that
// see some of the block.
func (a *attend) oneByOne(sum [2][4]string, w weights, whole [2]string, i int, from, at string) {
	a.For(a.Const(flat.I32, 0), a.Const(flat.I32, 16), 1, false, func(key flat.Value) {
		k := a.name(key)
		var seen [2]string
		place := a.op(words, "add.u32", a.op(words, "add.u32", at, fmt.Sprint(16*i)), k)
		for r, s := range a.rowOf {
			seen[r] = a.op(predicates, "setp.lt.s32", place, s.to)
			seen[r] = a.op(predicates, "and.pred", seen[r], a.op(predicates, "setp.le.s32", s.from, place))
			seen[r] = a.op(predicates, "and.pred", seen[r], a.op(predicates, "not.pred", whole[r]))
		}
		one, y := a.oneKey(k), a.values(from, i, 0)
		for n := range y {
			y[n] = a.op(words, "and.b32", y[n], one[n%2])
		}
		for n := range sum {
			a.chosen(sum[n], seen, func(to [4]string) { a.times(to, w, y[2*n:][:2]) })
		}
	})
}

// aside stores or loads sums and, behind them, queries.
func (a *attend) aside(way, own string) {
	move := func(kind string, n int, r []string) {
		place, list := fmt.Sprintf("[%s+%d]", own, 16*n), "{"+strings.Join(r, ", ")+"}"
		if way == "st" {
			place, list = list, place
		}
		a.line("%s.local.v4.%s %s, %s", way, kind, list, place)
	}
	for n, s := range a.sum {
		move("f32", n, s[:])
	}
	for n, q := range a.q {
		move("b32", len(a.sum)+n, q)
	}
}

// chosen adds to sums in the rows that predicates say.
func (a *attend) chosen(sum [4]string, rows [2]string, add func(sum [4]string)) {
	var all [4]string
	for n, x := range sum {
		all[n] = a.copied(flat.F32, x)
	}
	add(all)
	for n, x := range sum {
		a.line("selp.f32 %s, %s, %s, %s", x, all[n], x, rows[n/2])
	}
}

// oneKey is masks for both halves of the values of 16 keys that leave the k-th.
func (a *attend) oneKey(k string) (masks [2]string) {
	pair := a.op(words, "and.b32", a.lane, "3")
	odd := a.op(predicates, "setp.eq.u32", a.op(words, "and.b32", k, "1"), "1")
	bits := a.op(words, "selp.b32", "0xffff0000", "0xffff", odd)
	at := a.op(words, "shr.u32", k, "1")
	for half := range masks {
		here := a.op(predicates, "setp.eq.u32", at, a.op(words, "add.u32", pair, fmt.Sprint(4*half)))
		masks[half] = a.op(words, "selp.b32", bits, "0", here)
	}
	return masks
}

// resultRow is elements from row to row of results in shared memory: so many that
// the lanes of a warp write to banks of their own.
func resultRow(width int) int { return width + 8 }

// finish divides sums and hands results over, lanes side by side taking those
// side by side: they go through shared memory, 8 rows of each warp at a time.
func (a *attend) finish() {
	a.logsumexps()
	own := a.op(words, "mad.lo.u32", a.warp, fmt.Sprint(8*4*resultRow(a.VWidth)), a.near)
	to := a.op(words, "mad.lo.u32", a.op(words, "shr.u32", a.lane, "2"), fmt.Sprint(4*resultRow(a.VWidth)), own)
	to = a.op(words, "mad.lo.u32", a.op(words, "and.b32", a.lane, "3"), "8", to)
	first := a.op(longs, "cvt.u64.u32", a.op(words, "mul.lo.u32", a.warp, fmt.Sprint(attendRows)))
	begin := a.Op(flat.Add, flat.I64, a.From, a.value(flat.I64, first))
	rows := a.op(longs, "min.s64", a.register(a.Op(flat.Sub, flat.I64, a.To, begin)), fmt.Sprint(attendRows))
	left := a.op(words, "cvt.u32.u64", rows)
	for r := range 2 {
		a.line("bar.sync 0")
		a.divided(r, to)
		a.line("bar.sync 0")
		here := a.Op(flat.Add, flat.I64, begin, a.Const(flat.I64, uint64(8*r)))
		end := a.op(words, "min.s32", a.op(words, "sub.u32", left, fmt.Sprint(8*r)), "8")
		for part := 0; part < a.VWidth; part += 32 {
			lane := a.op(words, "add.u32", a.lane, fmt.Sprint(part))
			from := a.op(words, "mad.lo.u32", lane, "4", own)
			hand := func() {
				a.inBatches("0", end, 1, []int{8, 1}, func(row string) {
					f := a.Op(flat.Add, flat.I64, here, a.value(flat.I64, a.op(longs, "cvt.u64.u32", row)))
					x := a.op(singles, "ld.shared.f32", "["+a.op(words, "mad.lo.u32", row, fmt.Sprint(4*resultRow(a.VWidth)), from)+"]")
					a.Finish(f, a.value(flat.I64, a.op(longs, "cvt.u64.u32", lane)), a.value(flat.F32, x))
				})
			}
			if part+32 <= a.VWidth {
				hand()
				continue
			}
			a.If(a.value(flat.Bool, a.op(predicates, "setp.lt.u32", lane, fmt.Sprint(a.VWidth))), hand)
		}
	}
}

// divided stores the sums of row r of the lane's two, divided by their total.
func (a *attend) divided(r int, to string) {
	total := a.total[2*r]
	none := a.op(predicates, "setp.eq.f32", total, constant(0))
	reciprocal := a.inverse(total)
	less := a.op(singles, "neg.f32", total)
	for j, s := range a.sum {
		var x [2]string
		for n := range x {
			x[n] = a.op(singles, "selp.f32", constant(0), a.quotient(s[2*r+n], less, reciprocal), none)
		}
		a.line("st.shared.v2.f32 [%s+%d], {%s, %s}", to, 32*j, x[0], x[1])
	}
}

// quotient is x/y for a y of about 1 or more, rounded correctly unless x is below
// 2^-100, whose remainder may be cut: then it may be an ulp off (see Markstein,
// "Computation of elementary functions on the IBM RISC System/6000", on the
// remainder of a quotient by a rounded reciprocal). less is -y. An infinite x has no
// remainder. Zeros are 0, as a weight of 0 may have made a sum of -0 one of 0,
// depending on the tile.
func (a *attend) quotient(x, less, reciprocal string) string {
	q := a.op(singles, "fma.rn.f32", x, reciprocal, constant(0))
	rest := a.op(singles, "fma.rn.f32", q, less, x)
	finite := a.op(predicates, "setp.lt.f32", a.op(singles, "abs.f32", q), "0f7F800000")
	return a.op(singles, "selp.f32", a.op(singles, "fma.rn.f32", rest, reciprocal, q), q, finite)
}

// logsumexps hands those over.
func (a *attend) logsumexps() {
	if a.Sums == nil {
		return
	}
	leads := a.value(flat.Bool, a.op(predicates, "setp.eq.u32", a.op(words, "and.b32", a.lane, "3"), "0"))
	mine := a.op(words, "mad.lo.u32", a.warp, fmt.Sprint(attendRows), a.op(words, "shr.u32", a.lane, "2"))
	for r, total := range a.exact {
		for _, apart := range []string{"1", "2"} {
			total = a.op(singles, "add.rn.f32", total, a.across(total, apart))
		}
		peak := a.peak[r]
		if a.plain {
			peak = a.op(singles, "mul.rn.f32", peak, constant(a.Attr.Scale))
		}
		none := a.op(predicates, "setp.eq.f32", total, constant(0))
		sum := a.op(singles, "add.rn.f32", peak, a.name(a.Scored(a.Log, a.value(flat.F32, total))))
		sum = a.op(singles, "selp.f32", "0fFF800000", sum, none)
		f := a.Op(flat.Add, flat.I64, a.From, a.value(flat.I64, a.op(longs, "cvt.u64.u32", a.op(words, "add.u32", mine, fmt.Sprint(8*r)))))
		a.If(a.Op(flat.And, flat.Bool, leads, a.Op(flat.Less, flat.Bool, f, a.To)), func() { a.FinishSum(f, a.value(flat.F32, sum)) })
	}
}
