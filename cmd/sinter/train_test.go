package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/nn"
	"github.com/sinterml/sinter/optim"
	"github.com/sinterml/sinter/safetensors"
	"github.com/sinterml/sinter/train"
)

func init() { trainTasks = append(trainTasks, (*app).lineCommand) }

// lineNet is a line.
type lineNet struct {
	Line nn.Linear `weight:"line"`
}

// lineCommand is a task of tests: y = 3x - 1. With --rough it never gets there,
// but has more to remember.
func (a *app) lineCommand(f *taskFlags) *cobra.Command {
	var epochs, steps int
	var rough bool
	c := &cobra.Command{Use: "line", Hidden: true, Args: noArgs, RunE: func(c *cobra.Command, _ []string) error {
		t, err := a.startTraining(c.Context(), f, unknown)
		if err != nil {
			return err
		}
		defer t.close()
		net := lineNet{nn.Linear{In: 1, Out: 1}}
		if err := nn.Init(&net, nn.Options{Seed: f.seed}); err != nil {
			return err
		}
		var method optim.Method = optim.SGD{}
		drop := nn.Dropout{}
		if rough {
			method, drop.P = optim.AdamW{}, 0.2
		}
		opt, err := optim.New(optim.Options{}, optim.Group{Params: nn.Params(&net), Method: method})
		if err != nil {
			return err
		}
		x, y := sinter.Input("x", sinter.F32, sinter.N(2), sinter.N(1)), sinter.Input("y", sinter.F32, sinter.N(2), sinter.N(1))
		rows := train.Table{"x": train.Column([]float32{-1, 0, 1, 2}, 1), "y": train.Column([]float32{-4, -1, 2, 5}, 1)}
		r, err := t.run(c.Context(), train.Options{
			Net: &net, Optimizer: opt, Epochs: epochs, Steps: steps, Schedule: optim.Constant(0.1),
			Data: train.Batches{Rows: rows, Size: 2, Shuffle: true},
			Loss: func(m *nn.Mode) (sinter.Tensor, map[string]sinter.Tensor) {
				return sinter.MSE(net.Line.Forward(drop.Forward(x, m)), y), nil
			},
			Evaluate: train.Evaluation{Data: train.Batches{Rows: rows, Size: 2}, Metrics: func() []train.Metric {
				return []train.Metric{train.Mean("mse", net.Line.Forward(x).Sub(y).Square())}
			}},
		})
		if err != nil {
			return err
		}
		mse, _ := r.Scores.Value("mse")
		return t.end(c.Context(), &net, map[string]any{"mse": mse}, func(w io.Writer) { fmt.Fprintf(w, "error %.3f\n", mse) })
	}}
	c.Flags().IntVar(&epochs, "epochs", 50, "epochs")
	c.Flags().IntVar(&steps, "steps", 0, "steps")
	c.Flags().BoolVar(&rough, "rough", false, "drop some and remember more")
	return c
}

// jsonLines reads what a command printed.
func jsonLines(t *testing.T, text string) (all []map[string]any) {
	t.Helper()
	for line := range strings.Lines(text) {
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		all = append(all, v)
	}
	return all
}

func TestTrainLines(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	status, out, errs := runCommand(t, nil, "", "train", "line", "--json", "--out", dir)
	if status != statusDone || errs != "" {
		t.Fatal(status, errs)
	}
	lines := jsonLines(t, out)
	if len(lines) != 51 {
		t.Fatalf("%d lines for 50 epochs", len(lines))
	}
	for i, l := range lines[:50] {
		if l["epoch"] != float64(i) || l["step"] != float64(2*i+2) || l["loss"] == nil || l["mse"] == nil {
			t.Errorf("line %d: %v", i, l)
		}
	}
	last := lines[50]
	for _, name := range []string{"seconds", "train_seconds", "compile_seconds", "first_step_seconds"} {
		if v, _ := last[name].(float64); v <= 0 {
			t.Errorf("%s is %v", name, last[name])
		}
	}
	if mse, ok := last["mse"].(float64); last["done"] != true || last["steps"] != 100.0 || !(ok && mse <= 1e-4) {
		t.Errorf("last line %v", last)
	}
	f, err := safetensors.Open(filepath.Join(dir, "model.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	net := lineNet{nn.Linear{In: 1, Out: 1}}
	if err := nn.Init(&net, nn.Options{}); err != nil {
		t.Fatal(err)
	}
	if _, err := nn.Load(t.Context(), f, &net, nn.LoadOptions{}); err != nil {
		t.Fatal(err)
	}
	w, err := sinter.Values[float32](t.Context(), net.Line.Weight.Tensor())
	if err != nil || !(w[0] >= 2.99 && w[0] <= 3.01) {
		t.Error(w, err)
	}
}

// People get some lines, and steps where the task counts those.
func TestTrainText(t *testing.T) {
	status, out, errs := runCommand(t, nil, "", "train", "line", "--epochs", "0", "--steps", "100", "--seed", "1")
	if status != statusDone || errs != "" {
		t.Fatal(status, errs)
	}
	if n := strings.Count(out, "\n"); n < 20 || n > 80 || !strings.Contains(out, "step 95  loss") || !strings.Contains(out, "error 0.00") {
		t.Errorf("%d lines:\n%s", n, out)
	}
}

func TestTrainDraws(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.png", "b.svg"} {
		path := filepath.Join(dir, name)
		status, _, errs := runCommand(t, nil, "", "train", "line", "--plot", path, "--tensorboard", filepath.Join(dir, name+".events"))
		if status != statusDone || errs != "" {
			t.Fatal(status, errs)
		}
		if info, err := os.Stat(path); err != nil || info.Size() < 1000 {
			t.Error(info, err)
		}
		if names, err := filepath.Glob(filepath.Join(dir, name+".events", "run", "events.out.tfevents.*")); err != nil || len(names) != 1 {
			t.Error(names, err)
		}
	}
}

func TestTrainRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	folder, weights := filepath.Join(t.TempDir(), "a.png"), filepath.Join(t.TempDir(), "model.safetensors")
	for _, name := range []string{folder, weights} { // where files are to be
		if err := os.Mkdir(name, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args []string
		say  string
	}{
		{nil, "give a task"},
		{[]string{"luck"}, `no command "luck"`},
		{[]string{"line", "--out", file}, "is no folder"},
		{[]string{"line", "--resume"}, "--resume needs a folder"},
		{[]string{"line", "--checkpoint-every", "5"}, "--checkpoint-every needs a folder"},
		{[]string{"line", "--checkpoint-every", "-5", "--out", "x"}, "use at least 1"},
		{[]string{"line", "--dtype", "int8"}, "training computes in f32, tf32 or bf16"},
		{[]string{"line", "--plot", "x.jpg"}, "ends in .png or .svg"},
		{[]string{"line", "--plot", filepath.Join(file, "x.png")}, "there is no folder"},
		{[]string{"temporal", "--export", filepath.Join(file, "x")}, "there is no folder"},
		{[]string{"line", "--plot", folder}, "--plot: output"},
		{[]string{"line", "--out", filepath.Dir(weights)}, "--out: output"},
		{[]string{"line", "--out", ""}, "--out is empty"},
		{[]string{"line", "--plot", ""}, "--plot is empty"},
		{[]string{"line", "--tensorboard", ""}, "--tensorboard is empty"},
		{[]string{"line", "--seed", "x"}, "use a whole number"},
	} {
		status, out, errs := runCommand(t, nil, "", append([]string{"train"}, c.args...)...)
		if status != statusUsage || !strings.Contains(errs, c.say) || out != "" {
			t.Errorf("train %q: status %d, %q, want %q", c.args, status, errs, c.say)
		}
	}
}

// A bar is taken away before a line of JSON, as both may go to one terminal.
func TestTrainClearsBar(t *testing.T) {
	var b bytes.Buffer
	r := &trainRun{app: &app{settings: settings{json: true}}, out: newLines(&b), progress: &progress{w: &b, width: 3, drawn: time.Now()}}
	if err := errors.Join(r.report(train.Event{Step: 1}), r.sample(1, "x")); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(b.String(), "\r   \r{") {
		t.Errorf("%q", b.String())
	}
}
