package planted

// groupDefects are in the products by groups of warps of NVIDIA's GPUs, and in
// the interpreter that says what is wrong with them.
var groupDefects = []Defect{
	groupDefect("groups-sums-not-fenced", "warpgroup.go", `	w.line("wgmma.fence.sync.aligned")
`, ""),
	groupDefect("groups-not-committed", "warpgroup.go", `	w.line("wgmma.commit_group.sync.aligned")
`, ""),
	groupDefect("groups-free-too-early", "warpgroup.go", `w.line("wgmma.wait_group.sync.aligned 1")`, `w.line("wgmma.wait_group.sync.aligned 2")`),
	groupDefect("groups-last-not-waited-for", "warpgroup.go", `	w.line("wgmma.wait_group.sync.aligned 0")
`, ""),
	groupDefect("groups-wrong-stage-freed", "warpgroup.go", `w.arrive("@"+free+" ", before, true)`, `w.arrive("@"+free+" ", s.phase, true)`),
	groupDefect("groups-parity-stays", "ring.go", `	r.b.line("@%s xor.b32 %s, %s, 1", last, s.parity, s.parity)
`, ""),
	groupDefect("groups-nothing-free-at-first", "warpgroup_fill.go", `s, at := w.slot(1), w.op(words, "mov.u32", "0") // all`, `s, at := w.slot(0), w.op(words, "mov.u32", "0") // all`),
	groupDefect("groups-one-warp-frees", "warpgroup.go", `w.open(full, 2*fillItems/32)`, `w.open(full, 1)`),
	groupDefect("groups-barriers-not-made-for-all", "warpgroup.go", `	b.line("bar.sync 0") // who finishes the block before this one has left shared memory too
	multiplies, done := b.label(), b.label()`, `	multiplies, done := b.label(), b.label()`),
	groupDefect("groups-far-patterns", "pattern.go", `how = swizzled | patternLen>>4<<32 | farLen>>4<<16`, `how = swizzled | farLen>>4<<32 | patternLen>>4<<16`),
	groupDefect("groups-part-of-k", "pattern.go", `step = stepBytes / size * patternRow`, `step = patternLen`),
	groupDefect("groups-rows-of-the-first", "warpgroup.go", `fmt.Sprint(groupStep*patternRow)) // from`, `fmt.Sprint(groupStep*patternRow/2)) // from`),
	groupDefect("groups-turned-by-the-other", "warpgroup.go", `bit[w.x.deep]+", "+bit[w.y.deep]`, `bit[w.y.deep]+", "+bit[w.x.deep]`),
	groupDefect("groups-copies-not-fenced", "warpgroup_fill.go", `	w.line("cp.async.wait_group %d", wgmmaAhead)
	w.line("fence.proxy.async.shared::cta")
`, `	w.line("cp.async.wait_group %d", wgmmaAhead)
`),
	groupDefect("groups-copies-not-waited-for", "warpgroup_fill.go", `w.line("cp.async.wait_group %d", wgmmaAhead)`, `w.line("cp.async.wait_group %d", wgmmaAhead+1)`),
	groupDefect("groups-last-copies-not-waited-for", "warpgroup_fill.go", `	w.line("cp.async.wait_all")
`, ""),
	groupDefect("groups-elements-not-fenced", "warpgroup_fill.go", `	w.line("fence.proxy.async.shared::cta")
	w.arrive("", s.phase, false)
`, `	w.arrive("", s.phase, false)
`),
	groupDefect("groups-rows-behind-the-last", "warpgroup_fill.go", `w.op(predicates, "setp.gt.s32", left, fmt.Sprint(n))`, `w.op(predicates, "setp.ge.s32", left, fmt.Sprint(n))`),
	groupDefect("groups-k-behind-the-last", "warpgroup_fill.go", `rows := w.op(words, "selp.b32", left, "0", inside)`, `rows := w.op(words, "selp.b32", left, left, inside)`),
	groupDefect("groups-columns-behind-the-last", "warpgroup_fill.go", `deep := w.op(words, "selp.b32", deep, "0", inside)`, `deep := w.op(words, "selp.b32", deep, deep, inside)`),
	groupDefect("groups-pieces-in-order", "pattern.go", `other := b.op(words, "and.b32", b.op(words, "xor.b32", piece, row), "7")`, `other := b.op(words, "and.b32", piece, "7")`),
	groupDefect("groups-unaligned-copies", "warpgroup_fill.go", `w.op(longs, "and.b64", bits, "15")`, `w.op(longs, "and.b64", bits, "0")`),
	groupDefect("groups-copies-of-what-is-mapped", "warpgroup_fill.go", `return w.op(longs, "selp.b64", "0", bits, o.mapped)`, `return w.op(longs, "selp.b64", bits, "0", o.mapped)`),
	groupDefect("groups-rows-below-together", "warpgroup_finish.go", `i/2%2*8*w.form.finishRow()`, `i/2%2*4*w.form.finishRow()`),
	{
		Name: "groups-on-an-older-driver", File: "internal/emit/ptx/target.go", Old: `sm == 90 && driver >= groupsDriver`, New: `sm >= 90 && driver >= groupsDriver`,
		Package: "internal/emit/ptx", Run: "TestTargetFor",
	},
	{
		Name: "groups-without-shared-memory", File: "internal/device/cuda/recording.go", Old: `p.backend.target.Dynamic(l.Kernel)`, New: `0`,
		Package: "internal/device/cuda", Run: "TestGroups",
	},
	mapDefect("maps-not-fenced", "warpgroup.go", `	if len(b.kernel.Maps) > 0 { // copies`, `	if len(b.kernel.Maps) > 2 { // copies`),
	mapDefect("maps-of-fewer-bytes", "warpgroup_map.go", `s.phase, phaseOf(false), w.form.stage())`, `s.phase, phaseOf(false), w.form.stage()-16)`),
	mapDefect("maps-awaited-by-all", "warpgroup.go", `full = w.op(words, "selp.b32", "1", full, w.whole)`, `full = w.op(words, "selp.b32", "2", full, w.whole)`),
	mapDefect("maps-bytes-of-one-operand", "warpgroup_map.go", `phaseOf(false), o.wide*patternRow)`, `phaseOf(false), groupRows*patternRow)`),
	mapDefect("maps-one-for-both", "warpgroup_map.go", `o.mapped = w.op(predicates, "setp.ne.u64", w.op(longs, "and.b64", bits, fmt.Sprint(1<<i)), "0")`, `o.mapped = w.op(predicates, "setp.ne.u64", bits, "0")`),
	mapDefect("maps-of-the-first-batch", "warpgroup_map.go", `		m.Batch = apart
`, ""),
	mapDefect("maps-columns-of-the-first", "warpgroup_map.go", `fmt.Sprint(part*patternRow/w.size)), at)`, `"0"), at)`),
	mapDefect("maps-patterns-in-order", "warpgroup_map.go", `part*farLen), s.phase`, `part*patternLen), s.phase`),
	mapDefect("maps-as-wide-as-rows", "warpgroup_map.go", `Inner: o.sizes[0], Outer: o.sizes[1], Apart: o.along`, `Inner: o.sizes[0], Outer: o.sizes[0], Apart: o.along`),
	mapDefect("maps-between-multiples", "warpgroup_map.go", `(address+uint64(m.Offset))%16 != 0`, `address%16 != 0`),
	{
		Name: "maps-of-the-buffer", File: "internal/device/launch/maps.go", Old: `			m.Offset += at.offset
`, New: "", Package: "internal/emit/ptx", Run: "TestGroupMaps",
	},
	{
		Name: "maps-of-memory-before", File: "internal/device/launch/maps.go", Old: `if b.bound[j] == at.mem {`, New: `if b.bound[j] != nil {`,
		Package: "internal/device/cuda", Run: "TestGroupMaps",
	},
	{
		Name: "maps-made-again", File: "internal/device/launch/maps.go", Old: `			b.bound[j] = at.mem
`, New: "", Package: "internal/device/cuda", Run: "TestGroupMaps",
	},
	{
		Name: "maps-not-in-the-graph", File: "internal/device/cuda/recording.go", Old: `r.launches[at].SetMap(arg, encoded) {
		r.changed[at] = true`, New: `r.launches[at].SetMap(arg, encoded) {
		r.changed[at] = r.graph == nil`,
		Package: "internal/device/cuda", Run: "TestGroupMaps",
	},
	{
		Name: "maps-a-driver-does-not-make", File: "internal/device/cuda/backend.go", Old: `api.TensorMapEncodeTiled == nil`, New: `false`,
		Package: "internal/device/cuda", Run: "TestGroups",
	},
	{
		Name: "maps-not-turned-off", File: "internal/device/launch/compile.go", Old: `w.shape.Unmapped = true`, New: `w.shape.Unmapped = w.tuned != nil`,
		Package: "internal/device/cuda", Run: "TestGroups",
	},
	mapSimDefect("interpreter-forgets-bytes", `case p.coming+op.n > p.expected:`, `case p.coming > p.expected:`),
	mapSimDefect("interpreter-copies-at-once", `w.b.shared.arriving(op.at, op.n)`, `_ = op.at`),
	simDefect("interpreter-forgets-fences", "wgmma.go", `v.clock == 0 || v.clock > w.fenced[by]`, `v.clock == 0 || by < 0`),
	simDefect("interpreter-knows-of-all", "shared.go", `return v.clock <= w.seen[v.thread/lanes]`, `return v.clock <= w.seen[v.thread/lanes] || s.seen != nil`),
	simDefect("interpreter-forgets-reads", "shared.go", `s.busy != nil && s.busy[u] > 0`, `s.busy != nil && s.busy[u] > 1<<15`),
}

func groupDefect(name, file, before, after string) Defect {
	return Defect{Name: name, File: "internal/emit/ptx/" + file, Old: before, New: after, Package: "internal/emit/ptx", Run: "TestGroupLayers"}
}

func mapDefect(name, file, before, after string) Defect {
	d := groupDefect(name, file, before, after)
	d.Run = "TestGroups$|TestGroupLayers|TestGroupMixed|TestGroupMaps|TestMappable"
	return d
}

func mapSimDefect(name, before, after string) Defect {
	return Defect{Name: name, File: "internal/emit/ptx/ptxsim/tensor.go", Old: before, New: after, Package: "internal/emit/ptx/ptxsim", Run: "TestTensorCopyRefused"}
}

func simDefect(name, file, before, after string) Defect {
	return Defect{Name: name, File: "internal/emit/ptx/ptxsim/" + file, Old: before, New: after, Package: "internal/emit/ptx", Run: "TestGroupFaults"}
}
