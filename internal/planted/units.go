package planted

// unitDefects are in what runs on units for matrices of NVIDIA's GPUs: attention,
// and products of f32.
var unitDefects = []Defect{
	unitDefect("units-causal-off-by-one", "attend.go", `r.to = a.op(words, "add.u32", at, "1")`, `r.to = a.op(words, "add.u32", at, "0")`),
	unitDefect("units-window-off-by-one", "attend.go", `fmt.Sprint(1-w)`, `fmt.Sprint(-w)`),
	unitDefect("units-whole-block-by-last-row", "attend.go", `full := a.op(predicates, "setp.le.s32", behind, a.first.to)`, `full := a.op(predicates, "setp.le.s32", behind, a.last.to)`),
	unitDefect("units-keys-not-waited-for", "attend.go", `	a.line("cp.async.wait_all")
`, ""),
	unitDefect("units-next-block-not-waited-for", "attend.go", `a.line("cp.async.wait_group 1")`, `a.line("cp.async.wait_group 2")`),
	unitDefect("units-block-left-too-early", "attend.go", `	a.line("bar.sync 0") // both have been multiplied
`, ""),
	unitDefect("units-the-same-block", "attend.go", `	a.exchange(a.here, other)
`, ""),
	unitDefect("units-queries-left-too-early", "attend.go", `	a.line("bar.sync 0") // queries have left shared memory
	behind`, `	behind`),
	unitDefect("units-quotient-of-infinity", "attend_values.go", `a.op(singles, "fma.rn.f32", rest, reciprocal, q), q, finite)`, `a.op(singles, "fma.rn.f32", rest, reciprocal, q), "0f00000000", finite)`),
	unitDefect("units-quotient-not-corrected", "attend_values.go", `a.op(singles, "fma.rn.f32", rest, reciprocal, q), q, finite)`, `a.op(singles, "fma.rn.f32", rest, "0f00000000", q), q, finite)`),
	{Name: "sequences-last-missing", File: "internal/emit/flat/attend.go", Old: `w.least(w.add(found[1], w.int(1)), w.size(r.Batch))`, New: `w.least(found[1], w.size(r.Batch))`, Package: "internal/emit/ptx", Run: "TestAttends"},
	{Name: "sequences-first-too-late", File: "internal/emit/flat/attend.go", Old: `return w.not(w.Op(Less, Bool, first, row(seq))) },`, New: `return w.Op(Less, Bool, row(seq), last) },`, Package: "internal/emit/ptx", Run: "TestAttends"},
	{Name: "sequences-search-stops-early", File: "internal/emit/flat/attend.go", Old: `w.int(1<<steps>>1), i)`, New: `w.int(1<<steps>>3), i)`, Package: "internal/emit/ptx", Run: "TestAttends"},
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
	attendGroupDefect("attend-groups-not-fenced", "attend_groups.go", `	a.line("wgmma.fence.sync.aligned")
	add := never`, `	add := never`),
	attendGroupDefect("attend-groups-freed-too-early", "attend_groups.go", `a.arrive("@"+first+" ", s.phase, true)`, `a.arrive("@"+first+" ", ready.phase, true)`),
	attendGroupDefect("attend-groups-freed-by-the-first-lane", "attend_groups.go", `	a.line("bar.warp.sync 0xffffffff") // who frees the stage knows that all lanes have read it
`, ""),
	attendGroupDefect("attend-groups-copies-not-waited-for", "attend_groups.go", `attendStages-2)`, `attendStages-1)`),
	attendGroupDefect("attend-groups-copies-not-fenced", "attend_groups.go", `		a.line("fence.proxy.async.shared::cta")
`, ""),
	attendGroupDefect("attend-groups-full-stages-not-waited-for", "attend_groups.go", `	a.await(s, false)
`, ""),
	attendGroupDefect("attend-groups-see-as-a-warp", "attend.go", `rows = 4 * attendRows`, `rows = attendRows`),
	attendGroupDefect("attend-groups-pieces-in-order", "attend_fill.go", `a.exchanged(piece, row))`, `a.exchanged(piece, "0"))`),
	attendGroupDefect("attend-groups-lines-of-the-first", "attend_groups.go", `fmt.Sprint(k/parts*farLen>>4)`, `fmt.Sprint(k/parts*0)`),
	attendGroupDefect("attend-groups-values-by-keys", "attend_groups.go", `map[bool]int{false: 1}[deep]`, `map[bool]int{true: 1}[deep]`),
	attendGroupDefect("attend-groups-scores-added", "attend_groups.go", `add := never`, `add := map[bool]string{true: always}[never != ""]`),
	attendGroupDefect("attend-groups-whole-rows-as-before", "attend_values.go", `range load(n, grouped) {`, `range load(n, own) {`),
	attendGroupDefect("attend-groups-half-of-the-keys", "attend_values.go", `row := a.op(words, "and.b32", a.lane, "15")`, `row := a.op(words, "and.b32", a.lane, "7")`),
	unitDefect("units-weights-of-f16-in-order", "attend_weights.go", `range []int{0, 2, 1, 3}`, `range []int{0, 1, 2, 3}`),
	unitDefect("units-values-of-f16-turned", "attend_weights.go", `range []string{low, high}`, `range []string{high, low}`),
	unitDefect("units-f16-weights-not-scaled", "attend_weights.go", `scaled      = 0x1p15`, `scaled      = 1.`),
	unitDefect("units-f16-weight-of-0-times-infinity", "attend_weights.go", `leastScaled = 0x1p-24`, `leastScaled = 0.`),
	unitDefect("units-f16-unseen-weighs-something", "attend_weights.go", `some := a.op(predicates, "setp.neu.f32", w, constant(0))`, `some := a.op(predicates, "setp.neu.f32", w, constant(-1))`),
	unitDefect("units-f16-one-half-twice", "attend.go", `a.mma("m16n8k8", kind, sum, x[2:], y[1:])`, `a.mma("m16n8k8", kind, sum, x[2:], y[:1])`),
	unitDefect("units-f16-copies-behind-the-last", "attend_fill.go", `a.op(predicates, "and.pred", valid, p.mine), list, p.next)`, `a.op(predicates, "and.pred", p.mine, p.mine), list, p.next)`),
	{Name: "half-widened-before-the-product", File: "internal/schedule/roots.go", Old: `!= template.Single, s.takesHalf(n, x, y):`, New: `!= template.Single:`, Package: "internal/emit/ptx", Run: "TestUnitsInPrecision"},
	{Name: "half-weights-rounded-by-each-block", File: "internal/schedule/roots.go", Old: `if !s.constant(y) || y != n.In[1] && s.roundsFirst(n) {`, New: `if !s.constant(y) {`, Package: "internal/emit/ptx", Run: "TestUnitsInPrecision"},
	{Name: "half-widened-before-attention", File: "internal/schedule/roots.go", Old: `if !all && !s.takesHalf(n, in[:3]...) {`, New: `if !all {`, Package: "internal/emit/ptx", Run: "TestAttendsInPrecision"},
	{Name: "units-weights-cut-unasked", File: "internal/emit/ptx/attend.go", Old: `a.DType != ir.F32 || d == ir.F16 && !a.TF32`, New: `a.DType != ir.F32`, Package: "internal/emit/ptx", Run: "TestAttendsInPrecision"},
	{Name: "units-mark-on-no-attention", File: "internal/rewrite/narrow.go", Old: `f.dtype == ir.F16 && n.Op == ir.Attention`, New: `f.dtype == ir.F32 && n.Op == ir.Attention`, Package: "internal/emit/ptx", Run: "TestAttendsInPrecision"},
	productDefect("tf32-not-rounded", "tensor_tf32.go", `all[i] = t.op(words, "cvt.rna.tf32.f32", x)`, `all[i] = x`),
	productDefect("tf32-turned-k-in-one-row", "tensor_tf32.go", `second, third := 4*8, 4*tf32Row`, `second, third := 4*8, 2*tf32Row`),
	productDefect("tf32-columns-in-order-of-rows", "tensor_tf32.go", `		if depthFirst {
			second`, `		if !depthFirst {
			second`),
	productDefect("tf32-unasked", "tensor.go", `	case g.TF32 && t.SM >= 80:`, `	case ct == ir.F32 && t.SM >= 80:`),
	{Name: "tf32-shares-a-kernel", File: "internal/device/launch/compile.go", Old: `fmt.Sprint(k.how(), k.shares, &bare)`, New: `fmt.Sprint(k.shares, &bare)`, Package: "internal/emit/ptx", Run: "TestTF32"},
}

func productDefect(name, file, before, after string) Defect {
	return Defect{Name: name, File: "internal/emit/ptx/" + file, Old: before, New: after, Package: "internal/emit/ptx", Run: "TestProductsTF32|TestTF32"}
}

func unitDefect(name, file, before, after string) Defect {
	return Defect{Name: name, File: "internal/emit/ptx/" + file, Old: before, New: after, Package: "internal/emit/ptx", Run: "TestAttends"}
}

func attendGroupDefect(name, file, before, after string) Defect {
	return Defect{Name: name, File: "internal/emit/ptx/" + file, Old: before, New: after, Package: "internal/emit/ptx", Run: "ByGroups"}
}
