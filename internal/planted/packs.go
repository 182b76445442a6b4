package planted

// packDefects are in kernels whose threads have several elements side by side, and
// in what the first GPU found.
var packDefects = []Defect{
	packDefect("packs-words-of-narrower-elements", "internal/emit/flat/wide_store.go", `part{from, i * bits, bits}`, `part{from, i * bits, w.parts[x.ID].bits}`),
	packDefect("packs-rest-of-others", "internal/loop/pack.go", `from := AddIndex(at, MulIndex(turns, Int(b.Width)))`, `from := AddIndex(at, MulIndex(turns, Int(b.Each)))`),
	packDefect("packs-first-word-alone", "internal/emit/flat/wide.go", `w.words[l.Group] = words`, `w.words[l.Group] = append(words[:1:1], words[1:]...)[:1]`),
	packDefect("packs-unaligned", "internal/loop/pack.go", `p.longest < n*items || !p.aligned(n)`, `p.longest < n*items`),
	packDefect("packs-stores-while-others-read", "internal/loop/pack.go", `for n > 1 && (p.longest > 0`, `for n > 9 && (p.longest > 0`),
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
		Name: "mixed-bytes-of-an-older-version", File: "internal/emit/ptx/target.go", Old: `return "8.4"`, New: `return "8.0"`,
		Package: "internal/emit/ptx", Run: "Group",
	},
	{
		Name: "rows-behind-the-batch", File: "internal/emit/ptx/batches.go", Old: `fmt.Sprint((n-1)*step)) }`, New: `fmt.Sprint((n-2)*step)) }`,
		Package: "internal/emit/ptx", Run: "Group|Product",
	},
	{
		Name: "weights-kept-eightfold", File: "internal/schedule/constants.go", Old: `const maxCopied = 4`, New: `const maxCopied = 8`,
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
