package ptx_test

import (
	"testing"

	"github.com/sinterml/sinter/internal/device/launch/launchtest"
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
