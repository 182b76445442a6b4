//go:build !static

package model

import (
	"path/filepath"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/internal/gputest"
	"github.com/sinterml/sinter/internal/reftest"
)

// TestReferenceMiniLMGPU runs the real model over the reference texts where
// everything is to be tested.
func TestReferenceMiniLMGPU(t *testing.T) {
	if effort.Now() < effort.CI {
		t.Skip("drivers compile it for seconds: set SINTER_CI")
	}
	gputest.Run(t, func(t *testing.T, d *sinter.Device) {
		if gputest.Slow(d) {
			t.Skip("it takes hours on a simulated GPU, which runs the small encoders")
		}
		referenceMiniLM(t, d.Name(), d)
	})
}

// TestReferencePrecisionGPU does so in f16, which is the device's own on some.
func TestReferencePrecisionGPU(t *testing.T) {
	if effort.Now() < effort.CI {
		t.Skip("drivers compile it for seconds: set SINTER_CI")
	}
	gputest.Run(t, func(t *testing.T, d *sinter.Device) {
		if gputest.Slow(d) {
			t.Skip("it takes hours on a simulated GPU")
		}
		referencePrecision(t, d.Name(), d, costOfF16)
	})
}

// TestReferencePrecisionEncodersGPU runs one small encoder in every format: on
// NVIDIA's kernels that is another path for each.
func TestReferencePrecisionEncodersGPU(t *testing.T) {
	dir := modelDirs(t, "encoders")[0]
	gputest.Run(t, func(t *testing.T, d *sinter.Device) {
		for _, c := range encoderCosts {
			t.Run(c.name, func(t *testing.T) { encoderPrecision(t, dir, d, c) })
		}
	})
}

// TestReferenceBERTGPU runs the small encoders on the devices of drivers: all of
// them where everything is to be tested, else one.
func TestReferenceBERTGPU(t *testing.T) {
	root := reftest.Dir(t, "bert")
	dirs, err := filepath.Glob(filepath.Join(root, "*", "reference.safetensors"))
	if err != nil || len(dirs) == 0 {
		t.Fatal("no encoders in the reference", err)
	}
	if effort.Now() < effort.CI {
		dirs = dirs[:1]
	}
	gputest.Run(t, func(t *testing.T, d *sinter.Device) {
		for i, file := range dirs {
			if i > 0 && gputest.Slow(d) {
				break
			}
			dir := filepath.Dir(file)
			t.Run(filepath.Base(dir), func(t *testing.T) { referenceBERT(t, dir, d) })
		}
	})
}
