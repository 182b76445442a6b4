package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/bench"
)

// profileFlags are those of a profile: random texts of one length.
type profileFlags struct {
	on            bool
	batch, tokens int
	timeline      string
}

func (f profileFlags) check() error {
	switch {
	case f.on && (f.batch < 1 || f.tokens < 1):
		return usagef("--batch %d --tokens %d: use at least 1 of each", f.batch, f.tokens)
	case f.timeline != "" && !f.on:
		return usagef("--timeline is written by --profile: give both")
	}
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
	if limit := e.MaxTokens(); limit > 0 && f.tokens > limit {
		return usagef("--tokens %d: the model takes up to %d", f.tokens, limit)
	}
	ids := embedIDs(f.batch, f.tokens, sizes.Vocab)
	return a.profileOf(ctx, profileRuns, f.timeline, func(ctx context.Context) error {
		_, err := e.EncodeIDs(ctx, ids)
		return err
	})
}

// profileOf prints where the time of run goes.
func (a *app) profileOf(ctx context.Context, runs int, timeline string, run func(context.Context) error) error {
	var p sinter.Profile
	timed := sinter.WithProfile(ctx, &p)
	total := 0.0
	for i := range profileWarm + runs {
		start := time.Now()
		if err := run(ctx); err != nil { // counting work takes time too
			return err
		}
		if i < profileWarm {
			continue
		}
		total += time.Since(start).Seconds() / float64(runs)
		if err := run(timed); err != nil {
			return err
		}
	}
	kernels := p.Kernels()
	if len(kernels) == 0 {
		return fmt.Errorf("the device %s does not time its kernels: try --device cpu", a.settings.device)
	}
	if timeline != "" {
		if err := writeTimeline(timeline, &p); err != nil {
			return err
		}
	}
	rows, err := a.profileRows(kernels, runs)
	if err != nil {
		return err
	}
	if a.settings.json {
		return a.printJSON(struct {
			Seconds float64    `json:"seconds"`
			Kernels []profiled `json:"kernels"`
		}{total, rows})
	}
	return a.printProfile(rows, total)
}

func writeTimeline(name string, p *sinter.Profile) (err error) {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return p.WriteTrace(file)
}

// profileRows sets kernels beside the machine's limits, measured now: those of
// arithmetic, and of memory where a kernel touches more than the caches hold.
func (a *app) profileRows(kernels []sinter.KernelProfile, runs int) ([]profiled, error) {
	threads := a.settings.threads
	if threads == 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	isa := cmp.Or(a.settings.isa, bench.ISAs()[0])
	peaks := map[string]float64{"f32": 0}
	sum := 0.0
	for _, k := range kernels {
		sum += k.Time.Seconds()
		peaks[cmp.Or(k.Format, "f32")] = 0
	}
	bandwidth, err := machineLimits(isa, threads, peaks)
	if err != nil {
		return nil, err
	}
	var rows []profiled
	for _, k := range kernels {
		r := profiled{Number: k.Number, Name: k.Name, Seconds: k.Time.Seconds() / float64(runs), Part: k.Time.Seconds() / sum}
		bytes := k.Read + k.Written
		r.work = [2]float64{(k.Products + k.Operations) / float64(runs), bytes / float64(runs)}
		if k.Time > 0 {
			r.Rate, r.Bytes = (k.Products+k.Operations)/k.Time.Seconds()/1e9, bytes/k.Time.Seconds()/1e9
			least := k.Operations / peaks["f32"]
			if k.Products > 0 {
				least += k.Products / peaks[k.Format]
			}
			if bytes/float64(k.Runs) > float64(bench.ThisMachine().L3) {
				least = max(least, bytes/bandwidth)
			}
			r.Share = least / k.Time.Seconds()
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// machineLimits measures operations a second for each format of peaks, and
// bytes a second.
func machineLimits(isa string, threads int, peaks map[string]float64) (bandwidth float64, err error) {
	const rounds = 3
	for format := range peaks {
		peak, err := bench.NewPeak(isa, format)
		if err != nil {
			return 0, err
		}
		for range rounds {
			peaks[format] = max(peaks[format], peak.Rate(threads, 5*time.Millisecond))
		}
		if err := peak.Close(); err != nil {
			return 0, err
		}
	}
	stream, err := bench.NewStream(max(2*bench.ThisMachine().L3, 32<<20), 0)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, stream.Close()) }()
	for range rounds {
		bandwidth = max(bandwidth, stream.Rate(threads))
	}
	return bandwidth, nil
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
		fmt.Fprintf(t, "%d\tk%d\t%v\t%.1f %%\t%.1f\t%.1f\t%.2f\t  %s\t\n", l.count, l.Number, seconds(l.Seconds), 100*l.Part, l.flops/l.Seconds, l.Bytes/l.Seconds, l.least/l.Seconds, l.Name)
		sum, least = sum+l.Seconds, least+l.least
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(a.stdout, "a run takes %v, its kernels %v: %.2f of what the machine could do\n", seconds(total), seconds(sum), least/total)
	return err
}

func seconds(s float64) time.Duration {
	return time.Duration(s * float64(time.Second)).Round(10 * time.Nanosecond)
}
