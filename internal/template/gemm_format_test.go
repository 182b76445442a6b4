package template_test

import (
	"testing"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/template"
)

// Of all operands that may be widened to the dtype of sums only two pairs have a
// format: bytes of other signs would be multiplied as what they are not.
func TestFormatOf(t *testing.T) {
	type types struct{ sums, x, y ir.DType }
	narrow := map[types]template.Format{{ir.F32, ir.BF16, ir.BF16}: template.BF16, {ir.I32, ir.U8, ir.I8}: template.Bytes}
	for _, sums := range ir.DTypes() {
		for _, x := range ir.DTypes() {
			for _, y := range ir.DTypes() {
				if got, want := template.FormatOf(sums, x, y), narrow[types{sums, x, y}]; got != want {
					t.Errorf("%v by %v, summed in %v: format %d, want %d", x, y, sums, got, want)
				}
			}
		}
	}
}
