package planted

// checkDefects are in how a device is checked for its user.
var checkDefects = []Defect{
	{
		Name: "program-of-cases-that-failed-forgotten", File: "cmd/sinter/internal/devcheck/pool.go",
		Old:     "	p.unexplained()\n",
		New:     "",
		Package: "cmd/sinter/internal/devcheck", Run: "TestInProcesses$",
	},
	{
		Name: "crash-blamed-on-all-cases-of-a-program", File: "cmd/sinter/internal/devcheck/pool.go",
		Old:     "case several && (err != nil || a.Fault != \"\"):",
		New:     "case several && a.Fault != \"\":",
		Package: "cmd/sinter/internal/devcheck", Run: "TestInProcesses$",
	},
	{
		Name: "end-of-a-crash-takes-the-rest-along", File: "cmd/sinter/internal/devcheck/pool.go",
		Old:     "		if err != nil {\n			k = nil\n		}\n",
		New:     "",
		Package: "cmd/sinter/internal/devcheck", Run: "TestInProcesses$",
	},
}
