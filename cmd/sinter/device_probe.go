package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/sinterml/sinter/cmd/sinter/internal/probe"
	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/trial"
)

// probeName is the command by which sinter starts itself to ask drivers.
const probeName = "probe"

func (a *app) probeCommand() *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use:    probeName + " KIND",
		Short:  "Ask the drivers of a kind what they have, and check that it works",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, d := range device.Registered() {
				if d.Name == args[0] {
					return probe.Child(a.stdout, d, all, testsOf(cmd.Context(), d))
				}
			}
			return usagef("no drivers of %q", args[0])
		},
	}
	c.Flags().BoolVar(&all, "all", false, "check devices that are software too")
	return c
}

// testsOf compare what a device computes with what the processor does, and time
// it. The library remembers both, so that the next to open the device need not
// do so.
func testsOf(ctx context.Context, d device.Driver) probe.Tests {
	var name string
	var opened device.Device
	var p device.Properties
	return probe.Tests{
		Open: func(e device.Entry) error {
			_, index, err := device.ParseName(e.Name)
			if err != nil {
				return err
			}
			name, p = e.Name, e.Properties
			opened, err = d.Open(index)
			return err
		},
		Check: func() error { return trial.Default().Again(ctx, name, d.Name, p, opened) },
		Try: func() (formats, rules []string, err error) {
			can, err := trial.Default().Try(ctx, d.Name, p, opened)
			return can.Formats, can.Rules, err
		},
		Product: func() (time.Duration, error) { return trial.Default().SpeedAgain(ctx, d.Name, p, opened) },
		Close:   func() error { return opened.Close() },
	}
}

// probed is what drivers answered in this process.
var probed sync.Map

func (a *app) prober() *probe.Prober {
	p := &probe.Prober{Memory: &probed, Command: func(kind string, all bool) *exec.Cmd {
		exe, err := os.Executable()
		if err != nil {
			exe = os.Args[0]
		}
		c := exec.Command(exe, probeName, kind, fmt.Sprintf("--all=%v", all))
		c.Env = append(os.Environ(), "GOTRACEBACK=none") // of a crash the signal will do
		return c
	}}
	if dir, err := cacheFolder(runtime.GOOS, a.env); err == nil {
		p.Dir = filepath.Join(dir, "sinter", "devices")
	}
	return p
}

// asking says how drivers are asked. The zero value asks those alone that are
// part of sinter.
type asking struct {
	external bool // those of others too
	all      bool // check devices that are software
	fresh    bool // whatever was learned earlier
}

// devices lists what there is, and what is missing, each piece of hardware
// once.
func (a *app) devices(ctx context.Context, how asking) ([]probe.Result, error) {
	drivers := device.Registered()
	answers, errs := make([][]probe.Result, len(drivers)), make([]error, len(drivers))
	var wait sync.WaitGroup
	p := a.prober()
	ask := p.Kept
	if how.fresh {
		ask = p.Fresh
	}
	for i, d := range drivers {
		switch {
		case !d.External:
			for _, e := range device.Entries(d) {
				answers[i] = append(answers[i], probe.Result{Entry: e})
			}
		case how.external:
			wait.Go(func() { answers[i], errs[i] = ask(ctx, d, how.all) })
		}
	}
	wait.Wait()
	known := map[string]probe.Result{}
	entries := lacking()
	for i := range drivers {
		if errs[i] != nil {
			return nil, errs[i]
		}
		for _, r := range answers[i] {
			known[r.Name] = r
			if r.Fault != "" {
				r.Reason = r.Fault // so that nobody is given it
			}
			entries = append(entries, r.Entry)
		}
	}
	var all []probe.Result
	for _, e := range device.Arrange(entries) {
		r := known[e.Name]
		r.Entry = e
		all = append(all, r)
	}
	return all, nil
}

func entriesOf(all []probe.Result) []device.Entry {
	var entries []device.Entry
	for _, r := range all {
		entries = append(entries, r.Entry)
	}
	return entries
}

// lacking are lines for the kinds that this build of the command leaves out.
func lacking() []device.Entry {
	var entries []device.Entry
	have := map[string]bool{}
	for _, d := range device.Registered() {
		have[d.Name] = true
	}
	for _, kind := range device.Brought() {
		if !have[kind] {
			entries = append(entries, device.Absent(kind, &device.MissingError{
				Reason: "this is the static build of sinter, which cannot open drivers",
				Remedy: "use the other build",
			}))
		}
	}
	return entries
}
