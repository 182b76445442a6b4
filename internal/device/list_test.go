package device_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/device"
)

// of is a driver that lists what it is given.
func of(kind string, err error, list ...device.Properties) device.Driver {
	return device.Driver{Name: kind, External: kind != "cpu" && kind != "interp", List: func() ([]device.Properties, error) { return list, err }}
}

func arrange(drivers ...device.Driver) []device.Entry {
	var all []device.Entry
	for _, d := range drivers {
		all = append(all, device.Entries(d)...)
	}
	return device.Arrange(all)
}

func names(all []device.Entry) string {
	var text []string
	for _, i := range all {
		name := i.Name
		if i.Reason != "" {
			name = "(" + name + ")"
		}
		text = append(text, strings.Join(append([]string{name}, i.Alternatives...), "="))
	}
	return strings.Join(text, " ")
}

var (
	cpu    = of("cpu", nil, device.Properties{})
	interp = of("interp", nil, device.Properties{})
	gpuA   = device.Properties{UUID: "a", PCI: "0000:01:00.0"}
	gpuB   = device.Properties{PCI: "0000:02:00.0"}
	pocl   = device.Properties{Software: true}
)

func TestArrange(t *testing.T) {
	for _, c := range []struct {
		name, want, best string
		drivers          []device.Driver
	}{
		{"none", "(cuda) (hip) (metal) (vulkan) (opencl) cpu interp", "cpu", []device.Driver{interp, cpu}},
		{"software", "(cuda) (hip) (metal) (vulkan) opencl:0 cpu", "cpu", []device.Driver{cpu, of("opencl", nil, pocl)}},
		{"one GPU, three drivers, two of one kind", "cuda:0=vulkan:1=opencl:0=opencl:2 (hip) (metal) vulkan:0=opencl:1 cpu", "cuda:0",
			[]device.Driver{of("opencl", nil, gpuA, gpuB, gpuA), cpu, of("vulkan", nil, gpuB, gpuA), of("cuda", nil, gpuA)}},
		{"one driver fails beside others", "(cuda) (hip) (metal) (vulkan) opencl:0 (opencl) cpu", "opencl:0",
			[]device.Driver{cpu, of("opencl", errors.New("clGetDeviceIDs: no"), gpuA)}},
		{"a driver of a kind that nobody knows", "(cuda) (hip) (metal) (vulkan) (opencl) cpu tile:0", "cpu", []device.Driver{of("tile", nil, gpuA), cpu}},
		{"a driver that tells nothing", "(cuda) (hip) (metal) (vulkan) (opencl) cpu tile", "cpu", []device.Driver{{Name: "tile"}, cpu}},
		{"no UUID says nothing", "(cuda) (hip) (metal) (vulkan) opencl:0 opencl:1 cpu", "opencl:0", []device.Driver{cpu, of("opencl", nil, device.Properties{}, device.Properties{})}},
	} {
		all := arrange(c.drivers...)
		if got := names(all); got != c.want {
			t.Errorf("%s: %s, not %s", c.name, got, c.want)
		}
		if got := device.Best(all); got != c.best {
			t.Errorf("%s: the best is %s", c.name, got)
		}
		for _, i := range all {
			if (i.Reason == "") != (i.Remedy == "") {
				t.Errorf("%s: %+v", c.name, i)
			}
		}
	}
}

func TestFind(t *testing.T) {
	all := arrange(cpu, interp, of("vulkan", nil, gpuA), of("opencl", nil, gpuB, gpuA), of("hip", &device.MissingError{Reason: "libamdhip64.so not found", Remedy: "install it"}))
	for name, want := range map[string]string{"cpu": "cpu", "cpu:0": "cpu", "opencl": "opencl:0", "opencl:0": "opencl:0", "opencl:1": "opencl:1", "vulkan": "vulkan:0", "interp": "interp"} {
		if i, err := device.Find(all, name); err != nil || i.Name != want {
			t.Errorf("%s is %s, %v", name, i.Name, err)
		}
	}
	const there = "there are auto, vulkan:0, opencl:1, opencl:0, cpu, interp"
	for name, want := range map[string]string{
		"hip":       `no device "hip": libamdhip64.so not found: install it; ` + there,
		"metal:1":   `no device "metal:1": this program was built without drivers of GPUs: import _ "github.com/sinterml/sinter/gpu"; ` + there,
		"opencl:2":  `no device "opencl:2": ` + there,
		"cpu:1":     `no device "cpu:1": ` + there,
		"tpu":       `no device "tpu": ` + there,
		"opencl:-1": `device "opencl:-1": "-1" is not a number`,
		"opencl:":   `device "opencl:": "" is not a number`,
		"":          `no device "": ` + there,
	} {
		if _, err := device.Find(all, name); err == nil || err.Error() != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := device.Names(all); !slices.Equal(got, []string{"vulkan:0", "opencl:1", "opencl:0", "cpu", "interp"}) {
		t.Errorf("%v", got)
	}
}
