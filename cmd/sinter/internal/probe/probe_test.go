package probe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/cuda"
	"github.com/sinterml/sinter/internal/device/cuda/cu/cutest"
	"github.com/sinterml/sinter/internal/device/hip"
	"github.com/sinterml/sinter/internal/device/hip/hiprt/hiptest"
	"github.com/sinterml/sinter/internal/device/opencl"
	"github.com/sinterml/sinter/internal/device/opencl/cl/cltest"
	"github.com/sinterml/sinter/internal/device/vulkan"
	"github.com/sinterml/sinter/internal/device/vulkan/vk/vktest"
	"github.com/sinterml/sinter/internal/effort"
)

// scripted is what the child of a test does, by its argument.
var scripted = map[string]device.Driver{
	"opencl": opencl.Driver(),
	"vulkan": vulkan.Driver(),
	"cuda":   cuda.Driver(),
	"hip":    hip.Driver(),
	"hiding": hiding,
	"good": {Name: "good", External: true, List: func() ([]device.Properties, error) {
		fmt.Print("a driver that prints") // without an end of line
		return []device.Properties{{Description: "one"}, {Description: "two", Software: true}, {Description: "three"}}, nil
	}},
}

// hiding obeys a variable, as drivers of GPUs do.
var hiding = device.Driver{Name: "hiding", External: true, Environment: []string{"CUDA_VISIBLE_DEVICES"}, List: func() ([]device.Properties, error) {
	var all []device.Properties
	if v, set := os.LookupEnv("CUDA_VISIBLE_DEVICES"); v != "" || !set {
		for range strings.Split(v, ",") {
			all = append(all, device.Properties{Description: "GPU " + v})
		}
	}
	return all, nil
}}

// TestMain is the child too.
func TestMain(m *testing.M) {
	if len(os.Args) < 3 || os.Args[1] != "child" {
		os.Exit(m.Run())
	}
	var name string
	fail := func(variable, name string) error {
		if at, way, _ := strings.Cut(os.Getenv(variable), " "); at == name || at == "each" {
			switch way {
			case "crash":
				fmt.Fprintln(os.Stderr, "driver: oh no")
				var p *int
				*p = 1
			case "hang":
				time.Sleep(time.Hour)
			}
			if took, err := time.ParseDuration(way); err == nil {
				time.Sleep(took)
				return nil
			}
			return errors.New(way)
		}
		return nil
	}
	tests := Tests{
		Open:  func(e device.Entry) error { name = e.Name; return fail("TEST_OPEN", name) },
		Check: func() error { return fail("TEST_CHECK", name) },
		Try: func() (formats, rules []string, err error) {
			return []string{"f32", "int8"}, []string{"nan"}, fail("TEST_TRY", name)
		},
		Product: func() (time.Duration, error) {
			return 7 * time.Millisecond, fail("TEST_PRODUCT", name)
		},
		Close: func() error { return fail("TEST_CLOSE", name) },
	}
	if f := os.Getenv("TEST_COUNT"); f != "" { // how often a child ran
		b, _ := os.ReadFile(f)
		_ = os.WriteFile(f, append(b, '.'), 0o600)
	}
	if err := Child(os.Stdout, scripted[os.Args[2]], len(os.Args) > 3, tests); err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

// prober asks this test's own binary.
func prober(env ...string) *Prober {
	return &Prober{Limit: 20 * time.Second, Command: func(kind string, all bool) *exec.Cmd {
		args := []string{"child", kind}
		if all {
			args = append(args, "all")
		}
		c := exec.Command(os.Args[0], args...)
		c.Env = append(append(os.Environ(), "GOTRACEBACK=none"), env...)
		return c
	}}
}

func describe(rs []Result) string {
	var lines []string
	for _, r := range rs {
		line := fmt.Sprintf("%s %s", r.Name, r.Reason)
		if r.Checked {
			line += "checked " + r.Fault
		}
		if len(r.DTypes) > 0 {
			line += " in " + strings.Join(r.DTypes, " ") + " keeps " + strings.Join(r.Rules, " ")
		}
		if r.Product > 0 {
			line += fmt.Sprintf(" %v", r.Product)
		}
		if r.Untimed != "" {
			line += " not timed: " + r.Untimed
		}
		if (r.Start > 0) != (r.Product > 0) {
			line += fmt.Sprintf(" starts in %v", r.Start)
		}
		lines = append(lines, strings.TrimSpace(line))
	}
	return strings.Join(lines, "; ")
}

func TestFresh(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		check, want string
		all         bool
	}{
		{"", "good:0 checked  in f32 int8 keeps nan 7ms; good:1; good:2 checked  in f32 int8 keeps nan 7ms", false},
		{"", "good:0 checked  in f32 int8 keeps nan 7ms; good:1 checked  in f32 int8 keeps nan; good:2 checked  in f32 int8 keeps nan 7ms", true},
		{"good:0 crash", "good:0 checked the driver crashes: SIGSEGV: segmentation violation, after saying: driver: oh no while it computes; good:1; good:2 checked not checked: another device of its driver failed", false},
		{"good:2 computes 3 for 4", "good:0 checked  in f32 int8 keeps nan 7ms; good:1; good:2 checked computes 3 for 4", false},
	} {
		rs, err := prober("TEST_CHECK="+c.check).Fresh(t.Context(), scripted["good"], c.all)
		if got := describe(rs); err != nil || got != c.want {
			t.Errorf("%q: %v\n%s, not\n%s", c.check, err, got, c.want)
		}
	}
	p := prober("TEST_CHECK=good:2 hang")
	p.Limit = time.Second
	start := time.Now()
	rs, err := p.Fresh(t.Context(), scripted["good"], true)
	if want := "good:0 checked  in f32 int8 keeps nan 7ms; good:1 checked  in f32 int8 keeps nan; good:2 checked the driver does not answer within 1s while it computes"; err != nil || describe(rs) != want {
		t.Errorf("%s, %v", describe(rs), err)
	}
	if rs[2].Works() || !rs[0].Works() || time.Since(start) > 10*time.Second {
		t.Errorf("after %v: %+v", time.Since(start), rs)
	}
}

// A child that goes on telling something may take longer than one that is silent.
func TestManyDevicesTakeLonger(t *testing.T) {
	if effort.Now() < effort.CI {
		t.Skip("waits for five seconds")
	}
	t.Parallel()
	p := prober("TEST_CHECK=each 600ms", "TEST_TRY=each 600ms", "TEST_PRODUCT=each 600ms")
	p.Limit = 4 * time.Second // and there are eight steps
	rs, err := p.Fresh(t.Context(), scripted["good"], true)
	const want = "good:0 checked  in f32 int8 keeps nan 7ms; good:1 checked  in f32 int8 keeps nan; good:2 checked  in f32 int8 keeps nan 7ms"
	if got := describe(rs); err != nil || got != want {
		t.Errorf("%v: %s", err, got)
	}
}

// A child is waited for while it tells something, and not beyond the limit of the
// whole.
func TestWatch(t *testing.T) {
	for _, c := range []struct {
		what  string
		every time.Duration // something is told
		ends  time.Duration // after so long; 0: never
		after time.Duration
		want  error
	}{
		{"it is silent", time.Hour, 0, 10 * time.Second, errHangs},
		{"it goes on telling", 9 * time.Second, 0, time.Minute, errSlow},
		{"it ends", 9 * time.Second, 50 * time.Second, 50 * time.Second, nil},
	} {
		synctest.Test(t, func(t *testing.T) {
			ended, told := make(chan error), make(chan struct{})
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				for ticks := time.Tick(c.every); ; {
					select {
					case <-ticks:
						told <- struct{}{}
					case <-ctx.Done():
						return
					}
				}
			}()
			if c.ends > 0 {
				time.AfterFunc(c.ends, func() { ended <- nil })
			}
			begun := time.Now()
			err, over := watch(t.Context(), ended, told, 10*time.Second, time.Minute)
			if err != c.want || over != (c.ends > 0) || time.Since(begun) != c.after {
				t.Errorf("%s: %v, %v after %v", c.what, err, over, time.Since(begun))
			}
			cancel()
		})
	}
}

// Where time ran out that is what is said of all devices that were not reached.
func TestTimeRanOut(t *testing.T) {
	if effort.Now() < effort.CI {
		t.Skip("waits for five seconds")
	}
	t.Parallel()
	p := prober("TEST_CHECK=good:0 hang")
	p.Whole = 5 * time.Second // time to list the devices, on a busy machine too
	rs, err := p.Fresh(t.Context(), scripted["good"], false)
	const want = "good:0 checked time ran out: all devices of its driver together take longer than 5s; good:1; good:2 checked not checked: time ran out: all devices of its driver together take longer than 5s"
	if got := describe(rs); err != nil || got != want {
		t.Errorf("%v: %s", err, got)
	}
}

// A device that passed its check and goes wrong while formats are tried or while
// it is timed works, and has no formats or no time; one that cannot be opened does not.
func TestTimes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ variable, want string }{
		{"TEST_PRODUCT=good:0 no memory", "good:0 checked  in f32 int8 keeps nan not timed: no memory starts in S; good:1; good:2 checked  in f32 int8 keeps nan 7ms"},
		{"TEST_PRODUCT=good:0 crash", "good:0 checked  in f32 int8 keeps nan not timed: the driver crashes: SIGSEGV: segmentation violation, after saying: driver: oh no while it computes; good:1; good:2 checked not checked: another device of its driver failed"},
		{"TEST_PRODUCT=good:2 crash", "good:0 checked  in f32 int8 keeps nan 7ms; good:1; good:2 checked  in f32 int8 keeps nan not timed: the driver crashes: SIGSEGV: segmentation violation, after saying: driver: oh no while it computes"},
		{"TEST_TRY=good:2 no memory", "good:0 checked  in f32 int8 keeps nan 7ms; good:1; good:2 checked  7ms"},
		{"TEST_TRY=good:2 crash", "good:0 checked  in f32 int8 keeps nan 7ms; good:1; good:2 checked  not timed: the driver crashes: SIGSEGV: segmentation violation, after saying: driver: oh no while it computes"},
		{"TEST_OPEN=good:0 busy", "good:0 checked busy; good:1; good:2 checked  in f32 int8 keeps nan 7ms"},
		{"TEST_CLOSE=good:0 lost", "good:0 checked  in f32 int8 keeps nan not timed: lost starts in S; good:1; good:2 checked  in f32 int8 keeps nan 7ms"},
	} {
		p := prober(c.variable)
		p.Dir = t.TempDir()
		rs, err := p.Fresh(t.Context(), scripted["good"], false)
		got := regexp.MustCompile(`starts in [^;]+`).ReplaceAllString(describe(rs), "starts in S")
		if err != nil || got != c.want {
			t.Errorf("%s: %v\n%s, not\n%s", c.variable, err, got, c.want)
		}
		if kept, ok := p.load(scripted["good"]); !ok || describe(kept) != describe(rs) {
			t.Errorf("%s: %s is kept", c.variable, describe(kept))
		}
	}
}

// TestDrivers opens real libraries that go wrong in a process of their own.
func TestDrivers(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("drivers are put in the loader's way as Linux does")
	}
	for _, c := range []struct {
		kind    string
		library func(testing.TB, string) string
		ways    map[string]string
	}{
		{"opencl", cltest.Library, map[string]string{
			"CRASH_AT_LOAD":        "the driver crashes: SIGSEGV: segmentation violation, after saying: driver: cannot cope",
			"CRASH_AT_ENUMERATION": "the driver crashes: SIGABRT: abort",
			"HANG_AT_ENUMERATION":  "the driver does not answer within 2s",
			"EXIT_AT_ENUMERATION":  "the driver ends the program that opens it: exit status 3",
			"NO_DEVICES":           "OpenCL's loader is here, but no driver of a device",
			"MANY_PLATFORMS":       "clGetPlatformIDs: the driver tells of 2147483647 platforms",
			"OLD":                  "libOpenCL.so.1 has no function clFinish",
		}},
		{"cuda", cutest.Library, map[string]string{
			"CRASH_AT_LOAD": "the driver crashes: SIGSEGV: segmentation violation, after saying: driver: cannot cope",
			"CRASH_AT_INIT": "the driver crashes: SIGABRT: abort",
			"HANG_AT_INIT":  "the driver does not answer within 2s",
			"EXIT_AT_INIT":  "the driver ends the program that opens it: exit status 3",
			"NO_DEVICES":    "CUDA_VISIBLE_DEVICES=7 leaves no GPU",
			"STUB":          "cuInit: CUDA_ERROR_STUB_LIBRARY",
			"MANY_DEVICES":  "cuDeviceGetCount: the driver tells of 2147483647 devices",
			"OLD":           "libcuda.so.1 has no function cuGraphInstantiateWithFlags",
		}},
		{"hip", hiptest.Library, map[string]string{
			"CRASH_AT_LOAD": "the driver crashes: SIGSEGV: segmentation violation, after saying: driver: cannot cope",
			"CRASH_AT_INIT": "the driver crashes: SIGABRT: abort",
			"HANG_AT_INIT":  "the driver does not answer within 2s",
			"EXIT_AT_INIT":  "the driver ends the program that opens it: exit status 3",
			"NO_DEVICES":    "ROCm is here, but finds no AMD GPU",
			"NO_DRIVER":     "hipInit: hipErrorInsufficientDriver",
			"MANY_DEVICES":  "hipGetDeviceCount: the driver tells of 2147483647 devices",
			"UNKNOWN":       `Library GPU 0 is a "gfx9999", which sinter does not know`,
			"NO_COMPILER":   "HIP's compiler: libhiprtc.so.7",
			"OLD":           "libamdhip64.so.7 has no function hipModuleLaunchKernel",
		}},
		{"vulkan", vktest.Library, map[string]string{
			"CRASH_AT_LOAD":     "the driver crashes: SIGSEGV: segmentation violation, after saying: driver: cannot cope",
			"CRASH_AT_INSTANCE": "the driver crashes: SIGABRT: abort",
			"HANG_AT_INSTANCE":  "the driver does not answer within 2s",
			"EXIT_AT_INSTANCE":  "the driver ends the program that opens it: exit status 3",
			"NO_DRIVER":         "Vulkan's loader is here, but no driver of a device",
			"NO_DEVICES":        "Vulkan's loader is here, but no driver of a device",
			"MANY_DEVICES":      "vkEnumeratePhysicalDevices: the driver tells of 2147483647",
			"OLD":               "the loader of Vulkan is of version 1.1.0, which is below 1.2",
			"GAP":               "the driver of Vulkan has no function vkGetPhysicalDeviceFeatures2",
		}},
	} {
		t.Run(c.kind, func(t *testing.T) {
			t.Parallel()
			for way, want := range c.ways {
				p := prober("LD_LIBRARY_PATH="+c.library(t, way), "CUDA_VISIBLE_DEVICES=7")
				p.Limit = 2 * time.Second
				start := time.Now()
				rs, err := p.Fresh(t.Context(), scripted[c.kind], true)
				if err != nil || len(rs) != 1 || !strings.HasPrefix(rs[0].Reason, want) || rs[0].Works() {
					t.Errorf("%s: %+v, %v", way, rs, err)
					continue
				}
				if rs[0].Name != c.kind || rs[0].Remedy == "" || time.Since(start) > 10*time.Second {
					t.Errorf("%s after %v: %+v", way, time.Since(start), rs)
				}
			}
		})
	}
}

func TestNoChild(t *testing.T) {
	p := &Prober{Command: func(string, bool) *exec.Cmd { return exec.Command(filepath.Join(t.TempDir(), "none")) }}
	rs, err := p.Fresh(t.Context(), scripted["good"], false)
	if err != nil || len(rs) != 1 || !strings.Contains(rs[0].Reason, "could not be asked") {
		t.Errorf("%+v, %v", rs, err)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	p := prober("TEST_CHECK=good:0 hang")
	p.Dir = t.TempDir()
	if rs, err := p.Fresh(ctx, scripted["good"], false); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, %v", rs, err)
	}
	if _, ok := p.load(scripted["good"]); ok {
		t.Error("what was broken off is kept")
	}
}

// TestBounded has a child that writes without end.
func TestBounded(t *testing.T) {
	w := &bounded{limit: 10}
	for range 5 {
		if n, err := w.Write([]byte("abcd")); n != 4 || err != nil {
			t.Fatal(n, err)
		}
	}
	if got := string(w.bytes()); got != "abcdabcdab" {
		t.Errorf("%q", got)
	}
	var a answer
	if parse(bytes.Repeat([]byte("x"), maxOutput), &a) || len(a.results) > 0 {
		t.Error("noise is an answer")
	}
}

// TestTogether asks from many at once: each has an answer, and what is kept is
// whole.
func TestTogether(t *testing.T) {
	p := prober()
	p.Dir = t.TempDir()
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			if rs, err := p.Kept(t.Context(), scripted["good"], false); err != nil || len(rs) != 3 {
				t.Errorf("%+v, %v", rs, err)
			}
		})
	}
	wait.Wait()
	if _, ok := p.load(scripted["good"]); !ok {
		t.Error("nothing is kept")
	}
}

// A variable that hides GPUs changes what is listed at once, and what was learned
// with each of its values stays.
func TestVisibleDevices(t *testing.T) {
	count := filepath.Join(t.TempDir(), "count")
	dir := t.TempDir()
	for i, c := range []struct {
		value         string
		devices, asks int
	}{{"0,1", 2, 1}, {"0", 1, 2}, {"0,1", 2, 2}, {"0", 1, 2}, {"", 0, 3}, {"", 0, 3}, {"0", 1, 3}} {
		t.Setenv("CUDA_VISIBLE_DEVICES", c.value)
		p := prober("TEST_COUNT="+count, "CUDA_VISIBLE_DEVICES="+c.value)
		p.Dir = dir
		rs, err := p.Kept(t.Context(), hiding, false)
		if err != nil {
			t.Fatal(err)
		}
		there := 0
		for _, r := range rs {
			if r.Reason == "" {
				there++
			}
		}
		asked, _ := os.ReadFile(count)
		if there != c.devices || len(asked) != c.asks {
			t.Errorf("%d: %q: %d devices, asked %d times; want %+v", i, c.value, there, len(asked), c)
		}
	}
}
