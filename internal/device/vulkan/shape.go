package vulkan

import (
	"runtime"

	"github.com/sinterml/sinter/internal/device/vulkan/vk"
	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/emit/flat"
	"github.com/sinterml/sinter/internal/emit/spirv"
)

const (
	// maxGroups of a launch.
	maxGroups = 1 << 20
	// leastGroup is what every device has that is not a phone's.
	leastGroup = 256
	// usualUnits is how many compute units a GPU is taken to have: Vulkan does not
	// tell.
	usualUnits = 64
)

// shapeOf chooses by what the device says of itself.
func shapeOf(p *vk.Physical) entry.Shape {
	if p.Software() {
		// Mesa has the items of a group in the lanes of vectors, most of which lie on
		// the stack whatever their number.
		return entry.Shape{Items: 2 * max(8, p.Subgroup), Near: p.Shared / 2, Shared: p.Shared, Own: 56, Flat: 64, Product: flat.Product}
	}
	return entry.Shape{Items: 256, Near: p.Shared / 2, Shared: p.Shared, Flat: 64, Product: flat.Product}
}

func unitsOf(p *vk.Physical) int {
	if p.Software() {
		return runtime.NumCPU()
	}
	return usualUnits
}

// optionsFor are what programs for a device may ask of it, if it rounds as it
// should.
func optionsFor(p *vk.Physical, s entry.Shape) spirv.Options {
	return spirv.Options{
		LoopsEnd: p.Software(),
		Flat:     s.Flat, Float64: p.F64.Supported, Int8: p.Int8, Int16: p.Int16,
		InfNaN:     spirv.Widths{F32: p.F32.InfNaN, F64: p.F64.InfNaN},
		Subnormals: spirv.Widths{F32: p.F32.Subnormals, F64: p.F64.Subnormals},
		Nearest:    spirv.Widths{F32: p.F32.Nearest, F64: p.F64.Nearest},
		Exact:      spirv.Widths{F32: true, F64: true},
		Roots:      spirv.Widths{F32: true, F64: true},
		Fused:      spirv.Widths{F32: true, F64: true},
		Whole:      spirv.Widths{F32: true, F64: true},
		Compares:   spirv.Widths{F32: true, F64: true},
		Converts:   true,
		Divides:    true,
	}
}
