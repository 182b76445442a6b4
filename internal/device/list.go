package device

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// kinds are what devices there may be, the preferred first: of a GPU that
// several of them reach, the first stands for it.
var kinds = []struct {
	name, what string
	brought    bool // by package gpu
}{
	{"cuda", "NVIDIA GPU", true},
	{"hip", "AMD GPU", true},
	{"metal", "Apple GPU", true},
	{"vulkan", "any GPU, by Vulkan", true},
	{"opencl", "any GPU, by OpenCL", true},
	{"cpu", "this processor", false},
}

// Brought are the kinds that package gpu brings drivers for.
func Brought() []string {
	var names []string
	for _, k := range kinds {
		if k.brought {
			names = append(names, k.name)
		}
	}
	return names
}

// rank orders kinds. Those that are not in the table come last, and are opened
// by name alone.
func rank(kind string) int {
	for i, k := range kinds {
		if k.name == kind {
			return i
		}
	}
	return len(kinds)
}

// Entry is a device in a list: one that can be opened, or one that is missing
// and for what reason.
type Entry struct {
	Name string // what it is opened by
	Kind string
	Properties
	Reason string `json:",omitempty"` // why it cannot be opened; "": it can
	Remedy string `json:",omitempty"` // what to do about it
	// Empty says that the driver works, and shows no device at all.
	Empty bool `json:",omitempty"`
	// Alternatives are the names under which other drivers offer the same
	// hardware.
	Alternatives []string `json:",omitempty"`
}

// NameOf is the name of a driver's device. Kinds of which there is always one
// have no numbers.
func NameOf(d Driver, index int) string {
	if !d.External {
		return d.Name
	}
	return d.Name + ":" + strconv.Itoa(index)
}

// ParseName splits a name into kind and number, which is 0 where there is none.
func ParseName(name string) (kind string, index int, err error) {
	kind, number, numbered := strings.Cut(name, ":")
	if !numbered {
		return kind, 0, nil
	}
	index, err = strconv.Atoi(number)
	if err != nil || index < 0 {
		return "", 0, fmt.Errorf("device %q: %q is not a number", name, number)
	}
	return kind, index, nil
}

// Entries asks a driver what it has. If there is nothing to open, one line says
// why.
func Entries(d Driver) []Entry {
	list, err := d.Properties()
	var entries []Entry
	for i, p := range list {
		entries = append(entries, Entry{Name: NameOf(d, i), Kind: d.Name, Properties: p})
	}
	if err == nil && len(list) == 0 {
		err = &MissingError{Reason: "the driver finds no device", Empty: true}
	}
	if err != nil {
		entries = append(entries, Absent(d.Name, err))
	}
	return entries
}

// Absent is the line for a kind whose devices, or some of them, are missing.
func Absent(kind string, err error) Entry {
	entry := Entry{Name: kind, Kind: kind}
	if i := rank(kind); i < len(kinds) {
		entry.Description = kinds[i].what
	}
	entry.Reason, entry.Remedy = err.Error(), ""
	var m *MissingError
	if errors.As(err, &m) {
		entry.Reason, entry.Remedy, entry.Empty = m.Reason, m.Remedy, m.Empty
	}
	return entry
}

// Arrange makes one list of what all drivers have: the preferred kinds first,
// a line for each kind that no driver is for, and hardware that several drivers
// offer once, under the name of the preferred. Every line that is not a device
// has a remedy.
func Arrange(entries []Entry) []Entry {
	all := hide(entries, os.LookupEnv)
	for _, k := range kinds {
		if !slices.ContainsFunc(entries, func(i Entry) bool { return i.Kind == k.name }) {
			all = append(all, Absent(k.name, noDriver(k.brought)))
		}
	}
	slices.SortStableFunc(all, func(a, b Entry) int { return cmp.Compare(rank(a.Kind), rank(b.Kind)) })
	all = unite(all)
	best := Best(all)
	for i := range all {
		if all[i].Reason != "" && all[i].Remedy == "" {
			all[i].Remedy = "use " + best
		}
	}
	return all
}

func noDriver(brought bool) error {
	if brought {
		return &MissingError{Reason: "this program was built without drivers of GPUs", Remedy: `import _ "github.com/sinterml/sinter/gpu"`}
	}
	return &MissingError{Reason: "this version of sinter has no driver for it"}
}

// unite keeps the first of the lines that are about the same hardware.
func unite(all []Entry) []Entry {
	var kept []Entry
	for _, i := range all {
		at := slices.IndexFunc(kept, func(k Entry) bool { return same(k, i) })
		if at < 0 {
			kept = append(kept, i)
			continue
		}
		kept[at].Alternatives = append(slices.Clone(kept[at].Alternatives), i.Name)
	}
	return kept
}

// same tells whether two lines are about one piece of hardware. Addresses count
// where a driver tells no UUID, as those of different makers may differ.
func same(a, b Entry) bool {
	if a.Reason != "" || b.Reason != "" || a.Software != b.Software {
		return false
	}
	return a.UUID != "" && a.UUID == b.UUID || a.PCI != "" && a.PCI == b.PCI
}

// Names lists the devices that can be opened.
func Names(all []Entry) []string {
	var names []string
	for _, i := range all {
		if i.Reason == "" {
			names = append(append(names, i.Name), i.Alternatives...)
		}
	}
	return names
}

// Find looks a device up by its name, which may leave out the number 0. What is
// not there is an error that says why, and what is.
func Find(all []Entry, name string) (Entry, error) {
	kind, index, err := ParseName(name)
	if err != nil {
		return Entry{}, err
	}
	numbered := kind + ":" + strconv.Itoa(index)
	there := strings.Join(append([]string{"auto"}, Names(all)...), ", ")
	var lack *Entry
	for _, i := range all {
		switch {
		case i.Reason == "" && (i.Name == name || i.Name == numbered || index == 0 && i.Name == kind):
			return i, nil
		case i.Reason == "" && (slices.Contains(i.Alternatives, name) || slices.Contains(i.Alternatives, numbered)):
			i.Name, i.Kind = numbered, kind
			return i, nil
		case i.Reason != "" && (i.Name == kind || i.Name == numbered):
			lack = &i
		}
	}
	if lack != nil {
		return Entry{}, fmt.Errorf("no device %q: %w; there are %s", name, &MissingError{Reason: lack.Reason, Remedy: lack.Remedy}, there)
	}
	return Entry{}, fmt.Errorf("no device %q: there are %s", name, there)
}
