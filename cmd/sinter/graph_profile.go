package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/bench"
)

// profileFlags are those of a profile: random texts of one length.
type profileFlags struct {
	on            bool
	batch, tokens int
	given         bool // tokens were asked for
	timeline      string
}

func (f profileFlags) check() error {
	switch {
	case f.batch < 1 || f.tokens < 1:
		return usagef("--batch %d --tokens %d: use at least 1 of each", f.batch, f.tokens)
	case f.timeline != "" && !f.on:
		return usagef("--timeline is written by --profile: give both")
	}
	return nil
}

// fit shortens texts to those that a model takes, 0 for any, unless longer ones
// were asked for.
func (f *profileFlags) fit(limit int) error {
	switch {
	case limit <= 0 || f.tokens <= limit:
		return nil
	case f.given:
		return usagef("--tokens %d: the model takes up to %d", f.tokens, limit)
	}
	f.tokens = limit
	return nil
}

// profiled is a kernel as the command prints it: averages of a run of the model,
// in which its program may run several times.
type profiled struct {
	Number  int        `json:"number"`
	Name    string     `json:"name"`
	Seconds float64    `json:"seconds"`
	Part    float64    `json:"part"`                  // of the time of all kernels
	Rate    float64    `json:"gflops,omitempty"`      // 10^9 operations a second
	Bytes   float64    `json:"gbytes_s,omitempty"`    // 10^9 bytes a second
	Share   float64    `json:"bound_share,omitempty"` // of what the machine could do
	Apart   bool       `json:"apart,omitempty"`       // timed by the host
	work    [2]float64 // operations and bytes of a run
}

const (
	profileWarm = 3 // runs before those that count
	profileRuns = 20
)

// profile runs the model on random texts and prints where the time went.
func (a *app) profile(ctx context.Context, f profileFlags) (err error) {
	sizes, err := a.encoderSizes()
	if err != nil {
		return err
	}
	e, err := a.openEncoder(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	if err := f.fit(e.MaxTokens()); err != nil {
		return err
	}
	ids := embedIDs(f.batch, f.tokens, sizes.Vocab)
	return a.profileOf(ctx, e.device, profileRuns, f.timeline, func(ctx context.Context) error {
		_, err := e.EncodeIDs(ctx, ids)
		return err
	})
}

// profileOf prints where the time of run goes, on a device.
func (a *app) profileOf(ctx context.Context, d *sinter.Device, runs int, timeline string, run func(context.Context) error) error {
	p, total, err := a.timeKernels(ctx, runs, timeline, run)
	if err != nil {
		return err
	}
	kernels := p.Kernels()
	limits, err := a.limitsOf(ctx, d, kernels)
	if err != nil {
		return err
	}
	rows := profileRows(kernels, limits, runs)
	if a.settings.json {
		return a.printJSON(struct {
			Device  string     `json:"device"`
			Seconds float64    `json:"seconds"`
			Kernels []profiled `json:"kernels"`
		}{d.Name(), total, rows})
	}
	if err := a.printProfile(rows, total); err != nil {
		return err
	}
	for _, text := range doubts(kernels, limits) {
		if _, err := fmt.Fprintln(a.stdout, text); err != nil {
			return err
		}
	}
	return nil
}

// doubts are what times and bounds of kernels do not say.
func doubts(kernels []sinter.KernelProfile, limits sinter.Limits) (all []string) {
	var unknown []string
	apart := false
	for _, k := range kernels {
		apart = apart || k.Apart
		if k.Products > 0 && limits.Operations[k.Format] == 0 && !slices.Contains(unknown, k.Format) {
			unknown = append(unknown, k.Format)
		}
	}
	if apart {
		all = append(all, "the driver has no clock: each kernel was started by itself and timed by the host, which says little about those of a few microseconds")
	}
	if len(unknown) > 0 && len(limits.Operations) > 0 { // else nothing is known
		all = append(all, fmt.Sprintf("no rate of products in %s is known: their bound is that of bytes and other operations", strings.Join(unknown, ", ")))
	}
	return all
}

// timeKernels measures run, in seconds, and its kernels, and writes the timeline
// to a file if that has a name.
func (a *app) timeKernels(ctx context.Context, runs int, timeline string, run func(context.Context) error) (p *sinter.Profile, total float64, err error) {
	p = &sinter.Profile{}
	timed := sinter.WithProfile(ctx, p)
	for i := range profileWarm + runs {
		start := time.Now()
		if err := run(ctx); err != nil { // counting work takes time too
			return nil, 0, err
		}
		if i < profileWarm {
			continue
		}
		total += time.Since(start).Seconds() / float64(runs)
		if err := run(timed); err != nil {
			if errors.Is(err, sinter.ErrNoClock) {
				err = fmt.Errorf("%w: try --device cpu", err)
			}
			return nil, 0, err
		}
	}
	if timeline != "" {
		err = writeTimeline(timeline, p)
	}
	return p, total, err
}

func writeTimeline(name string, p *sinter.Profile) (err error) {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return p.WriteTrace(file)
}

// profileRows sets kernels beside the limits of what they ran on.
func profileRows(kernels []sinter.KernelProfile, limits sinter.Limits, runs int) []profiled {
	sum := 0.0
	for _, k := range kernels {
		sum += k.Time.Seconds()
	}
	var rows []profiled
	for _, k := range kernels {
		r := profiled{Number: k.Number, Name: k.Name, Seconds: k.Time.Seconds() / float64(runs), Apart: k.Apart}
		bytes := k.Read + k.Written
		r.work = [2]float64{(k.Products + k.Operations) / float64(runs), bytes / float64(runs)}
		if k.Time > 0 {
			r.Part = k.Time.Seconds() / sum
			r.Rate, r.Bytes = (k.Products+k.Operations)/k.Time.Seconds()/1e9, bytes/k.Time.Seconds()/1e9
			r.Share = limits.Least(k).Seconds() / k.Time.Seconds()
		}
		rows = append(rows, r)
	}
	return rows
}

// limitsOf are what a device can do at most. Where that cannot be measured they are
// not known, which is said.
func (a *app) limitsOf(ctx context.Context, d *sinter.Device, kernels []sinter.KernelProfile) (sinter.Limits, error) {
	if kind, _, _ := strings.Cut(d.Name(), ":"); kind == "cpu" {
		return a.machineLimits(kernels)
	}
	l, err := d.Limits(ctx)
	if err != nil && ctx.Err() == nil {
		a.warn("no shares of bounds, as what the device can do could not be measured: %v", err)
		return sinter.Limits{}, nil
	}
	return l, err
}

// machineLimits measures what the processor can do of what kernels do, now:
// operations a second of each format, and bytes a second where a kernel touches more
// than the caches hold.
func (a *app) machineLimits(kernels []sinter.KernelProfile) (limits sinter.Limits, err error) {
	const rounds = 3
	threads := cmp.Or(a.settings.threads, runtime.GOMAXPROCS(0))
	isa := cmp.Or(a.settings.isa, bench.ISAs()[0])
	limits = sinter.Limits{Operations: map[string]float64{"f32": 0}, Cache: bench.ThisMachine().L3}
	for _, k := range kernels {
		limits.Operations[cmp.Or(k.Format, "f32")] = 0
	}
	for format := range limits.Operations {
		peak, err := bench.NewPeak(isa, format)
		if err != nil {
			return limits, err
		}
		for range rounds {
			limits.Operations[format] = max(limits.Operations[format], peak.Rate(threads, 5*time.Millisecond))
		}
		if err := peak.Close(); err != nil {
			return limits, err
		}
	}
	stream, err := bench.NewStream(max(2*limits.Cache, 32<<20), 0)
	if err != nil {
		return limits, err
	}
	defer func() { err = errors.Join(err, stream.Close()) }()
	for range rounds {
		limits.Bandwidth = max(limits.Bandwidth, stream.Rate(threads))
	}
	return limits, nil
}

// printProfile prints kernels of one name that do the same work as one line, the
// longest first.
func (a *app) printProfile(rows []profiled, total float64) error {
	type line struct {
		profiled
		count        int
		flops, least float64
	}
	type same struct {
		name string
		work [2]float64
	}
	alike := map[same]*line{}
	var lines []*line
	for _, r := range rows {
		l := alike[same{r.Name, r.work}]
		if l == nil {
			l = &line{profiled: profiled{Number: r.Number, Name: r.Name}}
			alike[same{r.Name, r.work}] = l
			lines = append(lines, l)
		}
		l.count++
		l.Seconds += r.Seconds
		l.Part += r.Part
		l.flops += r.Rate * r.Seconds
		l.Bytes += r.Bytes * r.Seconds
		l.least += r.Share * r.Seconds
	}
	slices.SortStableFunc(lines, func(x, y *line) int { return cmp.Compare(y.Seconds, x.Seconds) })
	t := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "KERNELS\tFIRST\tTIME\tPART\tGFLOP/S\tGB/S\tOF BOUND\t  NAME\t")
	sum, least := 0.0, 0.0
	for _, l := range lines {
		fmt.Fprintf(t, "%d\tk%d\t%v\t%.1f %%\t%.1f\t%.1f\t%s\t  %s\t\n", l.count, l.Number, seconds(l.Seconds), 100*l.Part, part(l.flops, l.Seconds), part(l.Bytes, l.Seconds), share(l.least, l.Seconds), l.Name)
		sum, least = sum+l.Seconds, least+l.least
	}
	if err := t.Flush(); err != nil {
		return err
	}
	bound := ""
	if least > 0 {
		bound = fmt.Sprintf(": %.2f of what the machine could do", least/total)
	}
	_, err := fmt.Fprintf(a.stdout, "a run takes %v, its kernels %v%s\n", seconds(total), seconds(sum), bound)
	return err
}

// share is "-" where no bound is known.
func share(least, seconds float64) string {
	if least == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", part(least, seconds))
}

// part is 0 of a kernel that takes no time that could be measured.
func part(x, seconds float64) float64 {
	if seconds == 0 {
		return 0
	}
	return x / seconds
}

func seconds(s float64) time.Duration {
	return time.Duration(s * float64(time.Second)).Round(10 * time.Nanosecond)
}
