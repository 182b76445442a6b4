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

func packDefect(name, file, before, after string) Defect {
	return Defect{Name: name, File: file, Old: before, New: after, Package: "internal/emit/ptx", Run: "TestPacks"}
}
