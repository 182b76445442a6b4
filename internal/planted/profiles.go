package planted

// profileDefects are in what times kernels.
var profileDefects = []Defect{
	{
		Name: "least-run-not-subtracted", File: "internal/device/launch/profile.go",
		Old:     "max(0, time.Since(began)-t.least)",
		New:     "max(0, time.Since(began))",
		Package: "internal/device/launch", Run: "TestProfileByHost",
	},
	{
		Name: "clock-that-is-too-fast", File: "internal/device/launch/profile.go",
		Old:     "<= drift*float64(took)",
		New:     ">= 0*drift*float64(took)",
		Package: "internal/device/launch", Run: "TestProfileByClocksThatAreWrong|TestBelievable",
	},
	{
		Name: "times-since-the-clock-began", File: "internal/device/launch/profile.go",
		Old:     "first := spans[0].Begin",
		New:     "first := time.Duration(0)",
		Package: "internal/device/launch", Run: "TestProfileByDriver",
	},
	{
		Name: "session-of-timed-runs-for-plain-ones", File: "internal/device/launch/module.go",
		Old:     "if s.apart == apart && sameSizes",
		New:     "if sameSizes",
		Package: "internal/device/launch", Run: "TestProfileOfDevice",
	},
	{
		Name: "checked-behind-the-first-kernel", File: "internal/device/launch/session.go",
		Old:     "s.checked = len(s.phases) - 1",
		New:     "s.checked = 0",
		Package: "internal/device/launch", Run: "TestProfileFindsWrongIndex",
	},
	{
		Name: "lost-by-a-kernel-before", File: "internal/device/launch/session.go",
		Old:     "	begun = begun || at > 0 && s.phases[at-1].commits\n",
		New:     "",
		Package: "internal/device/launch", Run: "TestProfileLosesTheSecond",
	},
	{
		Name: "pairs-by-the-wrong-end", File: "internal/device/launch/profile_work.go",
		Old:     "own := i + keys - queries",
		New:     "own := i",
		Package: "internal/device/launch", Run: "TestProfileOfAttention",
	},
	{
		Name: "queue-that-notes-no-times", File: "internal/device/opencl/backend.go",
		Old:     "c.NewQueue(true)",
		New:     "c.NewQueue(false)",
		Package: "internal/device/opencl", Run: "TestTimed$",
	},
	{
		Name: "timed-since-the-first-event", File: "internal/device/cuda/cu/timed.go",
		Old:     "Since(g.events[i])",
		New:     "Since(g.events[0])",
		Package: "internal/device/cuda", Run: "TestTimed$",
	},
	{
		Name: "clock-that-begins-anew", File: "internal/device/vulkan/vk/timestamps.go",
		Old:     "since := (t - ticks[0]) << (64 - d.Physical.clockBits) >> (64 - d.Physical.clockBits)",
		New:     "since := t - ticks[0]",
		Package: "internal/device/vulkan", Run: "TestTimed$",
	},
	{
		Name: "stamps-not-reset", File: "internal/device/vulkan/vk/timestamps.go",
		Old:     "	d.api.CmdResetQueryPool(c.id, *pool, 0, uint32(room))\n",
		New:     "",
		Package: "internal/device/vulkan", Run: "TestTimed$",
	},
	{
		Name: "bytes-at-the-rate-of-the-largest-copy", File: "program_html.go",
		Old:     "if i == 0 || c.Bytes <= bytes {",
		New:     "if i == 0 || c.Bytes > 0 {",
		Package: ".", Run: "TestLimitsOfCopies",
	},
}
