package planted

// loopDefects are in the transcendental functions, where a digit or a bound is
// wrong, and in the referee and the definitions that all else is compared with.
var loopDefects = []Defect{
	{
		Name: "rows-first-from-lane-0", File: "internal/loop/rows_first.go",
		Old:     "Var: lane, Lo: l.Lo, Hi: l.Hi",
		New:     "Var: lane, Hi: l.Hi",
		Package: "internal/loop", Run: "TestRowsFirst",
	},
	{
		Name: "exp-taylor-coefficient", File: "internal/loop/expand_exp.go",
		Old:     "1, 1, 0x1.fffffcp-2, 0x1.555492p-3,",
		New:     "1, 1, 0x1.fffffcp-2, 0x1.555556p-3,",
		Package: "internal/loop", Run: "TestExpandSampled|TestExpandExact",
	},
	{
		Name: "exp-overflows-early", File: "internal/loop/expand_exp.go",
		Old:     "x = x.atLeast(-115).atMost(89)",
		New:     "x = x.atLeast(-115).atMost(88)",
		Package: "internal/loop", Run: "TestExpandSampled|TestExpandExact",
	},
	{
		Name: "exp-flushes-subnormals", File: "internal/loop/expand_exp.go",
		Old:     "x.atLeast(-115)",
		New:     "x.atLeast(-87)",
		Package: "internal/loop", Run: "TestExpandSampled|TestExpandExact",
	},
	{
		Name: "ln2-low-part-sign", File: "internal/loop/expand_exp.go",
		Old:     "ln2Lo = -0x1.05c61p-29",
		New:     "ln2Lo = 0x1.05c61p-29",
		Package: "internal/loop", Run: "TestExpandSampled|TestExpandExact",
	},
	{
		Name: "tanh-saturates-early", File: "internal/loop/expand_exp.go",
		Old:     "x.abs().atMost(10)",
		New:     "x.abs().atMost(8)",
		Package: "internal/loop", Run: "TestExpandSampled|TestExpandExact",
	},
	{
		Name: "erf-coefficient-digits-swapped", File: "internal/loop/expand_erf.go",
		Old:     "0x1.06eba2p-3",
		New:     "0x1.06eb2ap-3",
		Package: "internal/loop", Run: "TestExpandSampled|TestExpandExact",
	},
	{
		Name: "erf-joins-late", File: "internal/loop/expand_erf.go",
		Old:     "a.less(num(1)).pick(small, large)",
		New:     "a.less(num(1.25)).pick(small, large)",
		Package: "internal/loop", Run: "TestExpandSampled|TestExpandExact",
	},
	{
		Name: "log-of-subnormals", File: "internal/loop/expand_log.go",
		Old:     "tiny.pick(x.num(-lift*unit), x.num(0))",
		New:     "tiny.pick(x.num((1-lift)*unit), x.num(0))",
		Package: "internal/loop", Run: "TestExpandSampled|TestExpandExact",
	},
	{
		Name: "sine-argument-digit", File: "internal/loop/expand_trig.go",
		Old:     "{0x1.b72722p-4, 0x1.529fc2p-33,",
		New:     "{0x1.b72722p-4, 0x1.529fc4p-33,",
		Package: "internal/loop", Run: "TestExpand",
	},
	{
		Name: "sine-of-f64-argument-digit", File: "internal/loop/expand64_trig.go",
		Old:     "{-0x1.596447e493ad5p-5, 0x1.93c439041fe51p-60,",
		New:     "{-0x1.596447e493ad5p-5, 0x1.93c439041fe53p-60,",
		Package: "internal/loop", Run: "TestExpand64",
	},
	{
		Name: "halves-of-27-bits", File: "internal/loop/expand_build.go",
		Old:     "x.bits().plus(long(1 << 26)).and(",
		New:     "x.bits().and(",
		Package: "internal/loop", Run: "TestExpand64",
	},
	{
		Name: "pow-of-f64-in-one-float", File: "internal/loop/expand64_pow.go",
		Old:     "pick(err.plus(y.times(lo)), double(0))",
		New:     "pick(err.plus(lo), double(0))",
		Package: "internal/loop", Run: "TestExpand64Pow",
	},
	{
		Name: "sine-loses-negative-zero", File: "internal/loop/expand_trig.go",
		Old:     "return x.abs().less(x.num(small)).pick(x, sinTurns(x.turns()))",
		New:     "return x.abs().less(x.num(-small)).pick(x, sinTurns(x.turns()))",
		Package: "internal/loop", Run: "TestExpandSampled|TestExpandExact",
	},
	{
		Name: "atan-beyond-one", File: "internal/loop/expand_trig.go",
		Old:     "inverse.pick(rest, y)",
		New:     "inverse.pick(y, rest)",
		Package: "internal/loop", Run: "TestExpandSampled|TestExpandExact",
	},
	{
		Name: "referee-sees-one-key-too-many", File: "internal/device/interp/attention.go",
		Old: `to = own + 1
`,
		New: `to = own + 2
`,
		Package: "internal/device/interp", Run: "TestAttention",
	},
	{
		Name: "definition-of-causal", File: "internal/ir/define_attention.go",
		Old:     "a.not(a.less(k, q), s)",
		New:     "a.less(q, k)",
		Package: "internal/device/interp", Run: "TestDefinitionOfAttention",
	},
	{
		Name: "definition-of-padding", File: "internal/ir/define_product.go",
		Old:     "before[i+2], after[i+2] = N(a.Before[i]), N(a.After[i])",
		New:     "before[i+2], after[i+2] = N(a.After[i]), N(a.Before[i])",
		Package: "internal/device/interp", Run: "TestDefinitionOfConv",
	},
}
