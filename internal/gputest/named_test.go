//go:build !static

package gputest

import (
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/launch"
	"github.com/sinterml/sinter/internal/device/launch/launchtest"
	"github.com/sinterml/sinter/internal/device/suite"
	"github.com/sinterml/sinter/internal/devicetest"
	"github.com/sinterml/sinter/internal/effort"
)

// named opens the device that Variable names, by its driver: without one a test
// is skipped, and one that is not there fails it.
func named(t *testing.T) func(int) (device.Device, error) {
	t.Helper()
	name := os.Getenv(Variable)
	if name == "" {
		t.Skip("no device is named: set " + Variable)
	}
	registerSimulated()
	d, err := sinter.Open(name) // which says best what is wrong
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	kind, index, err := device.ParseName(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range device.Registered() {
		if d.Name == kind {
			return func(int) (device.Device, error) { return d.Open(index) }
		}
	}
	t.Fatalf("no driver of %q", name)
	return nil
}

// TestNamedSuite runs the suite of devices on it.
func TestNamedSuite(t *testing.T) {
	open := named(t)
	o := devicetest.Options{Compile: device.Options{Check: true}}
	switch kind() {
	case "cpu", "cuda":
	case simulated:
		o.Slow = true
	default:
		o.Grouped = true
	}
	inProcesses(t, func(part devicetest.Part) {
		o.Part = part
		devicetest.Run(t, open, o)
	})
}

// kind is that of the device that is named.
func kind() string {
	kind, _, _ := strings.Cut(os.Getenv(Variable), ":")
	return kind
}

// inProcesses has as many processes run a test as make the most of the driver's
// compiler, each a part of it. That of CUDA compiles one program at a time, others
// have threads of their own; each process has memory of the GPU.
func inProcesses(t *testing.T, run func(part devicetest.Part)) {
	t.Helper()
	switch kind() {
	case "cpu", simulated:
		run(devicetest.Part{})
	case "cuda":
		devicetest.InProcesses(t, min(runtime.NumCPU(), 6), run)
	default:
		devicetest.InProcesses(t, 2, run)
	}
}

// TestNamedKernels compares single kernels with the interpreter of loops.
func TestNamedKernels(t *testing.T) {
	opened, err := named(t)(0)
	if err != nil {
		t.Fatal(err)
	}
	d, ok := opened.(*launch.Device)
	if !ok {
		t.Fatalf("%s is %T: kernels are tested of devices of work-groups", os.Getenv(Variable), opened)
	}
	launchtest.RandomKernels(t, d.Backend(), d.Shape, nil)
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// TestNamedGraphs compares random graphs with the referee: also at several sizes
// with the same weights, and with variables in place.
func TestNamedGraphs(t *testing.T) {
	open := named(t)
	n := effort.Of[uint64](4, 40, 1000, 4000)
	if kind() == simulated {
		n = min(n, 200)
	}
	inProcesses(t, func(part devicetest.Part) {
		d, err := open(0)
		if err != nil {
			t.Fatal(err)
		}
		devicetest.RandomGraphs(t, d.(suite.Runner), n, part)
		devicetest.RandomSteps(t, d.(suite.Runner), n/4, part)
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestRun is for TestNamed.
func TestRun(t *testing.T) {
	if os.Getenv(Variable) == "" {
		t.Skip("no device is named: set " + Variable)
	}
	Run(t, func(t *testing.T, d *sinter.Device) { t.Log("on " + d.Name()) })
}

// TestNamed has a process test a device that is there, and one that is not: that
// must fail, and say why, where everything is to be tested and where not.
func TestNamed(t *testing.T) {
	for _, c := range []struct {
		name, tests, wants string
		fails              bool
	}{
		{"simulated", "^TestRun$|^TestNamedKernels$|^TestNamedGraphs$", "on simulated", false},
		{"cpu", "^TestRun$", "on cpu", false},
		{"cuda:4096", "^TestRun$", `no device "cuda:4096"`, true},
		{"cuda:4096", "^TestNamedSuite$", `no device "cuda:4096"`, true},
		{"cuda:4096", "^TestNamedKernels$", `no device "cuda:4096"`, true},
		{"nothing", "^TestRun$", `no device "nothing"`, true},
	} {
		for _, all := range []string{"", "1"} {
			if all != "" && !c.fails {
				continue
			}
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.run", c.tests)
			cmd.Env = append(os.Environ(), Variable+"="+c.name, "SINTER_CI="+all)
			out, err := cmd.CombinedOutput()
			skipped := regexp.MustCompile(`--- SKIP|no tests to run`).Match(out)
			if (err != nil) != c.fails || skipped || !strings.Contains(string(out), c.wants) {
				t.Errorf("%s of %s: %v\n%s", c.tests, c.name, err, out)
			}
		}
	}
}
