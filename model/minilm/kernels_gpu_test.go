//go:build !static

package minilm

import (
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/cuda"
	"github.com/sinterml/sinter/internal/device/cuda/cu/cutest"
	"github.com/sinterml/sinter/internal/device/hip"
	"github.com/sinterml/sinter/internal/device/hip/hiprt/hiptest"
	"github.com/sinterml/sinter/internal/device/opencl"
	"github.com/sinterml/sinter/internal/device/opencl/cl/cltest"
	"github.com/sinterml/sinter/model"
)

// openCL is a device of a driver that computes nothing, in the shape of kernels
// for processors or for GPUs.
func openCL(processor bool) (device.Device, error) {
	api := (&cltest.Fake{Quick: true}).API()
	all, err := api.Devices()
	if err != nil {
		return nil, err
	}
	all[0].CPU = processor
	return opencl.New(api, all[0], nil)
}

// withoutGPU are devices of work-groups whose drivers compute nothing.
var withoutGPU = map[string]func(int) (device.Device, error){
	"opencl-cpu": func(int) (device.Device, error) { return openCL(true) },
	"opencl-gpu": func(int) (device.Device, error) { return openCL(false) },
	"cuda-none": func(int) (device.Device, error) {
		api := (&cutest.Fake{}).API()
		all, err := api.Devices()
		if err != nil {
			return nil, err
		}
		return cuda.New(api, all[0], nil)
	},
	"hip-none": func(int) (device.Device, error) {
		api := (&hiptest.Fake{}).API()
		all, err := api.Devices()
		if err != nil {
			return nil, err
		}
		return hip.New(api, all[0], nil)
	},
}

// TestKernelsOfALayer: a layer of MiniLM is eight kernels at most on devices of
// work-groups.
func TestKernelsOfALayer(t *testing.T) {
	e, err := model.OpenFS(FS)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	ids := sinter.Input("ids", sinter.I32, sinter.Sym("tokens", 0, 1<<20))
	offsets := sinter.Input("offsets", sinter.I32, sinter.Sym("texts", 0, 1<<20).Plus(1))
	hidden := e.Forward(model.Inputs{IDs: ids, Offsets: offsets}).Hidden
	for name, open := range withoutGPU {
		device.Register(device.Driver{Name: name, Open: open})
		d, err := sinter.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		var before int
		for i := 2; i < 5; i++ { // neither the first layer nor the last
			p, err := sinter.Compile(sinter.Capture(hidden[i]), sinter.Options{Device: d})
			if err != nil {
				t.Fatal(err)
			}
			n := p.Info().Kernels
			if more := n - before; i > 2 && (more > 8 || more < 1) {
				t.Errorf("%s: layer %d has %d kernels", name, i, more)
			}
			before = n
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}
