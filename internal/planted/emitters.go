package planted

// emitDefects are in the emitters and the assembler.
var emitDefects = []Defect{
	{
		Name: "whole-above-what-it-truncates", File: "internal/emit/flat/rounding.go",
		Old:     "if op == Trunc {",
		New:     "if op == Round {",
		Package: "internal/emit/flat", Run: "TestRounding",
	},
	{
		Name: "whole-from-a-power-too-small", File: "internal/emit/flat/rounding.go",
		Old:     "limit := f.power(int(f.fraction))",
		New:     "limit := f.power(int(f.fraction) - 1)",
		Package: "internal/emit/flat", Run: "TestRounding",
	},
	{
		Name: "scale-loses-the-odd-power", File: "internal/emit/x86/shift.go",
		Old:     "r(e.v(asm.VPSUBD, r(whole), r(half)))",
		New:     "r(half)",
		Package: "internal/device/cpu", Run: "TestConformance", Needs: machineCode,
	},
	{
		Name: "weave-without-write-after-read", File: "internal/emit/x86/weave.go",
		Old: `				for _, t := range readers[x] {
					follow(t)
				}
`,
		New:     "",
		Package: "internal/emit/x86", Run: "TestMergeKeepsOrder", Needs: machineCode,
	},
	{
		Name: "weave-without-read-after-write", File: "internal/emit/x86/weave.go",
		Old: `				follow(writer[x])
				readers[x] = append`,
		New:     `				readers[x] = append`,
		Package: "internal/emit/x86", Run: "TestMergeKeepsOrder", Needs: machineCode,
	},
	{
		Name: "weave-forgets-cleared-masks", File: "internal/emit/x86/weave.go",
		Old:     "if in.early {",
		New:     "if in.early && in.tied && in.n == 0 {",
		Package: "internal/emit/x86", Run: "TestMergeKeepsOrder", Needs: avx512,
	},
	{
		Name: "tail-mask-one-lane-more", File: "internal/emit/x86/vector.go",
		Old:     "1<<left-1)",
		New:     "1<<left)",
		Package: "internal/emit/x86", Run: "TestRandom$|TestKernels", Needs: avx512,
	},
	{
		Name: "tail-without-identity", File: "internal/emit/x86/local.go",
		Old: `if k := e.Lanes.Tail(u); k != 0 {
			v = e.orIdentity(s.Op, d, k, v)
		}
`,
		New:     "",
		Package: "internal/emit/x86", Run: "TestRandom$|TestKernels", Needs: machineCode,
	},
	{
		Name: "maximum-drops-nan", File: "internal/emit/x86/floats.go",
		Old:     "return e.vMerge(nan, x, f.add, r(a), r(b))",
		New:     "return e.vMerge(nan, x, f.max, r(a), r(b))",
		Package: "internal/emit/x86", Run: "TestRandom$|TestKernels", Needs: avx512,
	},
	{
		Name: "minimum-of-two-zeros", File: "internal/emit/x86/floats.go",
		Old:     "ins, join := f.min, f.or",
		New:     "ins, join := f.min, f.and",
		Package: "internal/device/cpu", Run: "TestConformance/avx2_optimised", Needs: machineCode,
	},
	{
		Name: "clamp-keeps-negative-zero", File: "internal/emit/x86/floats.go",
		Old:     "if bits == 0 {",
		New:     "if bits == f.sign {",
		Package: "internal/emit/x86", Run: "TestRandom$|TestKernels", Needs: machineCode,
	},
	{
		Name: "round-up", File: "internal/emit/x86/floats.go",
		Old:     "return e.round(f, x, 8)",
		New:     "return e.round(f, x, 10)",
		Package: "internal/emit/x86", Run: "TestRandom$|TestKernels", Needs: machineCode,
	},
	{
		Name: "fma-negated-summand", File: "internal/emit/x86/floats.go",
		Old: `				f.negAdd = true
`,
		New: `				f.negMul = !f.negMul
`,
		Package: "internal/emit/x86", Run: "TestRandom$|TestWide", Needs: machineCode,
	},
	{
		Name: "blend-the-other-way", File: "internal/emit/x86/apply.go",
		Old:     "return e.v(asm.VBLENDVPS, r(no), yes, r(k))",
		New:     "return e.v(asm.VBLENDVPS, r(e.inRegister(yes)), r(no), r(k))",
		Package: "internal/emit/x86", Run: "TestRandom$|TestKernels", Needs: machineCode,
	},
	{
		Name: "f16-cut-instead-of-rounded", File: "internal/emit/x86/cast.go",
		Old:     "return e.v(asm.VCVTPH2PS, r(e.vImm(asm.VCVTPS2PH, 0, r(x))))",
		New:     "return e.v(asm.VCVTPH2PS, r(e.vImm(asm.VCVTPS2PH, 3, r(x))))",
		Package: "internal/emit/x86", Run: "TestRandom$|TestKernels", Needs: machineCode,
	},
	{
		Name: "carry-of-positions-subtracted", File: "internal/emit/x86/cast.go",
		Old:     "e.v(asm.VPSUBD, r(e.vImm(asm.VPSHUFD, 0b11_11_01_01, r(x))), r(carry))",
		New:     "e.v(asm.VPADDD, r(e.vImm(asm.VPSHUFD, 0b11_11_01_01, r(x))), r(carry))",
		Package: "internal/emit/x86", Run: "TestCastPositions", Needs: machineCode,
	},
	{
		Name: "random-block-of-the-upper-half", File: "internal/schedule/random.go",
		Old:     "op(ir.Shl, high, u32(30))",
		New:     "op(ir.Shl, high, u32(31))",
		Package: ".", Run: "TestRandomNumbersFarOut",
	},
	{
		Name: "random-numbers-in-32-bits-too-far", File: "internal/schedule/random.go",
		Old:     "most > 1<<32",
		New:     "most > 1<<36",
		Package: ".", Run: "TestRandomNumbersFarOut",
	},
	{
		Name: "bf16-ties-away", File: "internal/emit/x86/cast.go",
		Old:     "bits32(0x7FFF)",
		New:     "bits32(0x8000)",
		Package: "internal/device/cpu", Run: "TestConformance/avx2_optimised", Needs: machineCode,
	},
	{
		Name: "bf16-nan-becomes-infinity", File: "internal/emit/x86/cast.go",
		Old:     "bits32(0x40)",
		New:     "bits32(0)",
		Package: "internal/device/cpu", Run: "TestConformance/avx2_optimised", Needs: machineCode,
	},
	{
		Name: "cast-of-two-to-the-31", File: "internal/emit/x86/cast.go",
		Old: `big := e.compare(asm.VCMPPS, asm.CmpGE, r(x), bits32(two31))
	number`,
		New: `big := e.compare(asm.VCMPPS, asm.CmpGT, r(x), bits32(two31))
	number`,
		Package: "internal/device/cpu", Run: "TestConformance/avx2_optimised", Needs: machineCode,
	},
	{
		Name: "unsigned-compared-as-signed", File: "internal/emit/x86/logic.go",
		Old:     "if d == ir.U32 { // signed order",
		New:     "if d == ir.U64 { // signed order",
		Package: "internal/device/cpu", Run: "TestConformance/avx2_optimised", Needs: machineCode,
	},
	{
		Name: "nan-is-zero", File: "internal/emit/x86/logic.go",
		Old:     "asm.CmpNE, r(e.vec(a, u)), r(e.zero())",
		New:     "asm.CmpLT, r(e.zero()), r(e.vec(a, u))",
		Package: "internal/emit/x86", Run: "TestRandom$|TestKernels", Needs: machineCode,
	},
	{
		Name: "spill-slots-overlap", File: "internal/emit/native/alloc.go",
		Old:     "p.Bytes += bytes[c]",
		New:     "p.Bytes += bytes[c] / 2",
		Package: "internal/emit/x86", Run: "TestRandom$|TestKernels", Needs: machineCode,
	},
	{
		Name: "fma-of-wrong-factors", File: "internal/emit/x86/write.go",
		Old:     "w.a.Op(signs(2), asm.V(d), asm.V(at[1]), last(0))",
		New:     "w.a.Op(signs(2), asm.V(d), asm.V(at[2]), last(0))",
		Package: "internal/emit/x86", Run: "TestRandom$|TestKernels", Needs: machineCode,
	},
	{
		Name: "register-freed-in-a-loop", File: "internal/emit/native/live.go",
		Old:     "l.end[x] = max(l.end[x], ends[s])",
		New:     "l.end[x] = max(l.end[x], min(ends[s], at))",
		Package: "internal/emit/x86", Run: "TestRandom$|TestKernels", Needs: machineCode,
	},
	{
		Name: "destination-overwrites-a-source", File: "internal/emit/x86/vcode.go",
		Old:     "return in.tied || in.early || in.kind == fused",
		New:     "return in.kind == fused",
		Package: "internal/emit/x86", Run: "TestRandom$|TestKernels", Needs: machineCode,
	},
	{
		Name: "source-reused-too-early", File: "internal/emit/native/alloc.go",
		Old:     "if x == 0 || int(s.live.end[x]) != i || s.place[x] < 0 {",
		New:     "if x == 0 || int(s.live.end[x]) > i+1 || s.place[x] < 0 {",
		Package: "internal/emit/x86", Run: "TestRandom$|TestKernels", Needs: machineCode,
	},
	{
		Name: "quotient-cut-not-floored", File: "internal/emit/x86/divide.go",
		Old:     "w.a.J(asm.NOSIGN, done)",
		New:     "w.a.J(asm.SIGN, done)",
		Package: "internal/emit/x86", Run: "TestRandom$|TestKernels", Needs: machineCode,
	},
	{
		Name: "least-number-by-minus-one", File: "internal/emit/x86/divide.go",
		Old:     "e.jumpIf(asm.ULE, done)",
		New:     "e.jumpIf(asm.EQ, done)",
		Package: "internal/device/cpu", Run: "TestConformance/avx2_optimised", Needs: machineCode,
	},
	{
		Name: "masked-store-writes-all-lanes", File: "internal/emit/x86/store.go",
		Old: `	e.do(op, m, r(x)).mask = k
`,
		New: `	e.do(op, m, r(x))
`,
		Package: "internal/emit/x86", Run: "TestRandom$|TestKernels", Needs: avx512,
	},
	{
		Name: "copies-read-the-same-lanes", File: "internal/emit/x86/access.go",
		Old:     "a.From(u*e.wide())",
		New:     "a.From(u)",
		Package: "internal/emit/x86", Run: "TestRandom$|TestKernels", Needs: machineCode,
	},
	{
		Name: "gather-of-wrong-half", File: "internal/emit/x86/wide_mask.go",
		Old:     "in.imm, in.hasImm = 8, true",
		New:     "in.imm, in.hasImm = 4, true",
		Package: "internal/emit/x86", Run: "TestRandom$|TestKernels", Needs: avx512,
	},
	{
		Name: "index-clamped-but-not-told", File: "internal/emit/x86/general.go",
		Old:     "one := e.gImm(asm.MOV, 1)",
		New:     "one := e.gImm(asm.MOV, 0)",
		Package: "internal/emit/x86", Run: "TestRandom$|TestKernels", Needs: machineCode,
	},
	{
		Name: "index-of-size-is-inside", File: "internal/emit/x86/general.go",
		Old:     "e.jumpIf(asm.ULT, inside)",
		New:     "e.jumpIf(asm.ULE, inside)",
		Package: "internal/emit/x86", Run: "TestRandom$|TestKernels", Needs: machineCode,
	},
	{
		Name: "sum-starts-at-positive-zero", File: "internal/emit/native/reduce.go",
		Old:     "math.Copysign(0, -1)",
		New:     "math.Copysign(0, 1)",
		Package: "internal/emit/x86", Run: "TestOddOneOut", Needs: machineCode,
	},
	{
		Name: "every-lane-or-some", File: "internal/emit/x86/reduce.go",
		Old:     "cc = asm.ULT // carry: every lane",
		New:     "cc = asm.NE",
		Package: "internal/emit/x86", Run: "TestOddOneOut", Needs: avx512,
	},
	{
		Name: "streams-parts-of-lines", File: "internal/emit/x86/stream.go",
		Old:     "if !rest.MultipleOf(lineElems) {",
		New:     "if !rest.MultipleOf(1) {",
		Package: "internal/emit/x86", Run: "TestStream", Needs: machineCode,
	},
	{
		Name: "stream-without-fence", File: "internal/emit/x86/write.go",
		Old: `		w.a.Op(asm.SFENCE) // whoever learns that the call is over finds the data
`,
		New:     "",
		Package: "internal/emit/x86", Run: "TestStream", Needs: machineCode,
	},
	{
		Name: "evex-for-low-registers-alone", File: "internal/emit/x86/asm/fit.go",
		Old:     "in.regs[i] > 15",
		New:     "in.regs[i] > 16",
		Package: "internal/emit/x86/asm", Run: "Test",
	},
	{
		Name: "byte-immediate-unsigned", File: "internal/emit/x86/asm/fit.go",
		Old:     "lo, hi = math.MinInt8, math.MaxInt8",
		New:     "lo, hi = math.MinInt8, math.MaxUint8",
		Package: "internal/emit/x86/asm", Run: "Test",
	},
	{
		Name: "closures-sum-from-positive-zero", File: "internal/emit/generic/reduce.go",
		Old:     "math.Copysign(0, -1)",
		New:     "math.Copysign(0, 1)",
		Package: "internal/emit/generic", Run: "Test",
	},
	{
		Name: "closures-maximum-identity", File: "internal/emit/generic/reduce.go",
		Old: `case op == ir.Max && !d.IsUnsigned():
		return top`,
		New: `case op == ir.Max && !d.IsUnsigned():
		return 0`,
		Package: "internal/emit/generic", Run: "Test",
	},
	{
		Name: "closures-product-restarts", File: "internal/emit/generic/gemm.go",
		Old:     "load: accumulate || k > 0",
		New:     "load: accumulate",
		Package: "internal/emit/generic", Run: "Test",
	},
	{
		Name: "closures-last-column", File: "internal/emit/generic/gemm.go",
		Old:     "case j >= n:",
		New:     "case j > n:",
		Package: "internal/emit/generic", Run: "Test",
	},
	{
		Name: "closures-store-ignores-condition", File: "internal/emit/generic/move.go",
		Old:     "inside(first, n, len(p)) && (valid == nil || bytes.IndexByte(valid, 0) < 0)",
		New:     "inside(first, n, len(p)) && (valid == nil || bytes.IndexByte(valid, 1) >= 0)",
		Package: "internal/emit/generic", Run: "Test",
	},
	{
		Name: "loop-of-registers-runs-too-far", File: "internal/emit/x86/vector.go",
		Old:     "e.AddTo(t.Hi, -(step - 1))",
		New:     "e.AddTo(t.Hi, -(step - 2))",
		Package: "internal/emit/x86", Run: "TestRandom$|TestKernels", Needs: machineCode,
	},
	{
		Name: "values-taken-out-of-their-loop", File: "internal/emit/native/node.go",
		Old: `			n.Deps = n.Deps.Or(a.Deps)
`,
		New: `			n.Deps.Vars |= a.Deps.Vars
`,
		Package: "internal/emit/x86", Run: "TestRandom$|TestKernels", Needs: machineCode,
	},
	{
		Name: "load-before-the-store", File: "internal/emit/native/builder.go",
		Old: `	b.Changed(Deps{Params: b.Graph.ParamBit(s.Param)})
`,
		New:     "",
		Package: "internal/emit/x86", Run: "TestLoadsSeeStores", Needs: machineCode,
	},
	{
		Name: "closures-hoist-what-varies", File: "internal/emit/generic/move.go",
		Old:     "if ok && (c.classify(base)|c.classify(stride))&perLane == 0 {",
		New:     "if ok && c.classify(base)&perLane == 0 {",
		Package: "internal/emit/generic", Run: "TestStrideOfItsOwn",
	},
	{
		Name: "closures-where-the-other-way", File: "internal/emit/generic/move.go",
		Old: `if c[i] != 0 {
				v = x[i]`,
		New: `if c[i] > 1 {
				v = x[i]`,
		Package: "internal/emit/generic", Run: "Test",
	},
	{
		Name: "closures-sum-in-another-order", File: "internal/emit/generic/reduce.go",
		Old:     "for n := sumLanes / 2; n >= 1; n /= 2 {",
		New:     "for n := sumLanes / 2; n > 1; n /= 2 {",
		Package: "internal/emit/generic", Run: "Test",
	},
	{
		Name: "fold-of-one-half", File: "internal/emit/x86/reduce.go",
		Old:     "both(e.vImm(asm.VPERM2F128, 0x01, r(x), r(x)))",
		New:     "both(e.vImm(asm.VPERM2F128, 0x00, r(x), r(x)))",
		Package: "internal/emit/x86", Run: "TestRandom$|TestKernels", Needs: machineCode,
	},
	{
		Name: "wide-fold-of-one-half", File: "internal/emit/x86/reduce.go",
		Old:     "both(e.vImm(asm.VSHUFF32X4, 0xB1, r(x), r(x)))",
		New:     "both(e.vImm(asm.VSHUFF32X4, 0xE4, r(x), r(x)))",
		Package: "internal/emit/x86", Run: "TestRandom$|TestKernels", Needs: avx512,
	},
	{
		Name: "condition-ignores-the-tail", File: "internal/emit/x86/memory.go",
		Old:     "return e.combineMask(ir.And, k, tail)",
		New:     "return e.combineMask(ir.Or, k, tail)",
		Package: "internal/emit/x86", Run: "TestRandom$|TestKernels", Needs: machineCode,
	},
	{
		Name: "mask-copied-not-cleared", File: "internal/emit/x86/memory.go",
		Old: `	e.Move(own, k)
	in := e.inst(op, vec, []operand{r(old), m})
	in.mask, in.tied, in.early = own, true, true`,
		New: `	e.Move(own, k)
	in := e.inst(op, vec, []operand{r(old), m})
	in.mask, in.tied, in.early = k, true, true`,
		Package: "internal/emit/x86", Run: "TestRandom$|TestKernels", Needs: avx512,
	},
	{
		Name: "u32-to-float-of-high-half", File: "internal/emit/x86/cast.go",
		Old:     "bits32(f32bits(65536))",
		New:     "bits32(f32bits(65535))",
		Package: "internal/device/cpu", Run: "TestConformance/avx2_optimised", Needs: machineCode,
	},
	{
		Name: "bytes-kept-wide", File: "internal/emit/x86/cast.go",
		Old:     "n := int64(32 - 8*d.Size())",
		New:     "n := int64(24 - 8*d.Size()) & 31",
		Package: "internal/emit/x86", Run: "TestRandom$|TestKernels", Needs: machineCode,
	},
	{
		Name: "scalar-condition-inverted", File: "internal/emit/x86/store.go",
		Old: `	if valid != nil {
		e.do(asm.TEST, r(flag), r(flag))
		e.jumpIf(asm.EQ, skip)`,
		New: `	if valid != nil {
		e.do(asm.TEST, r(flag), r(flag))
		e.jumpIf(asm.NE, skip)`,
		Package: "internal/emit/x86", Run: "TestRandom$|TestKernels", Needs: machineCode,
	},
	{
		Name: "spilled-result-in-its-source", File: "internal/emit/x86/write.go",
		Old:     "case !in.tied && w.used[c] > 0 && c != mask:",
		New:     "case w.used[c] > 0 && c != mask:",
		Package: "internal/emit/x86", Run: "TestRandom$|TestKernels", Needs: machineCode,
	},
	{
		Name: "remade-value-not-spilled", File: "internal/emit/native/alloc.go",
		Old:     "at == InMemory && v.Class == c && v.Anew == none",
		New:     "at == InMemory && v.Class == c && v.Anew != none",
		Package: "internal/emit/x86", Run: "TestRandom$|TestKernels", Needs: machineCode,
	},
	{
		Name: "lanes-apart-of-the-first-half", File: "internal/emit/x86/apart.go",
		Old:     "lane(4*h+i))",
		New:     "lane(i))",
		Package: "internal/emit/x86", Run: "TestLanesApart",
	},
	{
		Name: "narrow-lanes-apart-one-further", File: "internal/emit/x86/apart.go",
		Old:     "x = e.vImm(insert, int64(i), r(x), lane(i))",
		New:     "x = e.vImm(insert, int64(i), r(x), lane(min(i+1, 7)))",
		Package: "internal/emit/x86", Run: "TestLanesApart",
	},
	{
		Name: "bytes-apart-in-another-order", File: "internal/emit/x86/apart.go",
		Old:     "e.doImm(asm.VPEXTRB, int64(i), lane(i), r(x))",
		New:     "e.doImm(asm.VPEXTRB, int64(i), lane(7-i), r(x))",
		Package: "internal/emit/x86", Run: "TestRandom",
	},
	{
		Name: "stores-apart-of-the-lower-half", File: "internal/emit/x86/apart.go",
		Old:     "		if h > 0 {",
		New:     "		if h > 1 {",
		Package: "internal/emit/x86", Run: "TestRandom",
	},
}
