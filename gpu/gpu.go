// Package gpu brings the drivers of GPUs. It is imported for that effect:
//
//	import _ "github.com/sinterml/sinter/gpu"
//
// Devices and Open of package sinter then know the devices of this machine, and
// "auto" stands for the best of them. Drivers are opened when they are first
// asked for, and a driver that is not there is no fault. On Linux a program with
// this package is linked dynamically.
package gpu

import (
	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/cuda"
	"github.com/sinterml/sinter/internal/device/hip"
	"github.com/sinterml/sinter/internal/device/metal"
	"github.com/sinterml/sinter/internal/device/opencl"
	"github.com/sinterml/sinter/internal/device/vulkan"
)

func init() {
	device.Register(cuda.Driver())
	device.Register(hip.Driver())
	device.Register(metal.Driver())
	device.Register(vulkan.Driver())
	device.Register(opencl.Driver())
}
