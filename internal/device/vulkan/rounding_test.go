package vulkan

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/device/launch/launchtest"
	"github.com/sinterml/sinter/internal/device/vulkan/vk"
	"github.com/sinterml/sinter/internal/device/vulkan/vk/vktest"
	"github.com/sinterml/sinter/internal/emit/spirv"
)

// uncorrected are options of which nothing was seen to be right.
func uncorrected(o *spirv.Options) {
	none := spirv.Widths{}
	o.Exact, o.Roots, o.Fused, o.FusedNormal, o.Whole, o.Compares, o.Converts, o.Divides = none, none, none, none, none, none, false, false
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
				if want := (rounded{true, true, true, true, true, true, true}); err != nil || r != want {
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
			if err := changed.verify(); err != nil {
				t.Error(err)
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

// TestFusedNormal has multiply-adds of subnormals corrected that others are not. Of
// the operands every product is exact, so that a device without multiply-adds gives
// the same.
func TestFusedNormal(t *testing.T) {
	b := openBackend(t)
	b.options.Fused, b.options.FusedNormal = spirv.Widths{}, spirv.Widths{F32: true, F64: true}
	r := rand.New(rand.NewPCG(6, 0))
	var x, y, z []byte
	put := func(data []byte, v float64) []byte {
		return binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(v)))
	}
	for i := range samples {
		short := func() float64 { return float64(r.IntN(1<<12) - 1<<11) }
		u, v := math.Ldexp(short(), r.IntN(30)-149), math.Ldexp(short(), r.IntN(20))
		w := math.Ldexp(short(), r.IntN(30)-149)
		if i%4 == 0 {
			w = -u * v
		}
		x, y, z = put(x, u), put(y, v), put(z, w)
	}
	const kernel = `kernel "multiply_add"
param x f32[1024] read
param y f32[1024] read
param z f32[1024] read
param out f32[1024] write
for global i < 1024 {
	out[i] = fma(x[i], y[i], z[i])
}
`
	if same, err := b.compare(kernel, x, y, z); err != nil || !same(3, samples) {
		t.Errorf("multiply-adds are wrong, %v", err)
	}
}

// TestRefused has a device that computes nothing, which no correction helps.
func TestRefused(t *testing.T) {
	i, err := (&vktest.Fake{}).API().NewInstance(vk.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer i.Close()
	found, err := i.Physicals()
	if err != nil {
		t.Fatal(err)
	}
	_, err = New(found[0], nil)
	if err == nil || !strings.Contains(err.Error(), "Fake GPU") || !strings.Contains(err.Error(), "divisions of integers") {
		t.Error(err)
	}
}
