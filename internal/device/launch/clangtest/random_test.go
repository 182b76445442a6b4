package clangtest

import (
	"testing"

	"github.com/sinterml/sinter/internal/device/launch/launchtest"
	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/internal/emit/cstyle"
	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/emit/flat/flattest"
	"github.com/sinterml/sinter/internal/ir"
)

// TestRandomKernels compares kernels in both languages with the interpreter.
func TestRandomKernels(t *testing.T) {
	c := Find(t)
	for _, s := range []*cstyle.Style{cstyle.HIP, cstyle.Metal} {
		t.Run(s.Name, func(t *testing.T) {
			has := func(_ ir.Op, from ir.DType) bool { return s.Types[from] != "" }
			launchtest.RandomKernels(t, &Backend{Clang: c, Style: s}, GPU, has)
		})
	}
}

// TestFewRows compares products of few rows in both languages.
func TestFewRows(t *testing.T) {
	c := Find(t)
	for _, s := range []*cstyle.Style{cstyle.HIP, cstyle.Metal} {
		t.Run(s.Name, func(t *testing.T) {
			launchtest.FewRows(t, &Backend{Clang: c, Style: s}, GPU, func(d ir.DType) bool { return s.Types[d] != "" })
		})
	}
}

// TestFewRowsRegisters compiles large products of few rows for AMD's GPUs: all
// values are in registers.
func TestFewRowsRegisters(t *testing.T) {
	if effort.Now() < effort.CI {
		t.Skip("the compiler takes ten seconds: set SINTER_CI")
	}
	c := Find(t)
	shape := entry.Shape{Items: 256, Near: 32 << 10, Flat: 64, Product: cstyle.GemmForGroups}
	p, err := cstyle.HIP.Write(flattest.LargeFews(shape))
	if err != nil {
		t.Fatal(err)
	}
	for _, arch := range architectures {
		kernels, err := c.HIP(t.Context(), arch, p.Source)
		if err != nil {
			t.Fatal(err)
		}
		report(t, kernels)
	}
}
