package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/sinterml/sinter/cmd/sinter/internal/devcheck"
	"github.com/sinterml/sinter/cmd/sinter/internal/probe"
	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/suite"
)

// Times of a check, from the beginning of the command: no step begins after the
// first, and by the second all are ended.
const (
	checkTime  = 46 * time.Second
	checkLimit = 58 * time.Second
)

func (a *app) deviceCheckCommand() *cobra.Command {
	var report string
	var child bool
	c := &cobra.Command{
		Use:   "check [ID]",
		Short: "Check that a device computes what it should",
		Long: `Check runs a short suite on a device, within a minute: every operation on every
number format, with results that are compared with those of plain loops. It
tells which formats work for products and which rules of arithmetic the device
keeps. A case is refused, which is no failure, where the device lacks what it
needs and sinter says so. Without an ID the device that would be used is checked.

Where something fails, a report is written to sinter-check-ID.json, to be
attached to a bug: versions, what is known of the device, each failure with its
graph and the first wrong elements. --report writes it in any case. Drivers run
in processes of their own, so that one that crashes or hangs is reported too, and
compile several cases as one program; cases of one that fails are run alone.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("give one device, not %d", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			id := a.settings.device
			if len(args) > 0 {
				id = args[0]
				if err := checkDevice(id); err != nil {
					return &usageError{err}
				}
			}
			if child {
				return devcheck.Serve(cmd.Context(), a.stdin, a.stdout, func() (suite.Runner, error) {
					d, _, err := a.runner(id)
					return d, err
				})
			}
			return a.checkDevice(cmd.Context(), id, report)
		},
	}
	c.Flags().StringVar(&report, "report", "", "write the report to this file, also where all is well")
	c.Flags().BoolVar(&child, "child", false, "run steps for another process")
	c.Flags().Lookup("child").Hidden = true
	return c
}

// checkReport is what --json prints, and the file.
type checkReport struct {
	Sinter  buildVersion    `json:"sinter"`
	Time    time.Time       `json:"time"`
	Device  deviceRow       `json:"device"`
	Passed  bool            `json:"passed"`
	Seconds float64         `json:"seconds"`
	Formats []string        `json:"formats"` // that work
	Rules   map[string]bool `json:"rules"`   // and whether each is kept
	Cases   int             `json:"cases"`   // that ran
	Late    int             `json:"late"`    // that time was too short for
	Failed  []devcheck.Step `json:"failed"`  // cases, refused ones too, and formats and rules that are not there
	Fault   string          `json:"fault,omitempty"`
	File    string          `json:"report,omitempty"` // where it was written to

	groups []checkGroup
}

// checkGroup is the cases whose names begin alike.
type checkGroup struct {
	name         string
	passed, runs int
	seconds      float64
}

// checkDevice checks a device and prints what came of it.
func (a *app) checkDevice(ctx context.Context, id, file string) error {
	begun := time.Now()
	r, err := a.checked(ctx, id)
	if err != nil {
		return err
	}
	report := &checkReport{Sinter: readVersion(), Time: begun.UTC().Truncate(time.Second), Device: a.rowOf(r), Formats: []string{}, Rules: map[string]bool{}, Failed: []devcheck.Step{}}
	bar := a.startProgress("checking "+r.Name, int64(devcheck.Steps()))
	each := func(s devcheck.Step) {
		report.add(s)
		bar.add(1)
	}
	if external(r.Kind) {
		err = a.checkInProcesses(ctx, r.Name, begun, each)
	} else {
		err = a.checkHere(ctx, r.Name, begun.Add(checkTime), each)
	}
	bar.end()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		report.Fault = err.Error()
	}
	report.Seconds = time.Since(begun).Seconds()
	slices.Sort(report.Formats)
	report.Passed = err == nil && !slices.ContainsFunc(report.Failed, func(s devcheck.Step) bool { return s.Kind == devcheck.Case && !s.Refused })
	report.Device.Verified = report.Passed
	if file == "" && !report.Passed {
		file = "sinter-check-" + strings.ReplaceAll(r.Name, ":", "-") + ".json"
	}
	if err := report.write(a, file); err != nil {
		return err
	}
	if err := report.print(a); err != nil {
		return err
	}
	if !report.Passed {
		return fmt.Errorf("%s failed the check: attach %s to a bug report", r.Name, report.File)
	}
	return nil
}

// checked finds a device, also one that is known to be broken.
func (a *app) checked(ctx context.Context, id string) (probe.Result, error) {
	all, err := a.devices(ctx, asking{external: id == "auto" || !within(id), all: true})
	if err != nil {
		return probe.Result{}, err
	}
	if id == "auto" {
		c, err := choose(ctx, all, unknownTask)
		if err != nil {
			return probe.Result{}, err
		}
		id = c.name
	}
	entries := entriesOf(all)
	for i, r := range all {
		if r.Fault != "" && r.Reason == r.Fault {
			entries[i].Reason, entries[i].Remedy = "", ""
		}
	}
	e, err := device.Find(entries, id)
	if err != nil {
		return probe.Result{}, err
	}
	r := probe.Result{Entry: e}
	for _, known := range all {
		if known.Name == e.Name {
			r.Checked, r.Fault = known.Checked, known.Fault
		}
	}
	return r, nil
}

// within tells whether a device is part of sinter, external whether a kind is
// reached by a driver that is not.
func within(id string) bool {
	kind, _, err := device.ParseName(id)
	return err == nil && !external(kind)
}

func external(kind string) bool {
	return !slices.ContainsFunc(device.Registered(), func(d device.Driver) bool { return d.Name == kind && !d.External })
}

// checkHere checks a device in this process.
func (a *app) checkHere(ctx context.Context, id string, deadline time.Time, each func(devcheck.Step)) error {
	d, _, err := a.runner(id)
	if err != nil {
		return err
	}
	return errors.Join(devcheck.Run(ctx, d, deadline, each), d.Close())
}

// checkInProcesses has other processes check it.
func (a *app) checkInProcesses(ctx context.Context, id string, begun time.Time, each func(devcheck.Step)) error {
	exe, err := os.Executable()
	if err != nil {
		exe = os.Args[0]
	}
	command := func() *exec.Cmd {
		c := exec.Command(exe, "device", "check", id, "--child")
		c.Env = append(os.Environ(), "GOTRACEBACK=none") // of a crash the signal will do
		return c
	}
	return devcheck.InProcesses(ctx, command, devcheck.Limits{Begin: begun.Add(checkTime), End: begun.Add(checkLimit)}, each)
}

// add notes a step that has ended.
func (r *checkReport) add(s devcheck.Step) {
	if s.Late {
		r.Late++
		return
	}
	if !s.OK {
		r.Failed = append(r.Failed, s)
	}
	switch s.Kind {
	case devcheck.Format:
		if s.OK {
			r.Formats = append(r.Formats, s.Name)
		}
		return
	case devcheck.Rule:
		r.Rules[s.Name] = s.OK
		return
	}
	r.Cases++
	name, _, _ := strings.Cut(s.Name, " ")
	i := slices.IndexFunc(r.groups, func(g checkGroup) bool { return g.name == name })
	if i < 0 {
		i = len(r.groups)
		r.groups = append(r.groups, checkGroup{name: name})
	}
	g := &r.groups[i]
	g.runs++
	g.seconds += s.Seconds
	if s.OK {
		g.passed++
	}
}

// write writes the report to a file, if it has a name.
func (r *checkReport) write(a *app, file string) error {
	if file == "" {
		return nil
	}
	r.File = file
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	out, err := a.createOutput(file)
	if err != nil {
		return err
	}
	_, err = out.Write(append(data, '\n'))
	return out.close(err)
}

// print shows the report.
func (r *checkReport) print(a *app) error {
	if a.settings.json {
		return a.printJSON(r)
	}
	slices.SortFunc(r.groups, func(a, b checkGroup) int { return cmp.Compare(a.name, b.name) })
	s := a.style()
	t := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%s\t%s\n", r.Device.ID, r.Device.Name)
	fmt.Fprintf(t, "driver\t%s\n\n", r.Device.Driver)
	fmt.Fprintln(t, "CASES\tPASS\tSECONDS")
	for _, g := range r.groups {
		fmt.Fprintf(t, "%s\t%d of %d\t%.2f\n", g.name, g.passed, g.runs, g.seconds)
	}
	fmt.Fprintf(t, "\nproducts in\t%s\n", strings.Join(r.Formats, " "))
	for _, name := range slices.Sorted(maps.Keys(r.Rules)) {
		kept := "yes"
		if !r.Rules[name] {
			kept = "no"
		}
		fmt.Fprintf(t, "%s\t%s\n", name, kept)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	refused := 0
	for _, f := range r.Failed {
		if f.Kind == devcheck.Case {
			text, _, _ := strings.Cut(f.Error, "\n\t")
			name := s.paint(boldRed, f.Name)
			if f.Refused {
				name = s.paint(bold, f.Name) + " is refused"
				refused++
			}
			if _, err := fmt.Fprintf(a.stdout, "\n%s: %s\n", name, printableLines(text)); err != nil {
				return err
			}
		}
	}
	state := "passed"
	if !r.Passed {
		state = "failed"
	}
	rest := ""
	if refused > 0 {
		rest = fmt.Sprintf(", %d refused", refused)
	}
	if r.Late > 0 {
		rest += fmt.Sprintf("; %d cases were left out, as the time was up: run it again, for what was compiled is kept", r.Late)
	}
	_, err := fmt.Fprintf(a.stdout, "\n%s: %d cases in %.1f s%s\n", s.paint(bold, state), r.Cases, r.Seconds, rest)
	return err
}
