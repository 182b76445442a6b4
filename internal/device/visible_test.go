package device

import (
	"errors"
	"strings"
	"testing"
)

func TestHide(t *testing.T) {
	nvidia := func(kind, name, uuid string) Entry {
		return Entry{Name: name, Kind: kind, Properties: Properties{Vendor: "NVIDIA Corporation", UUID: uuid}}
	}
	amd := Entry{Name: "vulkan:2", Kind: "vulkan", Properties: Properties{Description: "AMD Radeon"}}
	listed := []Entry{nvidia("cuda", "cuda:0", "b"), nvidia("vulkan", "vulkan:0", "a"), nvidia("vulkan", "vulkan:1", "b"), amd}
	without := listed[1:]
	// NVIDIA's driver works and lists nothing; or it does not work.
	empty := append(Entries(Driver{Name: "cuda", External: true, List: func() ([]Properties, error) { return nil, nil }}), without...)
	broken := append([]Entry{Absent("cuda", errors.New("crashes"))}, without...)
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
		{"none, as Slurm says it", without, map[string]string{"CUDA_VISIBLE_DEVICES": "NoDevFiles"}, "vulkan:0 vulkan:1 "},
		{"none, as a word", broken, map[string]string{"CUDA_VISIBLE_DEVICES": "none"}, "vulkan:0 vulkan:1 "},
		{"nothing before the first comma", broken, map[string]string{"CUDA_VISIBLE_DEVICES": ",0"}, "vulkan:0 vulkan:1 "},
		{"an index out of range", without, map[string]string{"CUDA_VISIBLE_DEVICES": "2,0"}, "vulkan:0 vulkan:1 "},
		{"an end after the second", listed, map[string]string{"CUDA_VISIBLE_DEVICES": "1,NoDevFiles,0"}, "vulkan:0 "},
		{"an end after one, without the maker's driver", broken, map[string]string{"CUDA_VISIBLE_DEVICES": " 1 ,-1"}, ""},
		{"an identifier, without the maker's driver", broken, map[string]string{"CUDA_VISIBLE_DEVICES": "GPU-b"}, ""},
		{"an identifier that the maker's driver does not know", empty, map[string]string{"CUDA_VISIBLE_DEVICES": "GPU-c"}, "vulkan:0 vulkan:1 "},
		{"the maker's driver lists nothing", empty, map[string]string{"CUDA_VISIBLE_DEVICES": "7"}, "vulkan:0 vulkan:1 "},
		{"it lists nothing, and no variable says so", empty, nil, ""},
		{"the other maker, out of range", listed, map[string]string{"HIP_VISIBLE_DEVICES": "1"}, "vulkan:2 "},
		{"the other maker, in range", listed, map[string]string{"HIP_VISIBLE_DEVICES": "0"}, ""},
		{"the other maker", listed, map[string]string{"ROCR_VISIBLE_DEVICES": ""}, "vulkan:2 "},
	} {
		hidden := ""
		for _, e := range hide(c.entries, func(k string) (string, bool) { v, ok := c.env[k]; return v, ok }) {
			if strings.HasPrefix(e.Reason, "hidden by ") {
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
