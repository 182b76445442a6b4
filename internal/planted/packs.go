package planted

// packDefects are in kernels whose threads have several elements side by side, and
// in what the first GPU found.
var packDefects = []Defect{
	packDefect("packs-words-of-narrower-elements", "internal/emit/flat/wide_store.go", `part{from, i * bits, bits}`, `part{from, i * bits, w.parts[x.ID].bits}`),
	packDefect("packs-rest-of-others", "internal/loop/pack.go", `from := AddIndex(at, MulIndex(turns, Int(b.Width)))`, `from := AddIndex(at, MulIndex(turns, Int(b.Each)))`),
	packDefect("packs-first-word-alone", "internal/emit/flat/wide.go", `w.words[l.Group] = words`, `w.words[l.Group] = append(words[:1:1], words[1:]...)[:1]`),
	packDefect("packs-stores-of-eight-bytes", "internal/emit/entry/wide_store.go", `size > 4 || n < 2`, `n < 2`),
	packDefect("packs-pairs-exchanged", "internal/emit/flat/wide_store.go", `w.roundedPair(all[1], all[0])`, `w.roundedPair(all[0], all[1])`),
	packDefect("packs-lower-halves-widened", "internal/emit/flat/round.go", `w.Const(I32, 0xffff0000)`, `w.Const(I32, 0xffffffff)`),
	{
		Name: "compiled-on-several-threads", File: "internal/device/cuda/cu/module.go", Old: `	if err := c.enter(); err != nil {
		return nil, err
	}
	defer c.leave()
	l := new(LinkID)`, New: `	l := new(LinkID)`,
		Package: "internal/device/cuda", Run: "TestProgramsAreKept|TestInOrder",
	},
	{
		Name: "mixed-bytes-of-an-older-version", File: "internal/emit/ptx/warpgroup.go", Old: `!(mixed && t.NoMixed) &&`, New: `(mixed || !mixed) &&`,
		Package: "internal/emit/ptx", Run: "TestGroupsWhere",
	},
	{
		Name: "rows-behind-the-batch", File: "internal/emit/ptx/batches.go", Old: `fmt.Sprint((n-1)*step)) }`, New: `fmt.Sprint((n-2)*step)) }`,
		Package: "internal/emit/ptx", Run: "Group|Product",
	},
	{
		Name: "weights-kept-threefold", File: "internal/schedule/constants.go", Old: `const maxCopied = 4`, New: `const maxCopied = 3`,
		Package: "internal/schedule", Run: "TestComputedOnce",
	},
	{
		Name: "weights-of-few-rows-kept", File: "internal/schedule/roots.go", Old: `w == nil || !s.opt.Unpacked || !manyRows(n) ||`, New: `w == nil || !s.opt.Unpacked ||`,
		Package: "internal/schedule", Run: "TestComputedOnce|TestRoundedOnce",
	},
}

// epilogueDefects are in results of products that are finished for several columns at
// once, in how wide their blocks are, and in divisions.
var epilogueDefects = []Defect{
	epilogueDefect("epilogue-columns-turned", "internal/emit/flat/block.go", `w.once[p.Acc[i]] = w.cast(sum`, `w.once[p.Acc[len(sums)-1-i]] = w.cast(sum`),
	epilogueDefect("epilogue-column-for-pack", "internal/emit/flat/block.go", `row, w.high(col, p.Each)`, `row, col`),
	epilogueDefect("epilogue-columns-left-over", "internal/emit/entry/packed.go", `n == 0 || n > 1 && !loop.Multiple(l.Hi, n); bytes`, `n == 0; bytes`),
	epilogueDefect("epilogue-each-second-line", "internal/emit/ptx/tensor_finish.go", `t.inBatches(line, end, tensorItems/across,`, `t.inBatches(line, end, 2*tensorItems/across,`),
	epilogueDefect("epilogue-lines-left-out", "internal/emit/ptx/warpgroup_finish.go", `lines := wgmmaItems / across`, `lines := wgmmaItems/across + 1`),
	{Name: "forms-copied-beyond-the-stage", File: "internal/emit/ptx/warpgroup.go", Old: `(deep || f.cols%128 == 0) &&`, New: `(deep || !deep) &&`, Package: "internal/emit/ptx", Run: "TestGroup"},
	{Name: "panels-by-a-power-of-two", File: "internal/emit/flat/product.go", Old: `if n&(n-1) != 0 {`, New: `if n < 0 {`, Package: "internal/emit/ptx", Run: "TestGroup"},
	{Name: "division-by-the-dividend", File: "internal/emit/ptx/divide.go", Old: `b.op(longs, "or.b64", x, y), "32")`, New: `x, "32")`, Package: "internal/emit/ptx", Run: "TestDivisions"},
	{Name: "division-with-a-sign", File: "internal/emit/ptx/divide.go", Old: `flat.DivS: flat.DivU,`, New: `flat.DivS: flat.DivS,`, Package: "internal/emit/ptx", Run: "TestDivisions"},
	inlineDefect("division-short-of-the-quotient", "divide.go", `by-left <= 1<<(n-1)`, `by-left <= 1<<n`, "TestReciprocal"),
	inlineDefect("division-without-its-highest-bit", "divide.go", `bits.Div64(1<<n-by, 0, by)`, `bits.Div64(1<<(n-1), 0, by)`, "TestReciprocal"),
	inlineDefect("division-by-less-than-0", "divide.go", `if below && op == flat.DivS {`, `if below && op == flat.RemS {`, "TestDivideBy"),
	inlineDefect("inline-quotient-of-0", "inline.go", `b.op(doubles, "abs.f64", q), double(0))`, `b.op(doubles, "abs.f64", q), double(-1))`, "TestInlineRounding"),
	inlineDefect("inline-quotient-off-by-its-rest", "inline.go", `b.op(doubles, "fma.rn.f64", less, q, n), better, q)`, `b.op(doubles, "fma.rn.f64", less, q, n), double(0), q)`, "TestInlineRounding"),
	inlineDefect("inline-root-off-by-its-rest", "inline.go", `b.op(doubles, "neg.f64", g), g, n), h, g)`, `b.op(doubles, "neg.f64", g), g, n), double(0), g)`, "TestInlineRounding"),
	inlineDefect("groups-call-functions", "inline.go", `return b.target.Dynamic(b.kernel) == 0 }`, `return b.kernel != nil }`, "TestGroupLayers"),
	{Name: "interpreter-takes-calls-beside-wgmma", File: "internal/emit/ptx/ptxsim/parse.go", Old: `if !slices.ContainsFunc(p.body, multiplies) {`, New: `if slices.ContainsFunc(p.body, multiplies) {`, Package: "internal/emit/ptx/ptxsim", Run: "TestRefuses"},
	{Name: "batches-out-of-order", File: "embed/split.go", Old: `c.one(ctx, b, &done[i]); err != nil {
				cancel(err)`, New: `c.one(ctx, b, &done[len(done)-1-i]); err != nil {
				cancel(err)`, Package: "embed", Run: "TestBatches"},
	{Name: "batches-one-by-one", File: "embed/split.go", Old: `c.ahead > 1 &&`, New: `c.ahead > 2 &&`, Package: "embed", Run: "TestBatches"},
}

func inlineDefect(name, file, before, after, run string) Defect {
	return Defect{Name: name, File: "internal/emit/ptx/" + file, Old: before, New: after, Package: "internal/emit/ptx", Run: run}
}

func epilogueDefect(name, file, before, after string) Defect {
	return Defect{Name: name, File: file, Old: before, New: after, Package: "internal/emit/ptx", Run: "TestPacked|TestGroups$|TestProducts"}
}

func packDefect(name, file, before, after string) Defect {
	return Defect{Name: name, File: file, Old: before, New: after, Package: "internal/emit/ptx", Run: "TestPacks"}
}
