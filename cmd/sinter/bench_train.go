package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/bench"
	"github.com/sinterml/sinter/bench/training"
)

const benchTrainHelp = `Times a step of training: a perceptron 784-512-512-10 with SGD, and two GPTs of
characters with AdamW. The bound is the time of the multiplications and
additions of products and attention at the peak of the number format.

Accuracy is how far a loss is off, relative to it, at most: of the first steps
from those in f32 on one thread without any optimisation or, with --from, of
gpt6 from the first 10 losses in a file. Such a file has tensors "weight.*" to begin
with, "ids" and "targets" of every step, and "losses".`

// trainStages are those of stageNames whose text a device traces.
var trainStages = []string{"trace", "simplify", "partition", "plan", "loops", "code"}

// trainFlags are those of bench train.
type trainFlags struct {
	nets    []string // all, if none
	from    string
	profile bool
	stage   string
	html    string
}

// shows tells that nothing is measured.
func (f trainFlags) shows() bool { return f.profile || f.stage != "" || f.html != "" }

func (f trainFlags) check() error {
	for _, name := range f.nets {
		if _, err := training.Find(name); err != nil {
			return usagef("--net: %v", err)
		}
	}
	switch {
	case f.stage != "" && !slices.Contains(trainStages, f.stage):
		return usagef("--stage %q: use %s", f.stage, strings.Join(trainStages, ", "))
	case f.stage != "" && f.profile:
		return usagef("--stage and --profile print different things: give one")
	case f.stage != "" && f.html != "":
		return usagef("--html shows all stages: give it without --stage")
	case f.html != "" && len(f.nets) != 1:
		return usagef("--html is the page of one net: name it by --net")
	}
	return nil
}

const (
	accuracySteps = 4  // whose losses are compared
	fileSteps     = 10 // likewise, of a file: behind those a net may be chaotic
	profileSteps  = 10 // that count
)

func (a *app) benchTrain(ctx context.Context, b *benchRun) error {
	f := b.flags.train
	var nets []training.Net
	for _, n := range training.Nets() {
		if len(f.nets) == 0 || slices.Contains(f.nets, n.Name) {
			nets = append(nets, n)
		}
	}
	asked := b.dtypes
	b.dtypes = slices.DeleteFunc(slices.Clone(asked), func(d string) bool { return d != dtypeOf(sinter.F32) && d != dtypeOf(sinter.BF16) })
	if len(b.dtypes) == 0 {
		return usagef("bench train trains in f32 and bf16, not in %s", asked[0])
	}
	b.left = len(nets) * len(b.isas) * len(b.dtypes)
	for _, n := range nets {
		if f.shows() {
			if err := b.showStep(ctx, n); err != nil {
				return err
			}
			continue
		}
		want, err := b.referenceLosses(ctx, n)
		if err != nil {
			return err
		}
		for _, isa := range b.isas {
			for _, dtype := range b.dtypes {
				if err := b.train(ctx, n, isa, dtype, want); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// steps is a net that is trained on a device.
type steps struct {
	*training.Step
	program *sinter.Program
	device  *sinter.Device
}

func (b *benchRun) newSteps(ctx context.Context, n training.Net, isa, dtype string, threads int, o sinter.Options) (*steps, error) {
	step, err := n.Step(training.Options{})
	if err != nil {
		return nil, err
	}
	if b.flags.train.from != "" && n.Name == "gpt6" {
		if err := step.Load(ctx, b.flags.train.from); err != nil {
			return nil, err
		}
	}
	if o.Device, err = b.device(isa, threads); err != nil {
		return nil, err
	}
	o.Precision = precisionOf(dtype)
	program, err := sinter.Compile(step.Graph, o)
	if err != nil {
		return nil, fmt.Errorf("the step of %s: %w", n.Name, err)
	}
	return &steps{step, program, o.Device}, nil
}

// losses are those of n more steps.
func (s *steps) losses(ctx context.Context, n int) ([]float64, error) {
	return s.Losses(ctx, s.program, n)
}

// referenceLosses are what losses are compared with.
func (b *benchRun) referenceLosses(ctx context.Context, n training.Net) (_ []float64, err error) {
	if f := b.flags.train.from; f != "" && n.Name == "gpt6" {
		losses, err := training.Losses(f)
		return losses[:min(len(losses), fileSteps)], err
	}
	s, err := b.newSteps(ctx, n, b.isas[0], dtypeOf(sinter.F32), 1, sinter.Options{NoOpt: []string{"all"}})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.program.Close()) }()
	return s.losses(ctx, accuracySteps)
}

// train measures steps of one net with one instruction set and number format.
func (b *benchRun) train(ctx context.Context, n training.Net, isa, dtype string, want []float64) (err error) {
	all := map[int]*steps{}
	defer func() {
		for _, s := range all {
			err = errors.Join(err, s.program.Close())
		}
		err = errors.Join(err, b.closeDevices())
	}()
	for _, threads := range b.threads {
		if all[threads], err = b.newSteps(ctx, n, isa, dtype, threads, b.app.compileOptions()); err != nil {
			return err
		}
	}
	return b.measure(ctx, bench.Case{
		Name: n.Name, Set: "step", ISA: isa, DType: dtype, Shape: n.Shape(),
		Work: 1, Unit: "steps/s", Flops: n.Flops,
		Run: func(ctx context.Context, threads int) error {
			_, err := all[threads].losses(ctx, 1)
			return err
		},
		Accuracy: func(ctx context.Context, threads int) (float64, error) {
			got, err := all[threads].losses(ctx, len(want))
			if err != nil {
				return 0, err
			}
			worst := 0.0
			for i, w := range want {
				worst = max(worst, math.Abs(got[i]-w)/math.Abs(w))
			}
			return worst, nil
		},
	})
}

// showStep prints where the time of a step goes, or a stage of its compilation.
func (b *benchRun) showStep(ctx context.Context, n training.Net) (err error) {
	o := b.app.compileOptions()
	text := ""
	o.Trace = func(stage, t string) {
		if stage == b.flags.train.stage {
			text = t
		}
	}
	s, err := b.newSteps(ctx, n, b.isas[0], b.dtypes[0], b.threads[len(b.threads)-1], o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.program.Close()) }()
	if b.flags.train.stage != "" {
		_, err := io.WriteString(b.app.stdout, text)
		return err
	}
	step := func(ctx context.Context) error {
		_, err := s.losses(ctx, 1)
		return err
	}
	if f := b.flags.train; f.html != "" {
		h := sinter.HTMLOptions{Title: "a step of " + n.Name}
		if f.profile {
			if err := b.app.measureInto(ctx, s.device, &h, profileSteps, "", step); err != nil {
				return err
			}
		}
		return b.app.writePage(f.html, s.program, h)
	}
	return b.app.profileOf(ctx, s.device, profileSteps, "", step)
}
