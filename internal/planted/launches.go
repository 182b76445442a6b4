package planted

// launchDefects are in what devices of work-groups have in common.
var launchDefects = []Defect{
	{
		Name: "memory-written-in-place-called-constant", File: "internal/emit/flat/write.go",
		Old:     "case w.k.Work.Params[param].Use == loop.Read && !w.k.Shared(param):",
		New:     "case w.k.Work.Params[param].Use == loop.Read:",
		Package: "internal/device/launch", Run: "TestInPlace",
	},
	{
		Name: "parameters-written-before-indices-are-checked", File: "internal/device/launch/session.go",
		Old:     "if i == m.plan.Commit && i > 0 && words > 0 {",
		New:     "if i == m.plan.Commit && i > 0 && words < 0 {",
		Package: "internal/device/launch", Run: "TestFailsInPlace",
	},
	{
		Name: "variables-written-although-an-index-is-wrong", File: "internal/device/launch/session.go",
		Old:     "checks := len(s.words) > 0 && i == 0 // what",
		New:     "checks := len(s.words) > 0 && last // what",
		Package: ".", Run: "TestFailedRunInPlaceChangesNothing",
	},
	{
		Name: "tuned-kernels-update-variables-each-time", File: "internal/device/launch/tune.go",
		Old:     "if !s.module.overwrites(b, o) {",
		New:     "if o >= 0 {",
		Package: "internal/device/launch", Run: "TestTuningInPlace",
	},
	{
		Name: "copy-not-waited-for-opencl", File: "internal/device/opencl/backend.go",
		Old:     "return errors.Join(enqueue(q), q.Finish())",
		New:     "return enqueue(q)",
		Package: "internal/device/opencl", Run: "TestInOrder",
	},
	{
		Name: "read-without-waiting-opencl", File: "internal/device/opencl/cl/transfer.go",
		Old:     "return q.read(dst, src, offset, blocking)",
		New:     "return q.read(dst, src, offset, notBlocking)",
		Package: "internal/device/opencl", Run: "TestInOrder",
	},
	{
		Name: "copy-not-waited-for-cuda", File: "internal/device/cuda/backend.go",
		Old:     "return errors.Join(start(s), s.Wait())",
		New:     "return start(s)",
		Package: "internal/device/cuda", Run: "TestInOrder",
	},
	{
		Name: "graph-not-waited-for", File: "internal/device/cuda/cu/launch.go",
		Old: `	}
	return c.check(c.api.StreamSynchronize(s.id), "cuStreamSynchronize")
}`,
		New: `	}
	return nil
}`,
		Package: "internal/device/cuda", Run: "TestInOrder",
	},
	{
		Name: "kernels-not-waited-for-hip", File: "internal/device/hip/hiprt/stream.go",
		Old:     `return c.check(c.api.StreamSynchronize(s.id), "hipStreamSynchronize")`,
		New:     "return nil",
		Package: "internal/device/hip", Run: "TestInOrder",
	},
	{
		Name: "memory-freed-that-a-run-uses", File: "internal/device/launch/module.go",
		Old:     "	s.hold(b)\n",
		New:     "",
		Package: "internal/device/launch", Run: "TestTogether",
	},
	{
		Name: "stream-kept-after-the-end", File: "internal/device/launch/streams.go",
		Old:     "	if p.closed {\n",
		New:     "	if p.closed && len(p.idle) > 0 {\n",
		Package: "internal/device/launch", Run: "TestStreamsAreBounded",
	},
	{
		Name: "event-recorded-before-its-work", File: "internal/device/launch/order/order.go",
		Old:     "	now[s]++\n",
		New:     "	defer func() { now[s]++ }()\n",
		Package: "internal/device/launch/order", Run: "TestChecker",
	},
	{
		Name: "one-stream-for-all-runs", File: "internal/device/launch/streams.go",
		Old:     "const maxStreams = 16",
		New:     "const maxStreams = 1",
		Package: "internal/device/opencl", Run: "TestTogether",
	},
	{
		Name: "next-batch-waits-for-its-turn", File: "run.go",
		Old:     "if len(p.assigned) == 0 {",
		New:     "if len(p.assigned) >= 0 {",
		Package: "internal/device/launch", Run: "TestNextBatch",
	},
}
