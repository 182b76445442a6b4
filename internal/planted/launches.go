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
		Old:     "s.phaseOf(i == m.plan.Commit && i > 0 && words > 0)",
		New:     "s.phaseOf(i == m.plan.Commit && i > 0 && words < 0)",
		Package: "internal/device/launch", Run: "TestFailsInPlace",
	},
	{
		Name: "variables-written-although-an-index-is-wrong", File: "internal/device/launch/session.go",
		Old:     "checks := len(s.words) > 0 && i == s.checked // what",
		New:     "checks := len(s.words) > 0 && i == len(s.phases)-1 // what",
		Package: ".", Run: "TestFailedRunInPlaceChangesNothing",
	},
	{
		Name: "tuned-kernels-update-variables-each-time", File: "internal/device/launch/tune.go",
		Old:     "if !s.module.overwrites(b, o) {",
		New:     "if o >= 0 {",
		Package: "internal/device/launch", Run: "TestTuningInPlace",
	},
	{
		Name: "number-of-another-kernel", File: "internal/emit/cstyle/together.go",
		Old:     "Number: n}",
		New:     "Number: 0}",
		Package: "internal/emit/cstyle", Run: "TestTogether",
	},
	{
		Name: "kernels-of-other-pointers-together", File: "internal/emit/cstyle/together.go",
		Old:     `fmt.Fprint(&b, " ", pointer(a) != "")`,
		New:     `fmt.Fprint(&b, " ", a == "")`,
		Package: "internal/emit/cstyle", Run: "TestTogether",
	},
	{
		Name: "operands-moved-as-bits", File: "internal/loop/movebits.go",
		Old:     "\t\t\tdelete(moved, a.DType)\n",
		New:     "\t\t\t_ = a\n",
		Package: "internal/loop", Run: "TestMoveBits",
	},
	{
		Name: "moves-of-other-types-apart", File: "internal/device/launch/compile.go",
		Old:     "bare := *loop.MoveBits(k.loops)",
		New:     "bare := *k.loops",
		Package: "internal/device/launch", Run: "TestMovedAlike",
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
	return s.synchronize()
}`,
		New: `	}
	return nil
}`,
		Package: "internal/device/cuda", Run: "TestInOrder",
	},
	{
		Name: "kernels-not-waited-for-hip", File: "internal/device/hip/hiprt/stream.go",
		Old:     "return c.wait(s.id, host)",
		New:     "return nil",
		Package: "internal/device/hip", Run: "TestInOrder",
	},
	{
		Name: "kernels-not-waited-for-vulkan", File: "internal/device/vulkan/recording.go",
		Old:     "err = launch.Begun(c.Wait())",
		New:     "err = launch.Begun(nil)",
		Package: "internal/device/vulkan", Run: "TestInOrder",
	},
	{
		Name: "one-queue-for-all", File: "internal/device/vulkan/vk/queue.go",
		Old:     "const maxQueues = 8",
		New:     "const maxQueues = 1",
		Package: "internal/device/vulkan", Run: "TestTogether",
	},
	{
		Name: "transfers-behind-runs", File: "internal/device/vulkan/vk/queue.go",
		Old:     "	case n >= 2:\n		transfers = 1\n",
		New:     "",
		Package: "internal/device/vulkan", Run: "TestTogether",
	},
	{
		Name: "queue-kept-after-the-wait", File: "internal/device/vulkan/vk/queue.go",
		Old:     "		c.device.queues.give(c.queue)\n",
		New:     "",
		Package: "internal/device/vulkan/vk", Run: "TestFreeQueueIsTaken",
	},
	{
		Name: "queue-called-by-two", File: "internal/device/vulkan/vk/queue.go",
		Old:     "	q.mu.Lock()\n	defer q.mu.Unlock()\n	switch {\n	case d.closed",
		New:     "	switch {\n	case d.closed",
		Package: "internal/device/vulkan/vk", Run: "TestQueuesAreShared",
	},
	{
		Name: "closed-beside-a-submission", File: "internal/device/vulkan/vk/queue.go",
		Old:     "		q.mu.Lock()\n		defer q.mu.Unlock()\n	}\n	return d.check",
		New:     "		_ = q\n	}\n	return d.check",
		Package: "internal/device/vulkan/vk", Run: "TestCloseBeside",
	},
	{
		Name: "lost-on-one-queue-alone", File: "internal/device/vulkan/vk/queue.go",
		Old:     "d.lost.Store(true)",
		New:     "d.lost.Store(false)",
		Package: "internal/device/vulkan/vk", Run: "TestLostOnOneQueue",
	},
	{
		Name: "memory-given-back-that-is-not-waited-for", File: "internal/device/vulkan/vk/queue.go",
		Old:     "idle := d.idle(); idle != nil",
		New:     "idle := error(nil); idle != nil",
		Package: "internal/device/vulkan/vk", Run: "TestWaitIsRefused",
	},
	{
		Name: "memory-given-back-behind-a-failed-wait", File: "internal/device/vulkan/vk/left.go",
		Old:     "d.left.unwaited = true",
		New:     "d.left.unwaited = false",
		Package: "internal/device/vulkan/vk", Run: "TestWaitsAreRefused",
	},
	{
		Name: "memory-given-back-behind-a-failed-wait-cuda", File: "internal/device/cuda/cu/context.go",
		Old: `		return nil
	}
	c.lost.CompareAndSwap`,
		New: `		return nil
	}
	if err != nil {
		return err
	}
	c.lost.CompareAndSwap`,
		Package: "internal/device/cuda/cu", Run: "TestWaitFails",
	},
	{
		Name: "memory-given-back-behind-a-failed-wait-hip", File: "internal/device/hip/hiprt/context.go",
		Old:     "c.left = append(c.left, func() { _ = free() })",
		New:     "_ = free()",
		Package: "internal/device/hip/hiprt", Run: "TestWaitFails",
	},
	{
		Name: "stage-read-before-its-copy", File: "internal/device/vulkan/vk/transfer.go",
		Old: `	err := p.commands.Wait()
	if err == nil && t.work == down {
		copy(t.host[p.at:][:p.n], p.stage.Host)
	}`,
		New: `	if t.work == down {
		copy(t.host[p.at:][:p.n], p.stage.Host)
	}
	err := p.commands.Wait()`,
		Package: "internal/device/vulkan/vk", Run: "TestStages",
	},
	{
		Name: "stage-written-before-its-copy-has-ended", File: "internal/device/vulkan/vk/transfer.go",
		Old:     "t.start(stages[i], at,",
		New:     "t.start(stages[0], at,",
		Package: "internal/device/vulkan/vk", Run: "TestStages",
	},
	{
		Name: "part-not-waited-for-after-a-failure", File: "internal/device/vulkan/vk/transfer.go",
		Old:     "	for _, p := range parts {\n		err = errors.Join(err, t.end(p))\n",
		New:     "	for _, p := range parts {\n		if err == nil {\n			err = t.end(p)\n		}\n",
		Package: "internal/device/vulkan/vk", Run: "TestTransferFails",
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
