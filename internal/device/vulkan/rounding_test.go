package vulkan

import (
	"testing"

	"github.com/sinterml/sinter/internal/device/launch/launchtest"
	"github.com/sinterml/sinter/internal/emit/spirv"
)

// TestRounding compares what is measured of a device, in programs for it as it is
// and for one that does nothing right.
func TestRounding(t *testing.T) {
	b := openBackend(t)
	for name, change := range map[string]func(o *spirv.Options){
		"measured": func(*spirv.Options) {},
		"corrected": func(o *spirv.Options) {
			o.Exact, o.Fused, o.Whole, o.Compares, o.Converts = spirv.Widths{}, spirv.Widths{}, spirv.Widths{}, spirv.Widths{}, false
		},
		"without f64": func(o *spirv.Options) {
			o.Exact, o.Fused, o.Whole, o.Compares, o.Float64 = spirv.Widths{}, spirv.Widths{}, spirv.Widths{}, spirv.Widths{}, false
		},
	} {
		t.Run(name, func(t *testing.T) {
			changed := *b
			change(&changed.options)
			for _, dtype := range []string{"f32", "f64"} {
				if dtype == "f64" && !changed.options.Float64 {
					continue
				}
				r, err := changed.rounds(dtype)
				if want := (rounded{true, true, true, true, true}); err != nil || r != want {
					t.Errorf("of %s %+v is right, %v", dtype, r, err)
				}
			}
			if changed.options.Float64 {
				if right, err := changed.converts(); err != nil || !right {
					t.Errorf("conversions are wrong, %v", err)
				}
			}
		})
	}
}

// TestCorrected compares single kernels, of which every operation is corrected that
// can be.
func TestCorrected(t *testing.T) {
	b := openBackend(t)
	b.options.Exact, b.options.Fused, b.options.Whole, b.options.Compares = spirv.Widths{}, spirv.Widths{}, spirv.Widths{}, spirv.Widths{}
	b.options.Converts = false
	launchtest.RandomKernels(t, b, b.shape, nil)
}
