//go:build !static

package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sinterml/sinter"
)

// gpu is what is tested: one piece of hardware, and the drivers that have it.
type gpu struct {
	name   string // what it is opened as
	info   sinter.DeviceInfo
	cuda   string // what CUDA calls it; "": that is not known
	others []other
}

// other is the same GPU by another kind of driver.
type other struct {
	kind, name string
	missing    error
}

// find looks a GPU up by any of its names, and what it is called by other kinds of
// drivers. One of these that does not have it is an error of its parts.
func find(all []sinter.DeviceInfo, name string, also []string) (gpu, error) {
	i := slices.IndexFunc(all, func(d sinter.DeviceInfo) bool { return d.Reason == "" && nameIn(d, name) != "" })
	if i < 0 {
		return gpu{}, fmt.Errorf("no device %q%s", name, why(all, name))
	}
	g := gpu{info: all[i], name: nameIn(all[i], name), cuda: ofKind(all[i], "cuda")}
	for _, kind := range also {
		if isOfKind(g.name, kind) {
			continue
		}
		o := other{kind: kind, name: ofKind(g.info, kind)}
		if o.name == "" {
			o.missing = fmt.Errorf("no device of kind %s is known to be %s%s; -also '' leaves it out", kind, g.name, why(all, kind))
		}
		g.others = append(g.others, o)
	}
	return g, nil
}

// namesOf are all names of a device.
func namesOf(d sinter.DeviceInfo) []string { return append([]string{d.Name}, d.Alternatives...) }

// nameIn is the name of a device that somebody means, who may leave out the
// number 0.
func nameIn(d sinter.DeviceInfo, name string) string {
	for _, n := range namesOf(d) {
		if n == name || n == name+":0" {
			return n
		}
	}
	return ""
}

func isOfKind(name, kind string) bool {
	k, _, _ := strings.Cut(name, ":")
	return k == kind
}

// ofKind is the name of a device by a kind of driver.
func ofKind(d sinter.DeviceInfo, kind string) string {
	for _, n := range namesOf(d) {
		if isOfKind(n, kind) {
			return n
		}
	}
	return ""
}

// why says what is known of a device, or a kind of them, that is not there.
func why(all []sinter.DeviceInfo, name string) string {
	var there []string
	for _, d := range all {
		kind, _, _ := strings.Cut(name, ":")
		if d.Reason != "" && (d.Name == name || d.Kind == kind) {
			return fmt.Sprintf(": %s: %s", d.Reason, d.Remedy)
		}
		if d.Reason == "" {
			there = append(there, namesOf(d)...)
		}
	}
	return ": there are " + strings.Join(there, ", ")
}
