package device

import (
	"slices"
	"strconv"
	"strings"
)

// visibility are the variables by which users hide GPUs from the driver of their
// maker. It obeys them itself; that the same GPU is not taken by way of another
// kind is seen to here.
var visibility = []struct {
	kind      string // of the maker's driver
	makers    []string
	variables []string
}{
	{"cuda", []string{"nvidia"}, []string{"CUDA_VISIBLE_DEVICES"}},
	{"hip", []string{"amd", "advanced micro devices"}, []string{"HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"}},
}

// hide gives a reason to GPUs that a variable hides from their maker's driver:
// all of them if it leaves none, else those that this driver does not list.
func hide(entries []Entry, lookup func(string) (string, bool)) []Entry {
	all := slices.Clone(entries)
	for _, v := range visibility {
		own := slices.ContainsFunc(entries, func(e Entry) bool { return e.Kind == v.kind && e.Reason == "" })
		empty := slices.ContainsFunc(entries, func(e Entry) bool { return e.Kind == v.kind && e.Empty })
		for _, variable := range v.variables {
			value, set := lookup(variable)
			if !set || !own && !empty && leavesSome(value, count(entries, v.makers)) {
				continue
			}
			for i, e := range all {
				if e.Kind == v.kind || e.Reason != "" || e.Software || !madeBy(e, v.makers) {
					continue
				}
				listed := slices.ContainsFunc(entries, func(o Entry) bool { return o.Kind == v.kind && same(o, e) })
				if !listed {
					all[i].Reason, all[i].Remedy = "hidden by "+variable+"="+value, "unset "+variable+", or name this GPU in it"
				}
			}
		}
	}
	return all
}

// leavesSome tells whether a list of GPUs names one, where a machine has so many.
// Drivers read it up to the first entry that is neither an index in range nor an
// identifier, and show what stands before: nothing where that is the first.
func leavesSome(list string, gpus int) bool {
	first, _, _ := strings.Cut(list, ",")
	first = strings.TrimSpace(first)
	if index, err := strconv.Atoi(first); err == nil {
		return index >= 0 && index < gpus
	}
	return strings.HasPrefix(first, "GPU-") || strings.HasPrefix(first, "MIG-")
}

// count is how many GPUs of some makers there are: the most that one kind of
// driver lists, as each lists them once.
func count(entries []Entry, makers []string) int {
	of, most := map[string]int{}, 0
	for _, e := range entries {
		if e.Reason == "" && !e.Software && madeBy(e, makers) {
			of[e.Kind]++
			most = max(most, of[e.Kind])
		}
	}
	return most
}

func madeBy(e Entry, makers []string) bool {
	text := strings.ToLower(e.Vendor + " " + e.Description)
	return slices.ContainsFunc(makers, func(m string) bool { return strings.Contains(text, m) })
}
