package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/nn"
	"github.com/sinterml/sinter/train"
	"github.com/sinterml/sinter/train/report"
)

// trainRun is one run of a task: its lines of output, and what they add up to.
type trainRun struct {
	*app
	flags    *taskFlags
	device   *sinter.Device
	out      *lines
	progress *progress
	start    time.Time
	byEpoch  bool // a line an epoch, not a step
	every    int  // steps between the lines for people
	spent    train.Result
	runs     int               // begun
	unheard  error             // why an event could not be told
	curves   report.Curves     // of the last of them
	metadata map[string]string // of the file of weights
	export   func() error      // writes what the task makes beside the weights; nil: nothing
	data     string            // a checksum of what the user gave to learn from; "": nothing
}

// startTraining opens the device for steps of so many multiply-adds. The task ends it
// by end.
func (a *app) startTraining(ctx context.Context, f *taskFlags, step float64) (*trainRun, error) {
	t := &trainRun{app: a, flags: f, start: time.Now(), out: newLines(a.stdout), progress: &progress{}}
	if err := f.check(a); err != nil {
		return nil, err
	}
	if err := a.checkOutput("plot", f.plot); err != nil {
		return nil, err
	}
	var err error
	t.device, err = a.openDeviceFor(ctx, task{unknown, step})
	return t, err
}

// stepWork is how many multiply-adds a step of training takes by which each weight
// of a net is multiplied so often, and for two gradients once more each.
func stepWork(net any, uses int) float64 {
	weights := 0.0
	for _, v := range nn.Params(net) {
		n := 1.0
		for _, d := range v.Tensor().Shape() {
			size, _ := d.Const()
			n *= float64(size)
		}
		weights += n
	}
	if weights == 0 {
		return unknown
	}
	return 3 * weights * float64(uses)
}

// compileOptions are for programs that the task compiles itself.
func (t *trainRun) compileOptions() sinter.Options {
	return sinter.Options{Device: t.device, NoOpt: t.settings.noOpt, Precision: precisionOf(t.settings.dtype)}
}

// run trains by the options of the task, to which it adds what the flags say.
// A task that runs several times does so in the same order each time: checkpoints
// of each have a folder in that of --out.
func (t *trainRun) run(ctx context.Context, o train.Options) (*train.Result, error) {
	o.Seed, o.Compile = t.flags.seed, t.compileOptions()
	if o.Report == nil {
		o.Report = t.report
	}
	t.runs++
	part := "" // what a task's second run, and later ones, are told apart by
	if t.runs > 1 {
		part = fmt.Sprint("-", t.runs)
	}
	t.curves = report.Curves{}
	board, err := t.keepEvents(&o, part)
	if err != nil {
		return nil, err
	}
	folder := o.Checkpoints.Dir
	o.Checkpoints = train.Checkpoints{} // without --out nothing is kept
	if t.flags.out != "" {
		o.Checkpoints = train.Checkpoints{Dir: filepath.Join(t.flags.out, cmp.Or(folder, "checkpoints"+part)), Every: t.flags.every, Resume: t.flags.resume, Settings: t.flags.settings(t.settings.dtype)}
		if t.data != "" {
			o.Checkpoints.Settings["data"] = t.data
		}
		if err := os.MkdirAll(t.flags.out, 0o777); err != nil {
			return nil, fmt.Errorf("making the folder for the model: %w", err)
		}
	}
	t.byEpoch = o.Epochs > 0
	steps := o.Steps
	if b, ok := o.Data.(interface{ Count() int }); ok && steps == 0 {
		steps = o.Epochs * b.Count()
	}
	t.every = max(1, steps/20)
	saving.RLock()
	defer saving.RUnlock() // when it has been said where the run is kept
	t.progress = t.startProgress("training", int64(steps))
	defer t.progress.end()
	r, err := train.Run(ctx, o)
	if board != nil {
		if e := board.Close(); err == nil {
			err = e
		}
	}
	if interrupted := ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx))); r != nil && o.Checkpoints.Dir != "" && !t.settings.quiet && (interrupted || t.unheard != nil && errors.Is(err, t.unheard)) {
		t.progress.end()
		why := "interrupted"
		if !interrupted {
			why = "output failed"
		}
		fmt.Fprintf(t.stderr, "sinter: %s at step %d, which is kept in %s: --resume goes on from there\n", why, r.Step, o.Checkpoints.Dir)
	}
	if r != nil {
		t.spent.Compile += r.Compile
		t.spent.First += r.First
		t.spent.Train += r.Train
		t.spent.Step += r.Step
	}
	return r, err
}

// keepEvents has a run tell its events to what draws them as well. The file for
// TensorBoard, if there is one, is to be closed.
func (t *trainRun) keepEvents(o *train.Options, part string) (board *report.TensorBoard, err error) {
	if t.flags.board != "" {
		if board, err = report.NewTensorBoard(filepath.Join(t.flags.board, "run"+part)); err != nil {
			return nil, err
		}
	}
	tell := o.Report
	o.Report = func(e train.Event) error {
		if t.flags.plot != "" {
			t.curves.Add(e)
		}
		if board != nil {
			if t.unheard = board.Add(e); t.unheard != nil {
				return t.unheard
			}
		}
		t.unheard = tell(e)
		return t.unheard
	}
	return board, nil
}

// draw makes the plot of the last run.
func (t *trainRun) draw() error {
	out, err := t.createOutput(t.flags.plot)
	if err != nil {
		return err
	}
	return out.close(t.curves.Draw(out, strings.TrimPrefix(filepath.Ext(t.flags.plot), ".")))
}

// report prints a line a step, or an epoch, and moves the progress bar.
func (t *trainRun) report(e train.Event) error {
	if !e.EpochEnd && t.progress.due(int64(e.Step)-t.progress.done) {
		t.progress.draw(fmt.Sprintf("%s  loss %.4g", t.progress.bar(), e.Loss))
	}
	if e.EpochEnd != t.byEpoch && e.Scores == nil {
		return nil
	}
	if !t.settings.json && !t.byEpoch && e.Step%t.every > 0 && e.Scores == nil {
		return nil
	}
	t.progress.end() // a line and the bar may share a terminal
	if t.settings.json {
		if err := t.out.json.Encode(jsonLine(e)); err != nil {
			return err
		}
		return t.out.Flush()
	}
	fmt.Fprintln(t.out, textLine(e))
	return t.out.Flush()
}

// jsonLine is an event as an object. Numbers that JSON does not have are null.
func jsonLine(e train.Event) map[string]any {
	line := map[string]any{"step": e.Step, "epoch": e.Epoch, "loss": finite(e.Loss), "learning_rate": finite(e.Rate), "seconds": e.Elapsed.Seconds()}
	for _, some := range []map[string]float64{e.Metrics, e.Scores.Values()} {
		for name, v := range some {
			line[name] = finite(v)
		}
	}
	return line
}

func finite(v float64) any {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return v
}

// textLine is an event for people.
func textLine(e train.Event) string {
	var b strings.Builder
	if e.EpochEnd {
		fmt.Fprintf(&b, "epoch %d  ", e.Epoch+1)
	}
	fmt.Fprintf(&b, "step %d  loss %.4f", e.Step, e.Loss)
	for _, some := range []map[string]float64{e.Metrics, e.Scores.Values()} {
		for _, name := range slices.Sorted(maps.Keys(some)) {
			fmt.Fprintf(&b, "  %s %.4f", strings.ReplaceAll(name, "_", " "), some[name])
		}
	}
	return b.String()
}

// end keeps the weights of a net, if that was asked for, and prints the last
// line: fields as JSON, or what text writes.
func (t *trainRun) end(ctx context.Context, net any, fields map[string]any, text func(w io.Writer)) error {
	if t.flags.out != "" {
		if err := t.save(ctx, net); err != nil {
			return err
		}
	}
	if t.export != nil {
		if err := t.export(); err != nil {
			return err
		}
	}
	if t.flags.plot != "" {
		if err := t.draw(); err != nil {
			return err
		}
	}
	if !t.settings.json {
		text(t.out)
		fmt.Fprintf(t.out, "%d steps in %.2f s, and %.2f s to compile and to do the first\n", t.spent.Step, t.spent.Train.Seconds(), (t.spent.Compile + t.spent.First).Seconds())
		return t.out.Flush()
	}
	last := map[string]any{
		"done": true, "steps": t.spent.Step, "seconds": time.Since(t.start).Seconds(), "train_seconds": t.spent.Train.Seconds(),
		"compile_seconds": t.spent.Compile.Seconds(), "first_step_seconds": t.spent.First.Seconds(),
	}
	maps.Copy(last, fields)
	if err := t.out.json.Encode(last); err != nil {
		return err
	}
	return t.out.Flush()
}

// save writes the final weights.
func (t *trainRun) save(ctx context.Context, net any) error {
	out, err := t.createOutput(t.flags.weights())
	if err != nil {
		return err
	}
	return out.close(nn.Save(sinter.WithDevice(ctx, t.device), out, net, t.metadata))
}

// close gives the device back.
func (t *trainRun) close() { _ = t.device.Close() }
