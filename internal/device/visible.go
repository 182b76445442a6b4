package device

import (
	"slices"
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
// all of them if it names none, else those that this driver does not list.
func hide(entries []Entry, lookup func(string) (string, bool)) []Entry {
	all := slices.Clone(entries)
	for _, v := range visibility {
		for _, variable := range v.variables {
			value, set := lookup(variable)
			if !set {
				continue
			}
			none := value == "" || strings.HasPrefix(value, "-1")
			own := slices.ContainsFunc(entries, func(e Entry) bool { return e.Kind == v.kind && e.Reason == "" })
			for i, e := range all {
				if e.Kind == v.kind || e.Reason != "" || e.Software || !madeBy(e, v.makers) || !none && !own {
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

func madeBy(e Entry, makers []string) bool {
	text := strings.ToLower(e.Vendor + " " + e.Description)
	return slices.ContainsFunc(makers, func(m string) bool { return strings.Contains(text, m) })
}
