package main

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/cmd/sinter/internal/probe"
	"github.com/sinterml/sinter/cmd/sinter/internal/temporal"
	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/cpu"
	"github.com/sinterml/sinter/internal/device/trial"
	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/internal/ir"
)

// The environment of a command that is to find a GPU.
const (
	envGPU    = "SINTER_TEST_GPU"     // what it is like: fast, slow, software, wrong, fragile
	envGPULog = "SINTER_TEST_GPU_LOG" // a file to which each use is written: a word and the command
)

// gpu is a device of tests, which is the processor but for the product by which
// devices are timed.
type gpu struct {
	*cpu.Device
	like string
}

func (g gpu) Submit(ctx context.Context, b *device.Bound) (device.Event, error) {
	const timedBytes = 4 << 20
	if b.Outputs[0].Size() == timedBytes {
		if g.like == "slow" {
			time.Sleep(time.Second)
		}
		return ended{}, nil
	}
	e, err := g.Device.Submit(ctx, b)
	if err == nil && g.like == "wrong" && e.Wait(ctx) == nil {
		b.Outputs[0].Bytes()[3] ^= 0x20
	}
	return e, err
}

// CompileGraph crashes at a sort of f32 where the device is fragile.
func (g gpu) CompileGraph(ctx context.Context, graph *ir.Graph, o device.Options) (device.Module, error) {
	if g.like == "fragile" && slices.ContainsFunc(graph.Nodes, func(n *ir.Node) bool { return n.Op == ir.Sort && n.In[0].DType == ir.F32 }) {
		*(*byte)(nil) = 1
	}
	return g.Device.CompileGraph(ctx, graph, o)
}

type ended struct{}

func (ended) Wait(context.Context) error { return nil }

// registerGPU puts the device in the place of Apple's GPUs.
func registerGPU(like string) {
	note := func(what string) {
		if f, err := os.OpenFile(os.Getenv(envGPULog), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
			f.WriteString(what + " by " + os.Args[1] + "\n")
			f.Close()
		}
	}
	device.Register(device.Driver{
		Name: "metal", External: true, Environment: []string{envGPU},
		List: func() ([]device.Properties, error) {
			note("listed")
			return []device.Properties{{Description: "GPU of tests", Driver: like, Software: like == "software"}}, nil
		},
		Open: func(int) (device.Device, error) {
			note("opened")
			c, err := cpu.New(cpu.Options{})
			return gpu{c, like}, err
		},
	})
}

// gpuMachine is a machine with the GPU of tests and no other.
type gpuMachine struct {
	t   *testing.T
	env []string
	log string
}

func newGPUMachine(t *testing.T, like string) *gpuMachine {
	m := &gpuMachine{t: t, log: filepath.Join(t.TempDir(), "log")}
	for _, home := range []string{"HOME", "XDG_CACHE_HOME", "LocalAppData"} {
		m.env = append(m.env, home+"="+t.TempDir())
	}
	m.env = append(m.env, envMain+"=1", envGPU+"="+like, envGPULog+"="+m.log, "VK_DRIVER_FILES=/none", "VK_ICD_FILENAMES=/none", "OCL_ICD_VENDORS=/none")
	return m
}

// start runs the command.
func (m *gpuMachine) start(stdin string, args ...string) (stdout []byte, stderr string, err error) {
	m.t.Helper()
	exe, err := os.Executable()
	if err != nil {
		m.t.Fatal(err)
	}
	os.Remove(m.log)
	c := exec.CommandContext(m.t.Context(), exe, args...)
	c.Env = append(os.Environ(), m.env...)
	c.Stdin = strings.NewReader(stdin)
	var complaints strings.Builder
	c.Stderr = &complaints
	out, err := c.Output()
	return out, complaints.String(), err
}

// run runs a command that succeeds, and tells how the GPU was used meanwhile.
func (m *gpuMachine) run(stdin string, args ...string) (stdout, used string) {
	m.t.Helper()
	out, complaints, err := m.start(stdin, args...)
	if err != nil {
		m.t.Fatalf("%v: %v\n%s", args, err, complaints)
	}
	log, _ := os.ReadFile(m.log)
	return string(out), string(log)
}

func (m *gpuMachine) devices() deviceList {
	m.t.Helper()
	out, _ := m.run("", "device", "--json")
	var list deviceList
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		m.t.Fatal(err)
	}
	return list
}

// TestAuto runs commands on machines with a GPU that is faster than any
// processor, slower than any, software, or wrong.
func TestAuto(t *testing.T) {
	model := tiny(t, nil)
	for _, c := range []struct{ like, auto, why string }{
		{"fast", "metal:0", "a product takes "},
		{"slow", "cpu", "a product takes 1e+03 ms on metal:0, "},
		{"software", "cpu", "there is no GPU but metal:0, which is software"},
		{"wrong", "cpu", "there is no GPU; metal:0 does not work"},
	} {
		t.Run(c.like, func(t *testing.T) {
			if c.like == "slow" && effort.Now() < effort.CI {
				t.Skip("waits for twelve seconds")
			}
			t.Parallel()
			m := newGPUMachine(t, c.like)
			// The first command has a child ask, and opens the GPU if that is the best.
			opened := ""
			if c.auto != "cpu" {
				opened = "listed by embed\nopened by embed\n"
			}
			asked := "listed by probe\nopened by probe\n"
			if c.like == "software" {
				asked = "listed by probe\n"
			}
			if _, used := m.run("text\n", "embed", "--model", model); used != asked+opened {
				t.Errorf("the first time: %q", used)
			}
			if _, used := m.run("text\n", "embed", "--model", model); used != opened {
				t.Errorf("later: %q", used)
			}
			list := m.devices()
			d := list.find("metal:0")
			timed := c.like == "fast" || c.like == "slow"
			if list.Auto != c.auto || list.Best != c.auto || !strings.HasPrefix(list.Why, c.why) || (d.Product > 0) != timed || (d.Start > 0) != timed {
				t.Errorf("%+v", list)
			}
			if text, _ := m.run("", "device"); !strings.Contains(text, "\nauto is "+c.auto+": "+c.why) {
				t.Errorf("%s", text)
			}
		})
	}
}

// TestAutoAsksNobody has a fast GPU, and commands that need not know of it.
func TestAutoAsksNobody(t *testing.T) {
	model := tiny(t, nil)
	m := newGPUMachine(t, "fast")
	for what, args := range map[string][]string{
		"short work":   {"embed", "--model", model, "hello"},
		"the cpu":      {"embed", "--model", model, "--device", "cpu"},
		"no execution": {"tokenize", "--model", model, "hello"},
		"short steps":  {"train", "temporal", "--rows", "500", "--epochs", "1", "--hidden", "4"},
	} {
		if _, used := m.run("text\n", args...); used != "" {
			t.Errorf("%s: %q", what, used)
		}
	}
	m.env = append(m.env, envDevice+"=cpu")
	if _, used := m.run("text\n", "embed", "--model", model); used != "" {
		t.Errorf("the cpu by a variable: %q", used)
	}
	if _, used := m.run("text\n", "embed", "--model", model, "--device", "metal", "hello"); !strings.HasSuffix(used, "opened by embed\n") {
		t.Errorf("a flag goes before the variable, and is obeyed for short work: %q", used)
	}
}

// TestChoose is about work and times, without devices.
func TestChoose(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	processor, err := trial.Default().Processor(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	second := trial.SpeedWork * (time.Second.Seconds() / processor.Seconds()) // what the processor does in one
	of := func(name string, start, product time.Duration, untimed string) probe.Result {
		kind, _, _ := device.ParseName(name)
		return probe.Result{Entry: device.Entry{Name: name, Kind: kind}, Checked: true, Start: start, Product: product, Untimed: untimed}
	}
	fast, slow := of("vulkan:0", time.Second, 1, ""), of("cuda:0", time.Second, time.Hour, "")
	for _, c := range []struct {
		what string
		all  []probe.Result
		work task
		want string
		why  []string
	}{
		{"nothing", nil, unknownTask, "cpu", []string{"there is no GPU"}},
		{"the second is faster", []probe.Result{slow, fast}, unknownTask, "vulkan:0", []string{"3.6e+06 ms on cuda:0", "1e-06 ms on vulkan:0"}},
		{"short for the start of this GPU", []probe.Result{fast}, task{second / 10, unknown}, "cpu", []string{"before vulkan:0 has started"}},
		{"not short", []probe.Result{fast}, task{10 * second, unknown}, "vulkan:0", nil},
		{"a quick start", []probe.Result{of("vulkan:0", 1, 1, "")}, task{second, unknown}, "vulkan:0", nil},
		{"runs that are short", []probe.Result{fast}, task{unknown, second / 20_000}, "cpu", []string{"before vulkan:0 has begun with it"}},
		{"runs that are not", []probe.Result{fast}, task{unknown, second / 5_000}, "vulkan:0", nil},
		{"not timed", []probe.Result{of("cuda:0", 1, 0, "the driver hangs")}, unknownTask, "cpu", []string{"cuda:0 could not be timed: the driver hangs"}},
		{"a kind that is opened by name", []probe.Result{of("odd:0", 1, 1, "")}, unknownTask, "cpu", nil},
	} {
		got, err := choose(t.Context(), c.all, c.work)
		if err != nil || got.name != c.want {
			t.Errorf("%s: %+v, %v", c.what, got, err)
		}
		for _, w := range c.why {
			if !strings.Contains(got.why, w) {
				t.Errorf("%s: %q is not in %q", c.what, w, got.why)
			}
		}
	}
}

// The nets that a step is counted of have as many weights as they say.
func TestStepWork(t *testing.T) {
	variable := func(shape ...int) *sinter.Variable {
		return sinter.NewVariable("v", sinter.Zeros(sinter.F32, sinter.Dims(shape...)...))
	}
	net := struct {
		Weight *sinter.Variable `weight:"weight"`
		Bias   *sinter.Variable `weight:"bias"`
	}{variable(3, 5), variable(5)}
	if got := stepWork(nil, 7); got != unknown {
		t.Errorf("without weights: %v", got)
	}
	if got := stepWork(&net, 7); got != 3*7*(3*5+5) {
		t.Errorf("%v", got)
	}
	task, err := temporal.NewTask(temporal.Options{Net: temporal.MLPName, Rows: 5000})
	if err != nil {
		t.Fatal(err)
	}
	if got, least := stepWork(task.Net.Module, task.Batch()), 3*128*64.0; got < least || got > 1000*least {
		t.Errorf("a step on %d rows is %v multiply-adds", task.Batch(), got)
	}
}

func TestWorkOf(t *testing.T) {
	files := fstest.MapFS{"model.safetensors": {Data: make([]byte, 100)}, "model.onnx": {Data: make([]byte, 7)}}
	if got := workOf(files, 2, 6); got != 50*6 {
		t.Errorf("%v", got)
	}
	if got := workOf(fstest.MapFS{}, 1, 1); got != unknown {
		t.Errorf("without weights: %v", got)
	}
	var model fs.FS = defaultModel()
	if work := workOf(model, 1, len("hello")); !device.Short(work, device.StartTime) {
		t.Errorf("a word is %v multiply-adds", work)
	}
}

// find is what is listed of a device.
func (l deviceList) find(id string) deviceRow {
	for _, d := range l.Devices {
		if d.ID == id {
			return d
		}
	}
	return deviceRow{}
}
