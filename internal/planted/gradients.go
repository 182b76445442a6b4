package planted

// gradientDefects are in the gradient of attention.
var gradientDefects = []Defect{
	{
		Name: "gradient-of-unscaled-scores", File: "internal/template/attention_grad.go",
		Old:     "p.number(0), p.op(ir.Mul, ds, scale))",
		New:     "p.number(0), ds)",
		Package: "internal/device/cpu", Run: "TestGradientForms", Needs: machineCode,
	},
	{
		Name: "slope-of-cap-forgotten", File: "internal/template/attention_grad.go",
		Old:     "if slope != nil {",
		New:     "if slope == nil && limit != 0 {",
		Package: "internal/device/cpu", Run: "TestGradientForms", Needs: machineCode,
	},
	{
		Name: "rows-that-see-nothing-weigh", File: "internal/template/attention_grad.go",
		Old:     "return loop.Apply(ir.Where, x.DType, none, loop.Const(x.DType, 0), x)",
		New:     "return loop.Apply(ir.Where, x.DType, none, x, x)",
		Package: "internal/device/cpu", Run: "TestGradientForms", Needs: machineCode,
	},
	{
		Name: "hidden-pairs-not-cleared", File: "internal/template/attention_grad_parts.go",
		Old:     "stores(to, b.size(EndCol), c.number(0), c.number(0))",
		New:     "stores(to, to, c.number(0), c.number(0))",
		Package: "internal/device/cpu", Run: "TestGradientForms|TestGradientLong", Needs: machineCode,
	},
	{
		Name: "weights-of-another-sequence", File: "internal/template/attention_grad_parts.go",
		Old:     "loop.AddIndex(b.size(RowsBefore), t.I.Ref())",
		New:     "loop.AddIndex(b.size(FirstRow), t.I.Ref())",
		Package: "internal/device/cpu", Run: "TestGradientForms", Needs: machineCode,
	},
	{
		Name: "queries-aligned-at-start", File: "internal/device/cpu/attention_grad_run.go",
		Old:     "own := j + n - (c.k1 - c.k0)",
		New:     "own := j",
		Package: "internal/device/cpu", Run: "TestGradientForms|TestGradientLong", Needs: machineCode,
	},
	{
		Name: "window-forward-off-by-one", File: "internal/device/cpu/attention_grad_run.go",
		Old:     "r.to = own + a.Window",
		New:     "r.to = own + a.Window - 1",
		Package: "internal/device/cpu", Run: "TestGradientForms|TestGradientLong", Needs: machineCode,
	},
	{
		Name: "window-backward-off-by-one", File: "internal/device/cpu/attention_grad_run.go",
		Old:     "r.from = own + 1 - a.Window",
		New:     "r.from = own + 2 - a.Window",
		Package: "internal/device/cpu", Run: "TestGradientForms|TestGradientLong", Needs: machineCode,
	},
	{
		Name: "block-taken-for-whole", File: "internal/device/cpu/attention_grad_run.go",
		Old:     "visible(a, b.sequenceRows, b.queries.from).to >= b.keys.to",
		New:     "visible(a, b.sequenceRows, b.queries.to-1).to >= b.keys.to",
		Package: "internal/device/cpu", Run: "TestGradientUnseen", Needs: machineCode,
	},
	{
		Name: "infinite-rows-unseen", File: "internal/device/cpu/attention_grad_run.go",
		Old:     "if !b.whole && !s.finite(w, rows, width) {",
		New:     "if b.whole && !s.finite(w, rows, width) {",
		Package: "internal/device/cpu", Run: "TestGradientUnseen", Needs: machineCode,
	},
	{
		Name: "infinite-keys-unseen", File: "internal/device/cpu/attention_grad_run.go",
		Old:     "if !b.whole && !s.finite(w, rows, s.work.Width) {",
		New:     "if b.whole && !s.finite(w, rows, s.work.Width) {",
		Package: "internal/device/cpu", Run: "TestGradientUnseen", Needs: machineCode,
	},
	{
		Name: "query-gradients-not-cleared", File: "internal/device/cpu/attention_grad_run.go",
		Old: `	clear(unsafe.Slice((*float32)(w.dq), group*queries*s.wide))
`,
		New:     "",
		Package: "internal/device/cpu", Run: "TestGradientForms|TestGradientLong", Needs: machineCode,
	},
	{
		Name: "key-gradients-not-cleared", File: "internal/device/cpu/attention_grad_rows.go",
		Old: `	clear(unsafe.Slice((*float32)(w.dk), n*s.wide))
`,
		New:     "",
		Package: "internal/device/cpu", Run: "TestGradientForms|TestGradientLong", Needs: machineCode,
	},
	{
		Name: "infinite-queries-in-place", File: "internal/device/cpu/attention_grad_rows.go",
		Old:     "if s.finite(w, o.rows, o.width) {",
		New:     "if s.finite(w, o.rows, o.width) || true {",
		Package: "internal/device/cpu", Run: "TestGradientInPlace", Needs: machineCode,
	},
	{
		Name: "sums-of-another-head", File: "internal/device/cpu/attention_grad_run.go",
		Old:     "4*s.wide*(b.group*(b.q1-b.q0)+b.queries.from)",
		New:     "4*s.wide*b.queries.from",
		Package: "internal/device/cpu", Run: "TestGradientForms|TestGradientLong", Needs: machineCode,
	},
	{
		Name: "logsumexp-without-gradient", File: "internal/grad/attention.go",
		Old: `		delta = m.op(ir.Sub, delta, d[1])
`,
		New: `		delta = m.op(ir.Add, delta, d[1])
`,
		Package: "internal/grad", Run: "TestRandomGraphs",
	},
	{
		Name: "definition-forgets-delta", File: "internal/ir/define_attention_grad.go",
		Old:     "a.add(Sub, Attr{}, asked, delta)",
		New:     "asked",
		Package: "internal/device/interp", Run: "TestDefinitionOfAttentionGrad",
	},
	{
		Name: "phases-meet-a-place-late", File: "internal/ir/conv_transposed.go",
		Old:     "f.before = (f.taps-1)*f.apart + offset - first",
		New:     "f.before = (f.taps-1)*f.apart + offset - min(first, 1)",
		Package: ".", Run: "TestConvTransposed",
	},
	{
		Name: "phases-of-dilated-kernels-join", File: "internal/ir/conv_transposed.go",
		Old:     "f.taps && dilation == 1 {",
		New:     "f.taps && dilation <= 2 {",
		Package: ".", Run: "TestConvTransposed",
	},
	{
		Name: "padding-beyond-all-places", File: "internal/ir/conv_transposed.go",
		Old:     "more > 0 {\n\t\twhole",
		New:     "more > 9 {\n\t\twhole",
		Package: ".", Run: "TestConvTransposed",
	},
	{
		Name: "joined-products-not-turned", File: "internal/grad/products.go",
		Old:     "if all[0].turned {",
		New:     "if all[0].turned && len(all) > 9 {",
		Package: ".", Run: "TestGradientOfSteps",
	},
	{
		Name: "joined-products-of-columns-turned", File: "internal/grad/products.go",
		Old:     "columns = columns && turned(p.left)",
		New:     "columns = columns || turned(p.left)",
		Package: ".", Run: "TestGradientOfSteps|TestReferenceOperators",
	},
}
