package ptx_test

import (
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/device/launch/launchtest"
	"github.com/sinterml/sinter/internal/emit/flat/flattest"
	"github.com/sinterml/sinter/internal/emit/ptx"
	"github.com/sinterml/sinter/internal/ir"
)

// TestFewRows compares products of few rows, whose weights are read four words at
// a time, with their meaning.
func TestFewRows(t *testing.T) {
	for _, target := range targets {
		t.Run(target.String(), func(t *testing.T) {
			launchtest.FewRows(t, &backend{target: target}, target.Shape(), func(ir.DType) bool { return true })
		})
	}
}

// TestFewRowsRegisters shows the registers of large products of few rows: there
// is room for all values in them.
func TestFewRowsRegisters(t *testing.T) {
	ptxas := findAssembler(t)
	for _, a := range architectures {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			target, err := ptx.TargetFor(a.major, a.minor, a.driver)
			if err != nil {
				t.Fatal(err)
			}
			kernels := flattest.LargeFews(target.Shape())
			p, err := ptx.Write(target, kernels)
			if err != nil {
				t.Fatal(err)
			}
			if wide := strings.Count(p.Source, "ld.global.nc.v4.u32"); wide < len(kernels) {
				t.Errorf("%d loads of 16 bytes in %d kernels", wide, len(kernels))
			}
			ptxas.roomFor(t, a.name, p.Source, len(kernels))
		})
	}
}
