package planted

// gradientTileDefects are in the gradient of attention by tiles, on devices of
// work-groups. The tests compare tiles with loops, and barriers with need.
var gradientTileDefects = []Defect{
	{
		Name: "queries-of-a-key-shifted", File: "internal/template/attention_grad_tiles.go",
		Old:     "from = low(own)",
		New:     "from = low(loop.AddIndex(own, loop.Int(1)))",
		Package: "internal/template", Run: "TestGradientTiles",
	},
	{
		Name: "window-of-a-key-too-long", File: "internal/template/attention_grad_tiles.go",
		Old:     "loop.AddIndex(own, loop.Int(w))",
		New:     "loop.AddIndex(own, loop.Int(w+1))",
		Package: "internal/template", Run: "TestGradientTiles",
	},
	{
		Name: "keys-aligned-at-start-in-tiles", File: "internal/template/attention_grad_tiles.go",
		Old:     "own := loop.SubIndex(loop.AddIndex(j, c.qLen), c.kLen)",
		New:     "own := j",
		Package: "internal/template", Run: "TestGradientTiles",
	},
	{
		Name: "queries-of-one-head", File: "internal/template/attention_grad_tiles.go",
		Old:     "return loop.MulIndex(c.qLen, loop.Int(c.group))",
		New:     "return c.qLen",
		Package: "internal/template", Run: "TestGradientTiles",
	},
	{
		Name: "tile-seen-by-its-first-row", File: "internal/template/attention_grad_tiles.go",
		Old:     "allFrom, to := c.partners(loop.AddIndex(s.to, loop.Int(-1)))",
		New:     "allFrom, to := c.partners(s.from)",
		Package: "internal/template", Run: "TestGradientTiles",
	},
	{
		Name: "block-without-its-last-columns", File: "internal/template/attention_grad_tiles.go",
		Old:     "end.Local.Ref(), begin.Local.Ref()), loop.Int(c.tile.Cols-1))",
		New:     "end.Local.Ref(), begin.Local.Ref()), loop.Int(0))",
		Package: "internal/template", Run: "TestGradientTiles",
	},
	{
		Name: "sums-of-the-block-before", File: "internal/template/attention_grad_tiles.go",
		Old:     "c.bringSums(it, loop.AddIndex(at, loop.Int(c.tile.Cols)), ",
		New:     "c.bringSums(it, at, ",
		Package: "internal/template", Run: "TestGradientTiles",
	},
	{
		Name: "blind-queries-are-brought", File: "internal/template/attention_grad_tiles.go",
		Old: `				if queries {
					there`,
		New: `				if !queries {
					there`,
		Package: "internal/emit/flat", Run: "TestAttentionGrad$",
	},
	{
		Name: "pairs-behind-the-last-weigh", File: "internal/template/attention_grad_tiles_pair.go",
		Old:     "below := loop.Apply(ir.Less, ir.Bool, p, end.Local.Ref())",
		New:     "below := loop.Apply(ir.Less, ir.Bool, p, loop.AddIndex(end.Local.Ref(), loop.Int(1)))",
		Package: "internal/template", Run: "TestGradientTiles",
	},
	{
		Name: "infinite-rows-of-others-in-tiles", File: "internal/template/attention_grad_tiles_pair.go",
		Old:     "sum = c.op(ir.Where, seen, sum, before)",
		New:     "sum = c.op(ir.Where, seen, sum, sum)",
		Package: "internal/emit/flat", Run: "TestAttentionGrad$",
	},
	{
		Name: "blind-queries-get-a-gradient", File: "internal/template/attention_grad_tiles_pair.go",
		Old:     "sum = c.op(ir.Where, none, c.number(0), sum)",
		New:     "sum = c.op(ir.Where, none, sum, sum)",
		Package: "internal/emit/flat", Run: "TestAttentionGrad$",
	},
	{
		Name: "factors-by-tile-in-sums", File: "internal/template/attention_grad_tiles_pair.go",
		Old:     "return loop.AddIndex(loop.MulIndex(row, loop.Int(c.factorStride())), col)",
		New:     "return loop.AddIndex(loop.MulIndex(row, loop.Int(c.factorStride()-2)), col)",
		Package: "internal/template", Run: "TestGradientTiles",
	},
	{
		Name: "mask-of-another-head", File: "internal/template/attention_grad_tiles_pair.go",
		Old:     "c.Head: c.head(f), c.J: j}",
		New:     "c.Head: c.kvHead, c.J: j}",
		Package: "internal/template", Run: "TestGradientTiles",
	},
	{
		Name: "lanes-that-are-not-there", File: "internal/template/attention_grad_tiles_pair.go",
		Old:     "st.Valid = loop.Apply(ir.Less, ir.Bool, lane, loop.Int(c.widths[i]))",
		New:     "st.Valid = nil",
		Package: "internal/template", Run: "TestGradientTiles",
	},
	{
		Name: "tile-larger-than-shared-memory", File: "internal/template/attention_tiles_group.go",
		Old:     "m.Shared += n * p.DType.Size()",
		New:     "m.Shared = max(m.Shared, n*p.DType.Size())",
		Package: "internal/emit/ptx", Run: "TestAttentionShared",
	},
	{
		Name: "sums-keep-the-sign-of-nothing", File: "internal/template/attention_grad_tiles_pair.go",
		Old:     "sum := c.op(ir.Add, c.get(c.sums[i], it, n), c.number(0))",
		New:     "sum := c.get(c.sums[i], it, n)",
		Package: "internal/emit/flat", Run: "TestAttentionGrad$",
	},
}
