package main

import (
	"context"
	"fmt"
	"io/fs"
	"math"
	"strings"

	"github.com/sinterml/sinter/cmd/sinter/internal/probe"
	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/trial"
)

// choice is the device that "auto" stands for, and why.
type choice struct{ name, why string }

// unknown is work of which nothing is known.
const unknown = math.MaxFloat64

// task is what a device is to do, in multiply-adds: all of it, and each of the runs,
// one after another, that it is made of.
type task struct{ all, run float64 }

// unknownTask is one of which nothing is known.
var unknownTask = task{unknown, unknown}

// choose makes the choice for a task: the first GPU by kind that is no slower than
// the processor, unless that has ended the task before the GPU would have begun, or
// each run in less than the GPU takes to begin one. One that was not timed is not
// taken.
func choose(ctx context.Context, all []probe.Result, work task) (choice, error) {
	known := map[string]probe.Result{}
	for _, r := range all {
		known[r.Name] = r
	}
	var passed []string
	for _, e := range device.Ranked(entriesOf(all)) {
		r := known[e.Name]
		if e.Kind == "cpu" {
			continue
		}
		fast, processor, err := trial.Default().KeepsUp(ctx, r.Product)
		switch {
		case err != nil:
			return choice{}, err
		case r.Product == 0:
			passed = append(passed, fmt.Sprintf("%s could not be timed: %s", r.Name, r.Untimed))
			continue
		}
		times := fmt.Sprintf("a product takes %s on %s, %s on cpu", shortTime(r.Product.Seconds()), r.Name, shortTime(processor.Seconds()))
		if !fast {
			passed = append(passed, times)
			continue
		}
		rate := trial.SpeedWork / (2 * processor.Seconds()) // a model reaches half that of a product at least
		switch {
		case work.all/rate <= max(device.StartTime, r.Start).Seconds():
			return choice{"cpu", fmt.Sprintf("the work is done before %s has started", r.Name)}, nil
		case work.run/rate <= device.LaunchTime.Seconds():
			return choice{"cpu", fmt.Sprintf("a run is done before %s has begun with it", r.Name)}, nil
		}
		return choice{r.Name, strings.Join(append(passed, times), "; ")}, nil
	}
	if len(passed) > 0 {
		return choice{"cpu", strings.Join(passed, "; ")}, nil
	}
	return choice{"cpu", whyNoGPU(all)}, nil
}

// whyNoGPU says what there is where nothing could be taken.
func whyNoGPU(all []probe.Result) string {
	var software, broken []string
	for _, r := range all {
		switch {
		case r.Fault != "":
			broken = append(broken, r.Name)
		case r.Reason == "" && r.Software && external(r.Kind):
			software = append(software, r.Name)
		}
	}
	why := "there is no GPU"
	if len(software) > 0 {
		why += " but " + strings.Join(software, ", ") + ", which is software"
		if len(software) > 1 {
			why = strings.TrimSuffix(why, "which is software") + "which are software"
		}
	}
	if len(broken) > 0 {
		why += "; " + strings.Join(broken, ", ") + " does not work"
	}
	return why
}

// shortTime is a time in seconds for people.
func shortTime(seconds float64) string { return fmt.Sprintf("%.3g ms", 1e3*seconds) }

// workOf guesses the multiply-adds that a model needs for texts of so many bytes
// in all, from the size of its weights: two bytes a weight, three a token, and
// the two tokens that stand around a text. Where the weights are not in one of
// these files it is unknown.
func workOf(files fs.FS, texts, bytes int) float64 {
	for _, name := range []string{"model.safetensors", "pytorch_model.bin", "model.onnx"} {
		if info, err := fs.Stat(files, name); err == nil {
			return float64(info.Size()) / 2 * (float64(bytes)/3 + 2*float64(texts))
		}
	}
	return unknown
}
