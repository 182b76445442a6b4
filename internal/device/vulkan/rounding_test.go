package vulkan

import (
	"testing"

	"github.com/sinterml/sinter/internal/device/launch/launchtest"
	"github.com/sinterml/sinter/internal/emit/spirv"
)

// uncorrected are options of which nothing was seen to be right.
func uncorrected(o *spirv.Options) {
	none := spirv.Widths{}
	o.Exact, o.Fused, o.Whole, o.Compares, o.Converts, o.Divides = none, none, none, none, false, false
}

// TestRounding compares what is measured of a device, in programs for it as it is
// and for one that does nothing right.
func TestRounding(t *testing.T) {
	b := openBackend(t)
	for name, change := range map[string]func(o *spirv.Options){
		"measured":    func(*spirv.Options) {},
		"corrected":   uncorrected,
		"without f64": func(o *spirv.Options) { uncorrected(o); o.Float64 = false },
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
			if right, err := changed.divides(); err != nil || !right {
				t.Errorf("divisions are wrong, %v", err)
			}
		})
	}
}

// TestCorrected compares single kernels, of which every operation is corrected that
// can be.
func TestCorrected(t *testing.T) {
	b := openBackend(t)
	uncorrected(&b.options)
	launchtest.RandomKernels(t, b, b.shape, nil)
}
