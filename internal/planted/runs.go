package planted

// runDefects are in what runs kernels, and in what stands above it.
var runDefects = []Defect{
	{
		Name: "barrier-missing", File: "internal/jit/run.go",
		Old:     "if r.finished.Add(1) == r.counts[step] {",
		New:     "if r.finished.Add(1); uint32(c)+1 == r.counts[step] {",
		Package: "internal/jit", Run: "TestRunStepsBarrier",
	},
	{
		Name: "worker-number-twice", File: "internal/jit/run.go",
		Old:     "r.free[i] = threads - 1 - i // the",
		New:     "r.free[i] = threads - 2 - i // the",
		Package: "internal/jit", Run: "TestRun|TestStress",
	},
	{
		Name: "roused-without-a-job-is-the-end", File: "internal/jit/helper.go",
		Old:     "if !h.park(linger) {",
		New:     "if !h.park(linger) || h.job.Load() == nil {",
		Package: "internal/jit", Run: "TestRousedWithoutAJob",
	},
	{
		Name: "thread-bound-to-other-processors", File: "internal/jit/place_linux.go",
		Old:     "wish := wishFor(all)",
		New:     "wish := others",
		Package: "internal/jit", Run: "TestLeaveCPU",
	},
	{
		Name: "processor-not-left", File: "internal/jit/place_linux.go",
		Old:     "others.Clear(cpu)",
		New:     "others.Clear(cpu + 1)",
		Package: "internal/jit", Run: "TestLeaveCPU",
	},
	{
		Name: "helper-on-its-way-for-ever", File: "internal/jit/helper.go",
		Old:     "h.caller.coming.Add(-1)",
		New:     "h.caller.coming.Add(0)",
		Package: "internal/jit", Run: "TestWokenHelpersArrive",
	},
	{
		Name: "time-yielded-to-others", File: "internal/jit/pool.go",
		Old:     "end-begin > slowYield {",
		New:     "end-begin > 1000*slowYield {",
		Package: "internal/jit", Run: "TestLetIn",
	},
	{
		Name: "lock-left-to-children", File: "internal/filelock/filelock.go",
		Old:     "	unlock(f)\n",
		New:     "",
		Package: "internal/filelock", Run: "TestFolderBesideChildren",
	},
	{
		Name: "signals-as-a-library-left-them", File: "internal/dynlib/signal.go",
		Old:     "kept.users++; kept.users == 1",
		New:     "kept.users++; kept.users > 0",
		Package: "internal/dynlib", Run: "TestKeepSignalsOverlap",
	},
	{
		Name: "kept-beside-a-change", File: "internal/device/keep/owner.go",
		Old:     "if dropped {",
		New:     "if dropped && len(from) == 0 {",
		Package: "internal/device/keep", Run: "TestFindBesideAChange",
	},
	{
		Name: "shared-by-one-that-was-closed", File: "internal/device/keep/shelf.go",
		Old:     "		if !h.rests {\n			s.rest(k)",
		New:     "		if !h.rests {\n			k.awake--",
		Package: "internal/device/keep", Run: "TestRestingAlone",
	},
	{
		Name: "panic-of-an-iterator-that-ends", File: "train/prefetch.go",
		Old:     "			read(p.data.Epoch(seed, epoch, skip), ready, stop)\n			end.well = true",
		New:     "			end.well = true\n			read(p.data.Epoch(seed, epoch, skip), ready, stop)",
		Package: "train", Run: "TestPrefetch",
	},
	{
		Name: "cause-for-another-error", File: "train/run.go",
		Old:     "(errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx)))",
		New:     "errors.Is(err, ctx.Err())",
		Package: "train", Run: "TestSavedWhateverTheCause",
	},
	{
		Name: "variable-written-for-ever", File: "run.go",
		Old:     "defer func() { r.end(well) }() // also",
		New:     "defer func() { if well || p != nil && recover() == nil { r.end(well) } }() // also",
		Package: ".", Run: "TestTuningPanics",
	},
	{
		Name: "program-that-never-comes", File: "programs.go",
		Old:     "	defer func() { p.filled(e, g, c, err) }()\n	c, err = d.compile(ctx, g, o)\n",
		New:     "	c, err = d.compile(ctx, g, o)\n	p.filled(e, g, c, err)\n",
		Package: ".", Run: "TestCompilerPanics",
	},
	{
		Name: "share-without-its-last-task", File: "internal/jit/share.go",
		Old:     "begin, end := w*tasks/all, (w+1)*tasks/all",
		New:     "begin, end := tasks/all*w, tasks/all*(w+1)",
		Package: "internal/jit", Run: "TestDeal",
	},
	{
		Name: "share-of-the-neighbour", File: "internal/jit/share.go",
		Old:     "for w := worker; ; w = (w + 1) % all {",
		New:     "for w := (worker + 1) % all; ; w = (w + 1) % all {",
		Package: "internal/jit", Run: "TestOwnShareFirst",
	},
	{
		Name: "shares-of-the-last-step", File: "internal/jit/run.go",
		Old: `	for i := range r.shares {
		r.shares[i].taken.Store(0)
	}
`,
		New:     "",
		Package: "internal/jit", Run: "TestDeal",
	},
	{
		Name: "one-thread-is-not-cancelled", File: "internal/jit/pool.go",
		Old: `					return context.Cause(ctx)
`,
		New:     "",
		Package: "internal/jit", Run: "TestErrorsEndTheRun|TestOneThread",
	},
	{
		Name: "task-beyond-the-end", File: "internal/device/cpu/loops.go",
		Old:     "end := min(start+s.chunk, s.hi)",
		New:     "end := start + s.chunk",
		Package: "internal/device/cpu", Run: "TestGuardPages|TestRandomGraphs",
	},
	{
		Name: "scratch-that-was-given-back", File: "internal/device/cpu/module.go",
		Old:     "for err == nil && r.stale {",
		New:     "for err == nil && r.stale && r.workers == 0 {",
		Package: "internal/device/cpu", Run: "TestScratchGrows",
	},
	{
		Name: "scratch-given-back-in-the-second-binding", File: "internal/device/cpu/module.go",
		Old:     "for err == nil && r.stale {",
		New:     "if err == nil && r.stale {",
		Package: "internal/device/cpu", Run: "TestScratchGrows",
	},
	{
		Name: "arena-of-other-sizes", File: "internal/device/cpu/module.go",
		Old:     "key := fmt.Sprint(map[string]int(env)) // maps print sorted",
		New:     "key := fmt.Sprint(len(env))",
		Package: ".", Run: "TestOneProgramServesEveryLength|TestNewLengthsCompileNothing",
	},
	{
		Name: "index-of-size-not-found", File: "internal/device/compile/status.go",
		Old:     "if v < 0 || v >= int64(size) {",
		New:     "if v < 0 || v > int64(size) {",
		Package: "internal/device/cpu", Run: "TestConformance/avx2_optimised|TestGemmStatus",
	},
	{
		Name: "sort-not-stable-in-descent", File: "internal/device/cpu/sort.go",
		Old: `	if descending {
		return ^key
	}
	return key
}

// sortKey`,
		New: `	if descending {
		return -key - 2
	}
	return key
}

// sortKey`,
		Package: "internal/device/cpu", Run: "TestConformance/avx2_optimised|TestRandomGraphs",
	},
	{
		Name: "sort-puts-nan-first", File: "internal/device/cpu/sort.go",
		Old:     "return math.MaxUint32",
		New:     "return 0",
		Package: "internal/device/cpu", Run: "TestRandomGraphs|TestConformance/avx2_optimised",
	},
	{
		Name: "sort-tells-zeros-apart", File: "internal/device/cpu/sort.go",
		Old:     "math.Float32bits(f + 0)",
		New:     "math.Float32bits(f)",
		Package: "internal/device/cpu", Run: "TestRandomGraphs|TestConformance/avx2_optimised",
	},
	{
		Name: "sort-puts-long-nan-first", File: "internal/device/cpu/sort.go",
		Old:     "return math.MaxUint64",
		New:     "return 0",
		Package: "internal/device/cpu", Run: "TestRandomGraphs|TestConformance/avx2_optimised",
	},
	{
		Name: "sort-tells-long-zeros-apart", File: "internal/device/cpu/sort.go",
		Old:     "math.Float64bits(f + 0)",
		New:     "math.Float64bits(f)",
		Package: "internal/device/cpu", Run: "TestRandomGraphs|TestConformance/avx2_optimised",
	},
	{
		Name: "stream-to-unaligned-memory", File: "internal/device/cpu/stream.go",
		Old:     "%x86.StreamAlign != 0",
		New:     "%16 != 0",
		Package: "internal/device/cpu", Run: "TestStream", Needs: machineCode,
	},
	{
		Name: "whole-third-cache-for-each-thread", File: "internal/device/cpu/stream.go",
		Old:     "return min(l3, max(usual, share*threads))",
		New:     "return max(l3, share*threads)",
		Package: "internal/device/cpu", Run: "TestCacheBytes",
	},
	{
		Name: "streaming-form-with-scratch-of-the-plain-one", File: "internal/device/cpu/loops.go",
		Old:     "ptrs, err := f.scratch(r)",
		New:     "ptrs, err := k.plain.scratch(r)",
		Package: "internal/device/cpu", Run: "TestStreamingResults", Needs: avx512,
	},
	{
		Name: "staggered-over-what-it-reads", File: "internal/device/cpu/stream.go",
		Old:     "k.large.work == k.plain.work || !k.writesOver(r.ptrs, sizes)",
		New:     "true",
		Package: "internal/device/cpu", Run: "TestInPlace$", Needs: avx512,
	},
	{
		Name: "staggered-sums-in-any-order", File: "internal/emit/x86/stream.go",
		Old:     "!ok || m != n || n == mixedChains",
		New:     "!ok || m == mixedChains || n == mixedChains",
		Package: "internal/emit/x86", Run: "TestSumsLike",
	},
	{
		Name: "runs-end-with-the-last-whole-one", File: "internal/loop/runs.go",
		Old:     "Hi: Apply(ir.IDiv, ir.I64, AddIndex(l.Hi, Int(length-1)), Int(length))}",
		New:     "Hi: Apply(ir.IDiv, ir.I64, l.Hi, Int(length))}",
		Package: "internal/loop", Run: "TestRuns",
	},
	{
		Name: "runs-begin-anew-in-each-block", File: "internal/loop/runs.go",
		Old:     "Lo: Apply(ir.Max, ir.I64, SubIndex(lo, begin), Int(0)),",
		New:     "Lo: SubIndex(lo, begin),",
		Package: "internal/loop", Run: "TestRuns",
	},
	{
		Name: "ranges-flip-one-late", File: "internal/loop/ranges.go",
		Old:     "at = floorDiv(int64(n), int64(-stride)) + 1 //",
		New:     "at = floorDiv(int64(n), int64(-stride)) + 2 //",
		Package: "internal/loop", Run: "TestSplitRanges",
	},
	{
		Name: "ranges-know-places-in-no-order", File: "internal/loop/ranges.go",
		Old:     "if len(cuts) == 0 && others == 1 {",
		New:     "if len(cuts) == 0 && others >= 1 {",
		Package: "internal/loop", Run: "TestSplitRangesText",
	},
	{
		Name: "guards-let-loads-go-ahead", File: "internal/loop/guards.go",
		Old:     "part := partOf(l, is, true)",
		New:     "part := partOf(l, is, false)",
		Package: "internal/loop", Run: "TestSplitRangesText",
	},
	{
		Name: "guards-deny-what-they-say", File: "internal/loop/guards.go",
		Old:     "at.beyond(1 - cuts[i-1])",
		New:     "at.beyond(2 - cuts[i-1])",
		Package: "internal/loop", Run: "TestSplitRanges",
	},
	{
		Name: "turned-rows-overlap", File: "internal/loop/remainders.go",
		Old:     "base, span+max(0, n-1)*max(each, -each)",
		New:     "base, span+0*max(0, n-1)*max(each, -each)",
		Package: "internal/loop", Run: "TestTurnShortText",
	},
	{
		Name: "turned-lanes-all-first", File: "internal/loop/turn.go",
		Old:     "inner.Var, Int(lane), nil",
		New:     "inner.Var, Int(0*lane), nil",
		Package: "internal/loop", Run: "TestTurnShortText",
	},
	{
		Name: "remainders-of-rows-that-overlap", File: "internal/loop/remainders.go",
		Old:     "return known && max(step, -step) > span &&",
		New:     "return known && max(step, -step) > 0*span &&",
		Package: "internal/loop", Run: "TestSplitRemaindersText",
	},
	{
		Name: "remainders-one-short", File: "internal/loop/remainders.go",
		Old:     "Hi: Int((n - r + by - 1) / by),",
		New:     "Hi: Int((n - r) / by),",
		Package: "internal/loop", Run: "TestSplitRemaindersText",
	},
	{
		Name: "remainders-without-end", File: "internal/loop/remainders.go",
		Old:     "if more > r.left {",
		New:     "if more > 4*maxRangeExprs {",
		Package: "internal/loop", Run: "TestSplitRemaindersEnds",
	},
	{
		Name: "turns-leave-the-rest", File: "internal/loop/remainders.go",
		Old:     "if n%by > 0 {",
		New:     "if n%by > by/2 {",
		Package: "internal/loop", Run: "TestSplitRemaindersText",
	},
	{
		Name: "stagger-leaves-the-block", File: "internal/loop/stagger.go",
		Old:     "row = Apply(ir.Max, ir.I64, row, lo)",
		New:     "row = Apply(ir.Max, ir.I64, row, Int(0))",
		Package: "internal/loop", Run: "TestStagger",
	},
	{
		Name: "stagger-fills-what-is-read", File: "internal/loop/stagger_ring.go",
		Old:     "if apart > 1 && !early[i] {",
		New:     "if apart > 1 {",
		Package: "internal/loop", Run: "TestStagger",
	},
	{
		Name: "stagger-fills-what-another-lane-reads", File: "internal/loop/stagger_ring.go",
		Old:     "|| at == i || !s.ofLane(e.Args[0])",
		New:     "|| at == i",
		Package: "internal/loop", Run: "TestStagger",
	},
	{
		Name: "stagger-stores-twice", File: "internal/loop/stagger.go",
		Old:     "ok = ok && !again && s.k",
		New:     "ok = ok && (!again || stored[st.Param] == i) && s.k",
		Package: "internal/loop", Run: "TestStagger",
	},
	{
		Name: "stagger-divides-by-what-is-not-known", File: "internal/loop/stagger.go",
		Old:     "case e.Kind == KindApply && (e.Op == ir.IDiv || e.Op == ir.Mod) && !e.DType.IsFloat():",
		New:     "case e.Kind == KindApply && e.Op == ir.Mod && !e.DType.IsFloat():",
		Package: "internal/loop", Run: "TestStagger",
	},
	{
		Name: "stagger-reads-the-next-row", File: "internal/loop/stagger_ring.go",
		Old:     "AddIndex(step.Ref(), Int(len(s.passes)-1-i))",
		New:     "AddIndex(step.Ref(), Int(i))",
		Package: "internal/loop", Run: "TestStagger",
	},
	{
		Name: "kept-by-the-first-buffer-alone", File: "internal/device/keep/owner.go",
		Old: `	for _, n := range numbers {
		key = binary`,
		New: `	for _, n := range numbers[:1] {
		key = binary`,
		Package: "internal/device/keep", Run: "TestFind|TestChanged",
	},
	{
		Name: "kept-under-the-number-of-now", File: "internal/device/keep/results.go",
		Old:     "append(l.weights, number)",
		New:     "append(l.weights, max(number, o.Number()))",
		Package: "internal/device/launch", Run: "TestConstantsWrittenBetween",
	},
	{
		Name: "kept-of-old-values", File: "internal/device/keep/owner.go",
		Old:     "if o.some.Swap(false) {",
		New:     "if false {",
		Package: "internal/device/toy", Run: "TestConformance/what_is_kept",
	},
	{
		Name: "kept-of-what-a-run-overwrote", File: "internal/device/launch/constants.go",
		Old:     "	defer changed(b)",
		New:     "",
		Package: "internal/device/toy", Run: "TestConformance/what_is_kept",
	},
	{
		Name: "kept-where-there-is-no-room", File: "internal/device/launch/constants.go",
		Old:     "if len(m.recipes) == 0 || !full(ctx, e, err) {",
		New:     "if len(m.recipes) == 0 || !full(ctx, e, err) || full(ctx, e, err) {",
		Package: "internal/device/launch", Run: "TestConstantsWithoutRoom",
	},
	{
		Name: "kept-results-are-not-held", File: "internal/device/launch/constants.go",
		Old:     "Retain: func(r result) { r.Retain() },",
		New:     "Retain: func(r result) {},",
		Package: "internal/device/launch", Run: "TestConstantsOnce",
	},
	{
		Name: "offsets-unchecked", File: "internal/device/compile/conditions.go",
		Old:     "if o < last || o > rows",
		New:     "if o < min(last, 0) || o > rows",
		Package: "internal/device/cpu", Run: "TestConformance/avx2_optimised",
	},
	{
		Name: "constant-of-an-assigned-variable", File: "internal/rewrite/precision.go",
		Old:     "fixed[i] = !assigned[n.Attr.Leaf]",
		New:     "fixed[i] = true",
		Package: "internal/rewrite", Run: "TestGolden",
	},
	{
		Name: "softmax-of-large-numbers", File: "reduce.go",
		Old:     "e := x.Sub(x.MaxKeep(axis).Detach()).Exp()",
		New:     "e := x.Exp()",
		Package: ".", Run: "TestSpecialValues",
	},
	{
		Name: "kept-for-programs-that-nobody-holds", File: "internal/device/keep/shelf.go",
		Old:     "s.bytes > s.limit {",
		New:     "s.bytes > s.limit && s.limit == 0 {",
		Package: "internal/device/keep", Run: "TestShelfRest",
	},
	{
		Name: "kept-for-programs-that-are-gone", File: "internal/device/keep/shelf.go",
		Old:     "if len(k.holders) == 0 {",
		New:     "if k.dropped {",
		Package: "internal/device/keep", Run: "TestShelfClose",
	},
	{
		Name: "batch-ends-with-the-first-who-leaves", File: "embed/coalesce.go",
		Old:     "if waiting.Add(-1) == 0 {",
		New:     "if waiting.Add(-1) >= 0 {",
		Package: "embed", Run: "TestCoalesceWaitedFor",
	},
	{
		Name: "loss-of-all-with-all", File: "loss.go",
		Old:     "shape.Equal(x.v.Shape) || shape.Equal(y.v.Shape) {",
		New:     "shape.Equal(x.v.Shape) || shape.Equal(y.v.Shape) || x.v.Shape != nil {",
		Package: ".", Run: "TestLossesOfPairs",
	},
	{
		Name: "coalescer-serves-the-newest", File: "embed/coalesce.go",
		Old:     `	for _, r := range c.waiting {`,
		New:     `	for _, r := range slices.Backward(c.waiting) {`,
		Package: "embed", Run: "TestCoalesce",
	},
	{
		Name: "coalescer-fills-beyond-a-batch", File: "embed/coalesce.go",
		Old:     "tokens+c.waiting[end].tokens <= c.tokens",
		New:     "tokens <= c.tokens",
		Package: "embed", Run: "TestCoalesce",
	},
	{
		Name: "coalescer-mixes-vectors", File: "embed/coalesce.go",
		Old: `		vectors = vectors[len(r.texts):]
`,
		New: `		vectors = vectors[:len(vectors):len(vectors)]
`,
		Package: "embed", Run: "TestCoalesce",
	},
	{
		Name: "coalescer-loses-the-lead", File: "embed/coalesce.go",
		Old: `	if r.leads {
		c.passOn()
	}
`,
		New:     "",
		Package: "embed", Run: "TestCoalesceLeaveLeading",
	},
	{
		Name: "coalescer-waits-where-full", File: "embed/coalesce.go",
		Old:     "c.expected > 0 && !c.full() && time",
		New:     "c.expected > 0 && time",
		Package: "embed", Run: "TestCoalesceGather",
	},
	{
		Name: "coalescer-waits-for-nobody", File: "embed/coalesce.go",
		Old:     "	c.expected = len(batch)\n",
		New:     "",
		Package: "embed", Run: "TestCoalesceServed",
	},
	{
		Name: "size-class-too-small", File: "internal/jit/memory.go",
		Old:     "return roundToPage((n + step - 1) / step * step)",
		New:     "return roundToPage(n / step * step)",
		Package: "internal/jit", Run: "TestSizeClass|TestAlloc",
	},
	{
		Name: "rest-of-a-region-stays", File: "internal/jit/region.go",
		Old:     "unmapPages(left),",
		New:     "unmapPages(left[:0]),",
		Package: "internal/jit", Run: "TestRegion",
	},
	{
		Name: "blocks-of-a-region-overlap", File: "internal/jit/region.go",
		Old:     "r.rest = r.rest[size:]",
		New:     "r.rest = r.rest[size-roundToPage(1):]",
		Package: "internal/jit", Run: "TestRegion",
	},
	{
		Name: "region-of-small-pages", File: "internal/jit/region.go",
		Old:     "useHugePages(r.rest)",
		New:     "useHugePages(left)",
		Package: "internal/jit", Run: "TestBlocksShareHugePages",
	},
	{
		Name: "ends-of-a-region-stay", File: "internal/jit/region.go",
		Old:     "unmapPages(pages[skip+regionBytes:])",
		New:     "unmapPages(pages[:0])",
		Package: "internal/jit", Run: "TestRegionsTakeNoMore",
	},
	{
		Name: "small-blocks-in-regions", File: "internal/jit/memory.go",
		Old:     "size >= regionLeast",
		New:     "size >= smallest",
		Package: "internal/jit", Run: "TestBlocksShareHugePages",
	},
	{
		Name: "draws-shifted-in-a-block", File: "internal/philox/philox.go",
		Old:     "words[first%4:]",
		New:     "words[:]",
		Package: "internal/philox", Run: "TestFill",
	},
	{
		Name: "packed-variable-of-an-older-version", File: "internal/device/cpu/gemm_bind.go",
		Old:     "packed && (!same || s.packedB == nil)",
		New:     "packed && s.packedB == nil",
		Package: "internal/device/cpu", Run: "TestVariablesPacked", Needs: machineCode,
	},
	{
		Name: "watched-number-stays", File: "internal/device/keep/owner.go",
		Old:     "func (o *Owner) Watch() uint64 {\n	o.some.Store(true)\n",
		New:     "func (o *Owner) Watch() uint64 {\n",
		Package: "internal/device/cpu", Run: "TestVariablesPacked", Needs: machineCode,
	},
	{
		Name: "across-rows-that-overlap", File: "internal/loop/across.go",
		Old: "lanes.Range != Vector || lanes.Lo != nil || !ownElements(rows) {", New: "lanes.Range != Vector || lanes.Lo != nil {",
		Package: "internal/loop", Run: "TestAcrossText",
	},
	{
		Name: "across-places-in-one-block", File: "internal/loop/across.go",
		Old: "MulIndex(block.Ref(), Int(size)), row.Ref())", New: "MulIndex(block.Ref(), Int(0)), row.Ref())",
		Package: "internal/loop", Run: "TestAcrossText",
	},
}
