package launch_test

import (
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/launch"
	"github.com/sinterml/sinter/internal/device/toy"
)

// counting counts what is asked of a driver.
type counting struct {
	launch.Backend
	mu    sync.Mutex
	calls map[string]int
	gate  chan bool // if not nil, what each run takes something from
}

func (c *counting) count(call string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls == nil {
		c.calls = map[string]int{}
	}
	c.calls[call]++
}

// since gives the calls that there were since it was called last.
func (c *counting) since() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := maps.Clone(c.calls)
	clear(c.calls)
	return all
}

func (c *counting) Alloc(n int) (launch.Memory, error) {
	c.count("alloc")
	return c.Backend.Alloc(n)
}

func (c *counting) Write(to launch.Memory, offset int, p []byte) error {
	c.count(fmt.Sprint("write ", len(p)))
	return c.Backend.Write(to, offset, p)
}

func (c *counting) Read(p []byte, from launch.Memory, offset int) error {
	c.count(fmt.Sprint("read ", len(p)))
	return c.Backend.Read(p, from, offset)
}

func (c *counting) Copy(to, from launch.Memory, n int) error {
	c.count(fmt.Sprint("copy ", n))
	return c.Backend.Copy(to, from, n)
}

func (c *counting) Zero(m launch.Memory, n int) error {
	c.count("zero")
	return c.Backend.Zero(m, n)
}

func (c *counting) Build(code *launch.Code) (launch.Program, error) {
	p, err := c.Backend.Build(code)
	return countedProgram{p, c}, err
}

type countedProgram struct {
	launch.Program
	c *counting
}

func (p countedProgram) Record(l []launch.Launch) (launch.Recording, error) {
	r, err := p.Program.Record(l)
	return countedRecording{r, p.c, len(l)}, err
}

type countedRecording struct {
	launch.Recording
	c        *counting
	launches int
}

func (r countedRecording) SetMemory(at, arg int, m launch.Memory) error {
	r.c.count("set memory")
	return r.Recording.SetMemory(at, arg, m)
}

func (r countedRecording) SetInt(at, arg int, n int64) error {
	r.c.count("set int")
	return r.Recording.SetInt(at, arg, n)
}

func (r countedRecording) Run() error {
	r.c.count(fmt.Sprintf("run of %d", r.launches))
	if r.c.gate != nil {
		<-r.c.gate
	}
	return r.Recording.Run()
}

// openCounting makes a device known whose driver's calls are counted, and opens it.
func openCounting(t *testing.T) (*sinter.Device, *counting) {
	t.Helper()
	c := &counting{Backend: toy.Backend(0)}
	name := "counting-" + t.Name()
	device.Register(device.Driver{
		Name: name,
		List: func() ([]device.Properties, error) { return []device.Properties{{Description: "counting"}}, nil },
		Open: func(int) (device.Device, error) { return launch.New(c, toy.Options()) },
	})
	d, err := sinter.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d, c
}

func compileOn(t *testing.T, d *sinter.Device, outputs ...sinter.Tensor) *sinter.Program {
	t.Helper()
	p, err := sinter.Compile(sinter.Capture(outputs...), sinter.Options{Device: d, Check: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// A step of training brings its batch to the device, and nothing else: parameters
// change where they lie, and what lies there already is neither made nor written
// again.
func TestCallsOfStep(t *testing.T) {
	d, c := openCounting(t)
	ctx := t.Context()
	table := sinter.Of(make([]float32, 100*16), 100, 16)
	w := sinter.NewVariable("w", sinter.Full(sinter.F32, 0.5, sinter.N(16), sinter.N(8)))
	m := sinter.NewVariable("m", sinter.Full(sinter.F32, 0, sinter.N(16), sinter.N(8)))
	y := table.Take(sinter.Input("rows", sinter.I32, sinter.N(32)), 0).MatMul(w.Tensor())
	l := y.Sub(sinter.Scalar(1)).Square().Mean()
	next := m.Tensor().Mul(sinter.Scalar(0.9)).Add(sinter.Grad(l, w.Tensor())[0])
	step := compileOn(t, d, m.Assign(next), w.Assign(w.Tensor().Sub(next.Mul(sinter.Scalar(0.1)))), l)
	wants := map[string]int{
		"alloc": 1, "write 128": 1, "set memory": 1, // the batch
		"run of 1": 1, "read 4": 1, "run of 4": 1, // its indices are right before parameters are written
	}
	for i := range 5 {
		if err := step.Step(ctx, map[string]sinter.Tensor{"rows": sinter.Of(make([]int32, 32), 32)}); err != nil {
			t.Fatal(err)
		}
		if calls := c.since(); i > 0 && !maps.Equal(calls, wants) {
			t.Errorf("step %d: %v, not %v", i, calls, wants)
		}
	}
}

// Weights are brought to the device once, for all programs and sizes that use
// them.
func TestCallsForWeights(t *testing.T) {
	d, c := openCounting(t)
	ctx := sinter.WithDevice(t.Context(), d)
	w := sinter.Of(make([]float32, 24*24), 24, 24)
	writes := 0
	for n := range 4 {
		x := sinter.Of(make([]float32, 24*(n+1)), n+1, 24)
		for _, y := range []sinter.Tensor{x.MatMul(w), x.MatMul(w).Exp(), x.MatMul(w.T())} {
			if _, err := sinter.Values[float32](ctx, y); err != nil {
				t.Fatal(err)
			}
			writes += c.since()[fmt.Sprint("write ", 4*24*24)]
		}
	}
	if writes != 1 {
		t.Errorf("the weight was written %d times", writes)
	}
}

// The batch of the next step is brought to the device while a step runs, whose
// variables it has to wait for.
func TestNextBatchComesBeforeItsTurn(t *testing.T) {
	d, c := openCounting(t)
	ctx := t.Context()
	v := sinter.NewVariable("v", sinter.Full(sinter.F32, 0, sinter.N(50)))
	step := compileOn(t, d, v.Assign(v.Tensor().Add(sinter.Input("x", sinter.F32, sinter.N(50)))))
	batch := func() map[string]sinter.Tensor {
		return map[string]sinter.Tensor{"x": sinter.Of(make([]float32, 50), 50)}
	}
	if err := step.Step(ctx, batch()); err != nil {
		t.Fatal(err)
	}
	c.since()
	c.gate = make(chan bool)
	var wait sync.WaitGroup
	for range 2 {
		wait.Go(func() {
			if err := step.Step(ctx, batch()); err != nil {
				t.Error(err)
			}
		})
	}
	calls := map[string]int{}
	for until := time.Now().Add(10 * time.Second); calls["write 200"] < 2 && time.Now().Before(until); time.Sleep(time.Millisecond) {
		for call, n := range c.since() {
			calls[call] += n
		}
	}
	close(c.gate)
	wait.Wait()
	if calls["write 200"] != 2 || calls["run of 1"] > 1 {
		t.Errorf("before a step has ended: %v", calls)
	}
}
