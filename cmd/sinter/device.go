package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/sinterml/sinter"
)

func (a *app) deviceCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "device",
		Short: "List the devices programs can run on",
		Long: `Device lists every kind of device, what each can do, and why one is missing.
Each is opened and has to compute something small whose result is known:
"verified" says that it did. The star marks the one that is used where none is
asked for.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.listDevices(cmd.Context()) },
	}
}

// deviceList is what --json prints.
type deviceList struct {
	Best    string      `json:"best"` // by --device or SINTER_DEVICE, else the best
	Devices []deviceRow `json:"devices"`
}

type deviceRow struct {
	ID        string   `json:"id"` // what --device takes
	Name      string   `json:"name"`
	Kind      string   `json:"kind"`
	UUID      string   `json:"uuid"`
	Vendor    string   `json:"vendor"`
	Driver    string   `json:"driver"`
	Available bool     `json:"available"`
	Reason    string   `json:"reason"` // why it is not available, or not verified
	Remedy    string   `json:"remedy"`
	Memory    uint64   `json:"memory_bytes"` // 0: unknown
	Free      uint64   `json:"free_bytes"`
	Verified  bool     `json:"verified"`
	Features  []string `json:"features"`
	DTypes    []string `json:"dtypes"`
}

// absentKinds are devices that programs written for this interface know of,
// and that this version has no driver for.
var absentKinds = []struct{ kind, name string }{
	{"cuda", "NVIDIA GPU"}, {"hip", "AMD GPU"}, {"metal", "Apple GPU"}, {"vulkan", "any GPU, by Vulkan"}, {"opencl", "any device, by OpenCL"},
}

func (a *app) listDevices(ctx context.Context) error {
	list := deviceList{Best: a.settings.device}
	if list.Best == "auto" {
		list.Best = bestDevice()
	}
	have := map[string]bool{}
	for _, info := range sinter.Devices() {
		if err := ctx.Err(); err != nil {
			return err
		}
		row := a.describe(ctx, info)
		have[row.Kind] = true
		list.Devices = append(list.Devices, row)
	}
	for _, k := range absentKinds {
		if !have[k.kind] {
			list.Devices = append(list.Devices, deviceRow{
				ID: k.kind, Name: k.name, Kind: k.kind,
				Reason:   "this version of sinter has no driver for it",
				Remedy:   "use " + bestDevice(),
				Features: []string{}, DTypes: []string{},
			})
		}
	}
	if a.settings.json {
		return a.printJSON(list)
	}
	return a.printDevices(list)
}

// describe opens a device and looks at it.
func (a *app) describe(ctx context.Context, info sinter.DeviceInfo) deviceRow {
	kind, _, _ := strings.Cut(info.Name, ":")
	row := deviceRow{ID: info.Name, Name: info.Description, Kind: kind, Features: []string{}, DTypes: dtypeNames()}
	switch kind {
	case "cpu":
		describeCPU(&row)
	case "interp":
		row.Kind = "cpu"
		row.Name = "reference interpreter, slow: the measure of all other devices"
		row.Driver = "go"
	}
	local := *a
	local.settings.device = info.Name
	d, err := local.openDevice()
	if err != nil {
		row.Reason, row.Remedy = err.Error(), "use another device"
		return row
	}
	defer d.Close()
	row.Available = true
	if err := verify(ctx, d); err != nil {
		row.Reason, row.Remedy = err.Error(), "use another device, and report this"
		return row
	}
	row.Verified = true
	return row
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
