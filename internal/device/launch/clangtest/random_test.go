package clangtest

import (
	"testing"

	"github.com/sinterml/sinter/internal/device/launch/launchtest"
	"github.com/sinterml/sinter/internal/emit/cstyle"
	"github.com/sinterml/sinter/internal/ir"
)

// TestRandomKernels compares kernels in both languages with the interpreter.
func TestRandomKernels(t *testing.T) {
	c := Find(t)
	for _, s := range []*cstyle.Style{cstyle.HIP, cstyle.Metal} {
		t.Run(s.Name, func(t *testing.T) {
			exact := func(op ir.Op, from ir.DType) bool {
				_, differs := s.Double[op]
				return s.Types[from] != "" && (from != ir.F64 || !differs)
			}
			launchtest.RandomKernels(t, &Backend{Clang: c, Style: s}, GPU, exact)
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
