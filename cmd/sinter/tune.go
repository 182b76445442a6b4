package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/embed"
)

// tuneFlags are those of tune.
type tuneFlags struct {
	budget float64 // seconds
	run    profileFlags
}

func (a *app) tuneCommand() *cobra.Command {
	var f tuneFlags
	c := &cobra.Command{
		Use:   "tune [MODEL]",
		Short: "Find the fastest kernels for a model on a device",
		Long: `Tune runs a model on random texts and tries, for each of its kernels, other
sizes of blocks and groups: at most 64, which compute the same bits. The fastest
are kept in sinter/tuning of the user's cache folder, for this device and its
driver, and used by every program that has such a kernel. Then it times the
model without them and with them, in turns.

The table has a line for each different kernel: how often it runs, the time of a
run before and after, what the device needs at least for its operations and
bytes as a part of that, and how many ways were tried and refused.

An interrupt ends it with what was found. SINTER_NOOPT=tuning leaves alone what
is kept. The cpu is not tuned: it chooses by a model of the processor.`,
		Example: `  sinter tune --device opencl
  sinter tune --device opencl:1 --budget 30 --batch 1 --tokens 16`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("give one model: there are %d arguments", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.modelArgument(args); err != nil {
				return err
			}
			f.run.given = cmd.Flags().Changed("tokens")
			return a.tune(cmd.Context(), f)
		},
	}
	c.Flags().Float64Var(&f.budget, "budget", 120, "seconds to look for faster kernels")
	c.Flags().IntVar(&f.run.batch, "batch", 8, "texts of a run")
	c.Flags().IntVar(&f.run.tokens, "tokens", 128, "tokens of a text")
	return c
}

func (f tuneFlags) check(noOpt []string) error {
	switch {
	case !(f.budget > 0) || f.budget > math.MaxInt32:
		return usagef("--budget %v: give seconds, more than 0", f.budget)
	case slices.Contains(noOpt, "tuning") || slices.Contains(noOpt, "all"):
		return usagef("%s has tuning: what is found would not be used", envNoOpt)
	}
	return f.run.check()
}

// tuneReport is what --json prints.
type tuneReport struct {
	Model   string        `json:"model"`
	Device  string        `json:"device"`
	Batch   int           `json:"batch"`
	Tokens  int           `json:"tokens"`
	Seconds float64       `json:"seconds"` // that it took
	Kernels []tunedKernel `json:"kernels"`
	// A run of the whole model, without what was found and with it, in turns;
	// speedup is the median of their ratios. 0 after an interrupt.
	Before  float64 `json:"before_seconds"`
	After   float64 `json:"after_seconds"`
	Speedup float64 `json:"speedup"`
}

type tunedKernel struct {
	Name       string  `json:"name"`
	Runs       int     `json:"runs"` // in a run of the model
	Before     float64 `json:"before_seconds"`
	After      float64 `json:"after_seconds"`
	Operations float64 `json:"operations"`
	Bytes      float64 `json:"bytes"`
	Share      float64 `json:"bound_share"`
	Tried      int     `json:"tried"`
	Refused    int     `json:"refused"`
	Same       int     `json:"same"` // not tried, as their kernel was
	Changed    bool    `json:"changed"`
}

func (a *app) tune(ctx context.Context, f tuneFlags) (err error) {
	if err := f.check(a.settings.noOpt); err != nil {
		return err
	}
	m, err := a.openModel()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	if err := f.run.fit(m.MaxTokens); err != nil {
		return err
	}
	d, err := a.openDevice(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	in, err := a.randomTexts(f.run)
	if err != nil {
		return err
	}
	o := a.compileOptions()
	o.Device, o.NoOpt = d, append(slices.Clone(o.NoOpt), "tuning")
	plain, err := sinter.Compile(embed.Graph(m), o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, plain.Close()) }()
	r := tuneReport{Model: a.modelName(), Device: d.Name(), Batch: f.run.batch, Tokens: f.run.tokens}
	if err := a.tuneKernels(ctx, f, plain, in, &r); err != nil {
		if len(r.Kernels) > 0 {
			err = errors.Join(err, a.printTuning(r))
		}
		return err
	}
	o.NoOpt = a.settings.noOpt
	tuned, err := sinter.Compile(embed.Graph(m), o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tuned.Close()) }()
	if err := r.compare(ctx, plain, tuned, in); err != nil {
		return err
	}
	return a.printTuning(r)
}

// tuneKernels runs p once and looks for faster kernels meanwhile. What was found
// is in r even if that was interrupted.
func (a *app) tuneKernels(ctx context.Context, f tuneFlags, p *sinter.Program, in map[string]sinter.Tensor, r *tuneReport) error {
	bar := a.startProgress("tuning", 0)
	t := &sinter.Tuning{Budget: time.Duration(f.budget * float64(time.Second)), Progress: func(done, total int) {
		bar.total = int64(total)
		bar.add(int64(done) - bar.done)
	}}
	start := time.Now()
	outs, err := p.Run(sinter.WithTuning(ctx, t), in)
	bar.end()
	for _, x := range outs {
		x.Release()
	}
	r.Seconds = time.Since(start).Seconds()
	for _, k := range t.Kernels() {
		r.Kernels = append(r.Kernels, tunedKernel{
			Name: k.Name, Runs: k.Runs, Before: k.Before.Seconds(), After: k.After.Seconds(), Operations: k.Operations, Bytes: k.Bytes,
			Share: k.Share, Tried: k.Tried, Refused: k.Refused, Same: k.Same, Changed: k.Changed,
		})
	}
	return err
}

// warnTuning says why what was found for a device is not used.
func (a *app) warnTuning(d *sinter.Device) {
	if _, err := d.Tuned(); err != nil && !slices.Contains(a.settings.noOpt, "tuning") {
		a.warn("what sinter tune has found is not used: %v; the next time it is run it writes the file anew", err)
	}
}

// turns is how often the whole model is timed either way.
const turns = 9

// compare times the model without what was found and with it.
func (r *tuneReport) compare(ctx context.Context, plain, tuned *sinter.Program, in map[string]sinter.Tensor) error {
	var times [2][]float64
	var ratios []float64
	var results [2][]byte
	for turn := range 1 + turns {
		var seconds [2]float64
		for i, p := range []*sinter.Program{plain, tuned} {
			start := time.Now()
			outs, err := p.Run(ctx, in)
			seconds[i] = time.Since(start).Seconds()
			if err == nil && turn == 0 {
				results[i], err = bitsOf(ctx, outs)
			}
			for _, x := range outs {
				x.Release()
			}
			if err != nil {
				return err
			}
		}
		if turn == 0 { // what a driver does once
			continue
		}
		times[0], times[1] = append(times[0], seconds[0]), append(times[1], seconds[1])
		ratios = append(ratios, seconds[0]/seconds[1])
	}
	if !bytes.Equal(results[0], results[1]) {
		return errors.New("the model computes something else with the kernels that were found: please report this, and set SINTER_NOOPT=tuning")
	}
	r.Before, r.After, r.Speedup = middle(times[0]), middle(times[1]), middle(ratios)
	return nil
}

// bitsOf are the bits of all outputs.
func bitsOf(ctx context.Context, outs []sinter.Tensor) ([]byte, error) {
	var all []byte
	for _, x := range outs {
		values, err := sinter.Values[float32](ctx, x)
		if err != nil {
			return nil, err
		}
		for _, v := range values {
			bits := math.Float32bits(v)
			all = append(all, byte(bits), byte(bits>>8), byte(bits>>16), byte(bits>>24))
		}
	}
	return all, nil
}

func middle(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}

func (a *app) printTuning(r tuneReport) error {
	if a.settings.json {
		if r.Kernels == nil {
			r.Kernels = []tunedKernel{}
		}
		return a.printJSON(r)
	}
	t := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "RUNS\tBEFORE\tAFTER\tFASTER\tBOUND\tTRIED\tREFUSED\tSAME\t  KERNEL")
	for _, k := range r.Kernels {
		faster, share := "-", "-"
		if k.Changed {
			faster = fmt.Sprintf("%.2fx", k.Before/k.After)
		}
		if k.Share > 0 {
			share = fmt.Sprintf("%.0f %%", 100*k.Share)
		}
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%s\t%d\t%d\t%d\t  %s\n", k.Runs, timeText(k.Before), timeText(k.After), faster, share, k.Tried, k.Refused, k.Same, k.Name)
	}
	if err := t.Flush(); err != nil || r.Before == 0 {
		return err
	}
	_, err := fmt.Fprintf(a.stdout, "\n%s, %d texts of %d tokens, on %s: %s before, %s after, %.2fx\n", r.Model, r.Batch, r.Tokens, r.Device, timeText(r.Before), timeText(r.After), r.Speedup)
	return err
}

// timeText is seconds for people.
func timeText(seconds float64) string {
	switch {
	case seconds < 1e-3:
		return fmt.Sprintf("%.0f us", seconds*1e6)
	case seconds < 1:
		return fmt.Sprintf("%.2f ms", seconds*1e3)
	}
	return fmt.Sprintf("%.2f s", seconds)
}
