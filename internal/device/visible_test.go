package device

import "testing"

func TestHide(t *testing.T) {
	nvidia := func(kind, name, uuid string) Entry {
		return Entry{Name: name, Kind: kind, Properties: Properties{Vendor: "NVIDIA Corporation", UUID: uuid}}
	}
	amd := Entry{Name: "vulkan:2", Kind: "vulkan", Properties: Properties{Description: "AMD Radeon"}}
	listed := []Entry{nvidia("cuda", "cuda:0", "b"), nvidia("vulkan", "vulkan:0", "a"), nvidia("vulkan", "vulkan:1", "b"), amd}
	without := listed[1:]
	for _, c := range []struct {
		what    string
		entries []Entry
		env     map[string]string
		hidden  string
	}{
		{"nothing is set", listed, nil, ""},
		{"one of two", listed, map[string]string{"CUDA_VISIBLE_DEVICES": "1"}, "vulkan:0 "},
		{"none", without, map[string]string{"CUDA_VISIBLE_DEVICES": ""}, "vulkan:0 vulkan:1 "},
		{"none, as a number", without, map[string]string{"CUDA_VISIBLE_DEVICES": "-1"}, "vulkan:0 vulkan:1 "},
		{"without the maker's driver", without, map[string]string{"CUDA_VISIBLE_DEVICES": "1"}, ""},
		{"the other maker", listed, map[string]string{"ROCR_VISIBLE_DEVICES": ""}, "vulkan:2 "},
	} {
		hidden := ""
		for _, e := range hide(c.entries, func(k string) (string, bool) { v, ok := c.env[k]; return v, ok }) {
			if e.Reason != "" {
				hidden += e.Name + " "
				if e.Remedy == "" {
					t.Errorf("%s: no remedy for %s", c.what, e.Name)
				}
			}
		}
		if hidden != c.hidden {
			t.Errorf("%s: %q is hidden, want %q", c.what, hidden, c.hidden)
		}
	}
	if Best(hide(without, func(k string) (string, bool) { return "", k == "CUDA_VISIBLE_DEVICES" })) != "vulkan:2" {
		t.Error("a hidden GPU is the best")
	}
}
