package opencl

import (
	"github.com/sinterml/sinter/internal/device/opencl/cl"
	"github.com/sinterml/sinter/internal/emit/cstyle"
	"github.com/sinterml/sinter/internal/emit/entry"
)

// widest is the bytes of the widest element of a product.
const widest = 8

// privateBytes of scratch memory are a work-item's own variables on a
// processor: they lie on its stack.
const privateBytes = 64 << 10

// processor is the shape for a CPU.
var processor = entry.Shape{Items: 1, Near: privateBytes, Flat: 1, Product: cstyle.GemmForProcessor, Tiles: cstyle.ProcessorTiles()}

// shapeOf chooses by what the device says of itself.
func shapeOf(d *cl.Device) entry.Shape {
	if d.CPU {
		return processor
	}
	s := entry.Shape{Items: min(256, d.MaxGroup), Near: d.Local / 2, Shared: d.Local, Flat: min(64, d.MaxGroup)}
	if d.MaxGroup >= entry.GroupTile.Items() {
		s.Product, s.Tiles = cstyle.GemmForGroups, entry.GroupTiles(s.Items, s.Near/widest)
	}
	return s
}

// styleOf is the language of kernels in a shape.
func styleOf(s entry.Shape) *cstyle.Style {
	if s.Items == 1 {
		return cstyle.OpenCLForProcessor
	}
	return cstyle.OpenCL
}
