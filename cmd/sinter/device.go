package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/sinterml/sinter/cmd/sinter/internal/probe"
	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/trial"
)

func (a *app) deviceCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "device",
		Short: "List the devices programs can run on",
		Long: `Device lists every kind of device, what each can do, and why one is missing.
Each is opened and has to compute something small whose result is known:
"verified" says that it did. The star marks the one that is used where none is
asked for.

"auto is" tells which that is, and why: the first GPU that works, is not software
and takes no longer for a product than the cpu, as was timed when it was first
found. Work that the cpu has done before a GPU would have started stays there.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.listDevices(cmd.Context()) },
	}
	c.AddCommand(a.deviceCheckCommand(), a.deviceBatchCommand())
	return c
}

// deviceList is what --json prints.
type deviceList struct {
	Best    string      `json:"best"` // by --device or SINTER_DEVICE, else what auto is
	Auto    string      `json:"auto"` // what auto stands for where work is long
	Why     string      `json:"auto_reason"`
	Devices []deviceRow `json:"devices"`
}

type deviceRow struct {
	ID           string   `json:"id"` // what --device takes
	Name         string   `json:"name"`
	Kind         string   `json:"kind"`
	UUID         string   `json:"uuid"`
	Vendor       string   `json:"vendor"`
	Driver       string   `json:"driver"`
	Available    bool     `json:"available"`
	Reason       string   `json:"reason"` // why it is not available, or not verified
	Remedy       string   `json:"remedy"`
	Memory       uint64   `json:"memory_bytes"` // 0: unknown
	Free         uint64   `json:"free_bytes"`
	Verified     bool     `json:"verified"`
	Start        float64  `json:"start_seconds"`   // to find and to open it; of GPUs that work, else 0
	Product      float64  `json:"product_seconds"` // of two matrices of 1024 x 1024, by which auto compares; 0: not timed
	Software     bool     `json:"software"`        // the processor under another name
	Features     []string `json:"features"`
	DTypes       []string `json:"dtypes"`
	Rules        []string `json:"rules"`        // of arithmetic, that it keeps
	Alternatives []string `json:"alternatives"` // IDs of the same hardware under other drivers
}

func (a *app) listDevices(ctx context.Context) error {
	all, err := a.devices(ctx, asking{external: true, all: true, fresh: true})
	if err != nil {
		return err
	}
	auto, err := choose(ctx, all, unknownTask)
	if err != nil {
		return err
	}
	list := deviceList{Best: auto.name, Auto: auto.name, Why: auto.why}
	if asked := a.settings.device; asked != "auto" {
		list.Best = asked
		if e, err := device.Find(entriesOf(all), asked); err == nil {
			list.Best = e.Name
		}
	}
	for _, r := range all {
		list.Devices = append(list.Devices, a.describe(ctx, r))
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if a.settings.json {
		return a.printJSON(list)
	}
	return a.printDevices(list)
}

// describe makes a row of a device. Those that are part of sinter are checked
// here; the others were where they were listed.
func (a *app) describe(ctx context.Context, r probe.Result) deviceRow {
	row := a.rowOf(r)
	if row.Available && !r.Checked && r.Fault == "" {
		a.check(ctx, &row)
	}
	return row
}

// rowOf is what is known of a device.
func (a *app) rowOf(r probe.Result) deviceRow {
	row := deviceRow{
		ID: r.Name, Name: r.Description, Kind: r.Kind, UUID: r.UUID, Vendor: r.Vendor, Driver: r.Driver, Memory: r.Memory, Free: r.Free, Software: r.Software,
		Features: orEmpty(r.Features), DTypes: orEmpty(r.DTypes), Rules: orEmpty(r.Rules), Alternatives: orEmpty(r.Alternatives),
		Available: r.Reason == "", Verified: r.Works(), Reason: r.Reason, Remedy: r.Remedy,
		Start: r.Start.Seconds(), Product: r.Product.Seconds(),
	}
	if r.Fault != "" {
		row.Available = true
		row.Reason, row.Remedy = r.Fault, "use another device, and report what 'sinter device check "+r.Name+"' says"
	}
	if row.Kind == "interp" {
		row.Kind = "cpu"
	}
	return row
}

// check has a device that is part of sinter compute something.
func (a *app) check(ctx context.Context, row *deviceRow) {
	d, _, err := a.runner(row.ID)
	if err != nil {
		row.Available, row.Reason, row.Remedy = false, err.Error(), "use another device"
		return
	}
	if err := errors.Join(trial.Run(ctx, d), d.Close()); err != nil {
		row.Reason, row.Remedy = err.Error(), "use another device, and report this"
		return
	}
	row.Verified = true
}

// orEmpty makes JSON say [] and not null.
func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

func (a *app) printDevices(list deviceList) error {
	s := a.style()
	t := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\tDEVICE\tNAME\tMEMORY\tSTATE")
	for _, d := range list.Devices {
		mark := " "
		if d.ID == list.Best {
			mark = "*"
		}
		state := "ready"
		switch {
		case !d.Available:
			state = "missing"
		case !d.Verified:
			state = "broken"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", mark, d.ID, d.Name, byteText(d.Memory), state)
	}
	fmt.Fprintf(t, "\nauto is %s: %s\n", list.Auto, list.Why)
	if err := t.Flush(); err != nil {
		return err
	}
	for _, d := range list.Devices {
		if err := d.printDetails(a.stdout, s); err != nil {
			return err
		}
	}
	return nil
}

func (d *deviceRow) printDetails(w io.Writer, s style) error {
	var b strings.Builder
	if d.Reason != "" {
		fmt.Fprintf(&b, "  %s: %s\n", d.Reason, d.Remedy)
	}
	if d.Driver != "" {
		fmt.Fprintf(&b, "  driver    %s\n", d.Driver)
	}
	if len(d.Features) > 0 {
		fmt.Fprintf(&b, "  features  %s\n", strings.Join(d.Features, " "))
	}
	if len(d.DTypes) > 0 {
		fmt.Fprintf(&b, "  computes  %s\n", strings.Join(d.DTypes, " "))
	}
	if len(d.Rules) > 0 {
		fmt.Fprintf(&b, "  keeps     %s\n", strings.Join(d.Rules, " "))
	}
	if len(d.Alternatives) > 0 {
		fmt.Fprintf(&b, "  also as   %s\n", strings.Join(d.Alternatives, " "))
	}
	if d.Product > 0 {
		fmt.Fprintf(&b, "  product   %s of 1024 x 1024, %s to start\n", shortTime(d.Product), shortTime(d.Start))
	}
	if d.Free > 0 {
		fmt.Fprintf(&b, "  free      %s\n", byteText(d.Free))
	}
	_, err := fmt.Fprintf(w, "\n%s\n%s", s.paint(bold, d.ID), b.String())
	return err
}

// byteText is a number of bytes for people.
func byteText(n uint64) string {
	switch {
	case n == 0:
		return "-"
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}
