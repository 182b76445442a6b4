package ptx_test

import (
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/launch"
	"github.com/sinterml/sinter/internal/device/suite"
)

// TestPackedWeights compares products with weights in 4 bits with the referee's. Those
// of few rows are one kernel, which unpacks what it reads; that of many has another
// before it, which unpacks for the units for matrices.
func TestPackedWeights(t *testing.T) {
	for _, target := range targets {
		t.Run(target.String(), func(t *testing.T) {
			d, err := launch.New(&backend{target: target}, launch.Options{Kind: "ptx", Shape: target.Shape(), Units: 4})
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			for _, c := range suite.PackedCases() {
				if err := c.Run(t.Context(), d, device.Options{Check: true}); err != nil {
					t.Error(err)
				}
				g, _, err := c.Prepare()
				if err != nil {
					t.Fatal(err)
				}
				m, err := d.CompileGraph(t.Context(), g, device.Options{})
				if err != nil {
					t.Fatal(err)
				}
				if n := m.Info().Kernels; n != len(g.Outputs)+1 {
					t.Errorf("%d kernels for %d products, of which one has many rows", n, len(g.Outputs))
				}
				if err := m.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
