package planted

// unitDefects are in the attention on units for matrices of NVIDIA's GPUs.
var unitDefects = []Defect{
	unitDefect("units-causal-off-by-one", "attend.go", `r.to = a.op(words, "add.u32", at, "1")`, `r.to = a.op(words, "add.u32", at, "0")`),
	unitDefect("units-window-off-by-one", "attend.go", `fmt.Sprint(1-w)`, `fmt.Sprint(-w)`),
	unitDefect("units-whole-block-by-last-row", "attend.go", `full := a.op(predicates, "setp.le.s32", behind, a.first.to)`, `full := a.op(predicates, "setp.le.s32", behind, a.last.to)`),
	unitDefect("units-keys-not-waited-for", "attend.go", `	a.line("cp.async.wait_all")
`, ""),
	unitDefect("units-infinity-unseen", "attend.go", `	a.line("@%s bra %s", a.finite(), usual)
`, `	a.line("bra %s", usual)
`),
	unitDefect("units-key-behind-the-last", "attend_fill.go", `n := a.op(words, "selp.b32", "16", "0", valid)`, `n := a.op(words, "selp.b32", "16", "16", valid)`),
	unitDefect("units-unaligned-copies", "attend_fill.go", `a.op(longs, "and.b64", all, "15")`, `a.op(longs, "and.b64", all, "0")`),
	unitDefect("units-head-of-queries-for-keys", "attend_fill.go", `head := a.op(longs, "mad.lo.u64", a.register(a.KVHead), p.head, p.origin)`, `head := a.op(longs, "mad.lo.u64", a.register(a.Head(a.From)), p.head, p.origin)`),
	unitDefect("units-sums-not-scaled", "attend_weights.go", `append(a.sum[:len(a.sum):len(a.sum)], a.total)`, `append(a.sum[:0:0], a.total)`),
	unitDefect("units-greatest-of-a-lane", "attend_weights.go", `[]string{"1", "2"} { // the lanes of a row`, `[]string{"1"} { // the lanes of a row`),
	unitDefect("units-nan-weighs-nothing", "attend_weights.go", `a.op(singles, "max.NaN.f32", x,`, `a.op(singles, "max.f32", x,`),
	unitDefect("units-nothing-seen", "attend_weights.go", `safe := a.op(singles, "selp.f32", constant(0), a.peak[r], none)`, `safe := a.op(singles, "selp.f32", a.peak[r], a.peak[r], none)`),
	unitDefect("units-far-scores", "attend_weights.go", `const farBase = 0x1p16`, `const farBase = 0x1p126`),
	unitDefect("units-far-sums-not-scaled", "attend_weights.go", `a.op(singles, "sub.rn.f32", old.score, now.score)`, `constant(0)`),
	unitDefect("units-window-wraps", "attend.go", `w := min(a.Attr.Window, 1<<40)`, `w := int(int32(a.Attr.Window))`),
	unitDefect("units-scale-in-logsumexp", "attend_values.go", `	if a.plain {
			peak`, `	if !a.plain {
			peak`),
	unitDefect("units-rows-see-all", "attend_values.go", `whole[r] = a.op(predicates, "setp.le.s32", behind, seen.to)`, `whole[r] = a.op(predicates, "setp.le.s32", at, seen.to)`),
	unitDefect("units-queries-over-sums", "attend_values.go", `move("b32", len(a.sum)+n, q)`, `move("b32", n, q)`),
	unitDefect("units-weights-of-f16-in-order", "attend_weights.go", `range []int{0, 2, 1, 3}`, `range []int{0, 1, 2, 3}`),
	unitDefect("units-values-of-f16-turned", "attend_weights.go", `range []string{low, high}`, `range []string{high, low}`),
}

func unitDefect(name, file, before, after string) Defect {
	return Defect{Name: name, File: "internal/emit/ptx/" + file, Old: before, New: after, Package: "internal/emit/ptx", Run: "TestAttends"}
}
