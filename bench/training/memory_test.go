package training_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/bench/training"
	"github.com/sinterml/sinter/internal/effort"
)

// memory is what a few steps of training took.
type memory struct {
	Tensors  int64 // bytes of the device's memory, at most
	Resident int64 // bytes by which the process grew, at most
	Step     time.Duration
}

// memoryOf is the task of a child process: what it grows by is a step's.
const memoryOf = "SINTER_TEST_MEMORY"

// TestStepMemory bounds the memory of a step of the largest GPT, with its
// gradients clipped: everything kept, and each block computed again.
func TestStepMemory(t *testing.T) {
	if how := os.Getenv(memoryOf); how != "" {
		m, err := measureMemory(how == "recompute")
		if err != nil {
			t.Fatal(err)
		}
		text, _ := json.Marshal(m)
		fmt.Printf("memory: %s\n", text)
		return
	}
	if effort.Now() < effort.CI || runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("takes ten seconds with machine code, and reads /proc: set SINTER_CI=1")
	}
	var all [2]memory
	for i, c := range []struct {
		how   string
		limit int64
	}{{"keep", 430e6}, {"recompute", 275e6}} {
		child := exec.Command(os.Args[0], "-test.run=^TestStepMemory$", "-test.v")
		child.Env = append(os.Environ(), memoryOf+"="+c.how, "GOGC=100") // as programs collect garbage
		out, err := child.CombinedOutput()
		_, text, ok := strings.Cut(string(out), "memory: ")
		if err != nil || !ok {
			t.Fatalf("%v: %s", err, out)
		}
		m := &all[i]
		if err := json.NewDecoder(strings.NewReader(text)).Decode(m); err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: tensors %d MB, resident %d MB more, a step takes %v", c.how, m.Tensors/1e6, m.Resident/1e6, m.Step)
		if m.Tensors > c.limit {
			t.Errorf("%s: tensors take %d MB, want at most %d", c.how, m.Tensors/1e6, c.limit/1e6)
		}
		if ratio := float64(m.Resident) / float64(m.Tensors); ratio > 1.1 || ratio < 0.9 {
			t.Errorf("%s: the process grows by %.2f of its tensors", c.how, ratio)
		}
	}
	t.Logf("recomputing takes %.2f times as long", all[1].Step.Seconds()/all[0].Step.Seconds())
}

func measureMemory(recompute bool) (*memory, error) {
	ctx := context.Background()
	net, err := training.Find("gpt6")
	if err != nil {
		return nil, err
	}
	d, err := sinter.Open("cpu")
	if err != nil {
		return nil, err
	}
	defer d.Close()
	step, err := net.Step(training.Options{ClipNorm: 1, Recompute: recompute})
	if err != nil {
		return nil, err
	}
	program, err := sinter.Compile(step.Graph, sinter.Options{Device: d})
	if err != nil {
		return nil, err
	}
	defer program.Close()
	debug.FreeOSMemory()
	before, err := resident("VmRSS")
	if err != nil {
		return nil, err
	}
	best := time.Hour
	for range effort.Of(1, 1, 2, 5) { // steps
		begin := time.Now()
		outs, err := program.Run(ctx, step.Inputs)
		if err != nil {
			return nil, err
		}
		for _, o := range outs {
			o.Release()
		}
		best = min(best, time.Since(begin))
	}
	after, err := resident("VmHWM")
	return &memory{Tensors: d.Stats().Peak, Resident: after - before, Step: best}, err
}

// resident is a line of /proc/self/status, in bytes.
func resident(name string) (int64, error) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	_, line, ok := strings.Cut(string(text), name+":")
	if !ok {
		return 0, fmt.Errorf("no line %s", name)
	}
	kb, err := strconv.ParseInt(strings.Fields(line)[0], 10, 64)
	return kb << 10, err
}
