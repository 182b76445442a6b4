package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/bench"
	"github.com/sinterml/sinter/internal/cpuid"
)

// benchTime is when no case of a benchmark is begun any more: all has ended
// within 8 minutes.
const benchTime = 7*time.Minute + 15*time.Second

// benchFlags are those of every benchmark.
type benchFlags struct {
	isas []string
	draw int    // gemm
	seed uint64 // gemm
	// gemm: these instead of the nine, and whether to compare tiles
	shapes []string
	assert bool
	train  trainFlags
	// devices says that others than the processor are measured too.
	devices bool
}

func (a *app) benchCommand() *cobra.Command {
	var f benchFlags
	c := &cobra.Command{
		Use:   "bench gemm|fused|attention|embed|train|compile",
		Short: "Measure speed beside what the machine allows",
		Long: `Bench times programs and, in the same second, what the processor can do at
most. Each case runs on one thread and on all, for every instruction set. It
ends within 8 minutes. bench/README.md says what the columns mean.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("no benchmark %q: there are gemm, fused, attention, embed, train, compile", args[0])
			}
			return nil
		},
		RunE: func(*cobra.Command, []string) error {
			return usagef("give a benchmark: gemm, fused, attention, embed, train or compile")
		},
	}
	c.PersistentFlags().StringSliceVar(&f.isas, "isa", nil, "only these instruction sets: amx-fp16, amx, avx512, avx2, generic")
	sub := func(name, short string, cases func(context.Context, *benchRun) error) *cobra.Command {
		s := &cobra.Command{Use: name, Short: short, Args: noArgs, RunE: func(cmd *cobra.Command, _ []string) error {
			f := f
			f.devices = name == "embed"
			return a.bench(cmd.Context(), f, cases)
		}}
		c.AddCommand(s)
		return s
	}
	gemm := sub("gemm", "Products of matrices", a.benchGemm)
	gemm.Flags().IntVar(&f.draw, "draw", 0, "also so many random shapes")
	gemm.Flags().Uint64Var(&f.seed, "seed", 1, "of the random shapes")
	gemm.Flags().StringSliceVar(&f.shapes, "shape", nil, "these instead of the nine, as MxNxK")
	gemm.Flags().BoolVar(&f.assert, "assert", false, "time every tile, and fail where the chosen one is more than 5 % slower than the best")
	gemm.PreRunE = func(*cobra.Command, []string) error { // before a table is begun
		if d := a.settings.dtype; d != "" && !slices.Contains(cpuDTypes(), d) {
			return usagef("bench gemm: processors do not multiply in %s: use %s", d, strings.Join(cpuDTypes(), ", "))
		}
		_, err := givenShapes(f.shapes)
		return err
	}
	fused := sub("fused", "Chains of pointwise operations and row kernels, from memory", a.benchFused)
	fused.PreRunE = func(*cobra.Command, []string) error {
		if d := a.settings.dtype; d != "" && d != dtypeOf(sinter.F32) {
			return usagef("bench fused computes in f32, not in %s", d)
		}
		return nil
	}
	attention := sub("attention", "Attention, of sentences to a long text", a.benchAttention)
	attention.PreRunE = func(*cobra.Command, []string) error {
		if d := a.settings.dtype; d != "" && !slices.Contains(attentionDTypes, d) {
			return usagef("bench attention computes in %s, not in %s", strings.Join(attentionDTypes, " or "), d)
		}
		return nil
	}
	sub("embed", "The model, at several sizes; with --device on another device", a.benchEmbed)
	train := sub("train", "Steps of training: a perceptron and two GPTs", a.benchTrain)
	train.Long = benchTrainHelp
	train.Flags().StringSliceVar(&f.train.nets, "net", nil, "only these nets: mlp, gpt, gpt6")
	train.Flags().StringVar(&f.train.from, "from", "", "safetensors `FILE` with weights, ids, targets and losses of gpt6")
	train.Flags().BoolVar(&f.train.profile, "profile", false, "print the time of each kernel of a step instead")
	train.Flags().StringVar(&f.train.html, "html", "", "write all stages of a step's compilation as a page to this file, with --profile what was measured too")
	train.Flags().StringVar(&f.train.stage, "stage", "", "print this stage of a step's compilation instead: "+strings.Join(trainStages, ", "))
	train.PreRunE = func(*cobra.Command, []string) error { return f.train.check() }
	sub("compile", "Tracing and compiling the model", a.benchCompile)
	return c
}

// benchRun is a benchmark under way.
type benchRun struct {
	flags   benchFlags
	isas    []string // or one device that is not the processor
	other   bool     // that is so
	dtypes  []string // that of --dtype, or all that processors multiply in
	threads []int
	app     *app
	end     time.Time
	left    int // cases that are still to come
	late    int // cases that time was too short for
	rows    []bench.Row
	timed   func(context.Context, bench.Case, time.Duration) ([]bench.Row, error) // bench.Measure
	devices map[deviceKey]*sinter.Device
}

type deviceKey struct {
	isa     string
	threads int
}

// bench runs the cases of one benchmark and prints rows as they come.
func (a *app) bench(ctx context.Context, f benchFlags, cases func(context.Context, *benchRun) error) (err error) {
	b := &benchRun{flags: f, app: a, end: time.Now().Add(benchTime), timed: bench.Measure, devices: map[deviceKey]*sinter.Device{}}
	if d := a.settings.device; d != "auto" && d != "cpu" {
		if err := a.benchOther(f, b); err != nil {
			return err
		}
	} else if b.isas, err = a.benchISAs(f.isas); err != nil {
		return err
	}
	b.dtypes = cpuDTypes()
	if d := a.settings.dtype; d != "" {
		b.dtypes = []string{d}
	}
	if f.draw < 0 {
		return usagef("--draw %d: use at least 0", f.draw)
	}
	b.threads = []int{1}
	switch all := runtime.GOMAXPROCS(0); {
	case b.other:
		b.threads[0] = 0
	case a.settings.threads > 0:
		b.threads[0] = min(a.settings.threads, all)
	case all > 1:
		b.threads = append(b.threads, all)
	}
	if !a.settings.json && !f.train.shows() {
		if _, err := fmt.Fprintln(a.stdout, bench.Header()); err != nil {
			return err
		}
	}
	err = errors.Join(cases(ctx, b), b.closeDevices())
	if b.late > 0 {
		a.warn("the time is up: %d cases are not measured; --isa and --threads choose some", b.late)
	}
	if a.settings.json && !f.train.shows() && (err == nil || len(b.rows) > 0) { // a failure leaves what was measured before it
		report := bench.Report{Machine: bench.ThisMachine(), Results: append([]bench.Row{}, b.rows...)}
		if err != nil {
			report.Error = err.Error()
		}
		err = errors.Join(err, a.printJSON(report))
	}
	return err
}

// benchISAs are the instruction sets to measure: those there are, not above
// SINTER_CPU, and of them those asked for.
func (a *app) benchISAs(asked []string) ([]string, error) {
	all := bench.ISAs()
	if hidden := a.settings.isa == bench.AMXFP16 || slices.Contains(asked, bench.AMXFP16); hidden && cpuid.HidesAMXFP16() {
		all = slices.Insert(all, 0, bench.AMXFP16)
	}
	if top := a.settings.isa; top != "" {
		at := slices.Index(all, top)
		if at < 0 {
			return nil, usagef("%s=%s: this machine has %s", envCPU, top, strings.Join(all, ", "))
		}
		all = all[at:]
	}
	for _, isa := range asked {
		if !slices.Contains(all, isa) {
			return nil, usagef("--isa %q: use %s", isa, strings.Join(all, ", "))
		}
	}
	if len(asked) > 0 {
		return asked, nil
	}
	return all, nil
}

// benchOther has another device than the processor measured, for which there are
// no bounds.
func (a *app) benchOther(f benchFlags, b *benchRun) error {
	switch d := a.settings.device; {
	case !f.devices && !f.train.shows():
		return usagef("this benchmark measures the cpu, not %s: use bench embed", d)
	case len(f.isas) > 0:
		return usagef("--isa is for the cpu, not for %s", d)
	default:
		b.isas, b.other = []string{d}, true
		return nil
	}
}

// device opens a device once for each instruction set and number of threads.
func (b *benchRun) device(isa string, threads int) (*sinter.Device, error) {
	key := deviceKey{isa, threads}
	if d := b.devices[key]; d != nil {
		return d, nil
	}
	open := func() (*sinter.Device, error) {
		return sinter.OpenCPU(sinter.CPUOptions{ISA: isa, Threads: threads})
	}
	if b.other {
		open = func() (*sinter.Device, error) { return sinter.Open(isa) }
	}
	d, err := open()
	if err == nil {
		b.devices[key] = d
	}
	return d, err
}

func (b *benchRun) closeDevices() error {
	var errs []error
	for _, d := range b.devices {
		errs = append(errs, d.Close())
	}
	clear(b.devices)
	return errors.Join(errs...)
}

// measure times one of the cases left. Each gets its part of the time that is
// left, and what others did not need.
func (b *benchRun) measure(ctx context.Context, c bench.Case) error {
	c.Threads = b.threads
	if c.DType == "" {
		c.DType = dtypeOf(sinter.F32)
	}
	limit := time.Until(b.end) / time.Duration(max(1, b.left))
	b.left--
	if limit <= 0 {
		b.late++
		return nil
	}
	rows, err := b.timed(ctx, c, limit)
	if err != nil {
		return err
	}
	return b.add(rows...)
}

func (b *benchRun) add(rows ...bench.Row) error {
	b.rows = append(b.rows, rows...)
	if b.app.settings.json {
		return nil
	}
	for _, r := range rows {
		if _, err := io.WriteString(b.app.stdout, strings.TrimRight(r.String(), " ")+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// program is compiled once for each number of threads of an instruction set.
type program struct {
	run    map[int]*sinter.Program
	inputs map[string]sinter.Tensor
}

// compile compiles g as it is written: for models alone, --dtype changes that.
func (b *benchRun) compile(g *sinter.Graph, isa string, inputs map[string]sinter.Tensor) (*program, error) {
	p := &program{map[int]*sinter.Program{}, inputs}
	for _, threads := range b.threads {
		d, err := b.device(isa, threads)
		if err != nil {
			return nil, err
		}
		o := b.app.compileOptions()
		o.Device, o.Precision = d, sinter.F32
		if p.run[threads], err = sinter.Compile(g, o); err != nil {
			return nil, errors.Join(err, p.close())
		}
	}
	return p, nil
}

func (p *program) close() error {
	var errs []error
	for _, one := range p.run {
		errs = append(errs, one.Close())
	}
	return errors.Join(errs...)
}

func (p *program) once(ctx context.Context, threads int) error {
	out, err := p.run[threads].Run(ctx, p.inputs)
	for _, o := range out {
		o.Release()
	}
	return err
}

// results runs the program and gives its result.
func results[T sinter.Elem](ctx context.Context, p *program, threads int) ([]T, error) {
	out, err := p.run[threads].Run(ctx, p.inputs)
	if err != nil {
		return nil, err
	}
	return sinter.Values[T](ctx, out[0])
}

// uniform is n random numbers between -1 and 1, the same each time.
func uniform(n int) []float32 {
	r := rand.New(rand.NewPCG(uint64(n), 1))
	values := make([]float32, n)
	for i := range values {
		values[i] = 2*r.Float32() - 1
	}
	return values
}
