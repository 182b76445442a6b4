package inspect_test

import (
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/inspect"
	"github.com/sinterml/sinter/internal/ir"
)

// What has no shape is shown as its number, so that names that differ in it look
// different, and no name is longer than 120 bytes.
func TestShorten(t *testing.T) {
	nothing := &inspect.Compilation{Steps: []inspect.Step{{Graph: ir.NewBuilder(nil).Finish()}}}
	digits := strings.Repeat("0123456789", 8)
	for _, c := range []struct{ in, want string }{
		{"weight é 層 🙂", "weight é 層 🙂"},
		{"a\u202eb", `a\u{202e}b`},
		{"a\u2066b", `a\u{2066}b`},
		{"\x00\xff", `\u{0}\x{ff}`},
		{"a\U000e0041\U000e0101\ufe0f", `a\u{e0041}\u{e0101}\u{fe0f}`},
		{digits + strings.Repeat("a", 40), digits + strings.Repeat("a", 40)},
		{digits + strings.Repeat("a", 40) + "b", digits + "…" + strings.Repeat("a", 36) + "b"},
		{strings.Repeat("\u202e", 60), strings.Repeat(`\u{202e}`, 10) + "…" + strings.Repeat(`\u{202e}`, 4)},
		{strings.Repeat("\U000e0041", 60), strings.Repeat(`\u{e0041}`, 8) + "…" + strings.Repeat(`\u{e0041}`, 4)},
	} {
		if got := inspect.New(nothing, inspect.Facts{Title: c.in}).Title; got != c.want || len(got) > 120 {
			t.Errorf("%q: %s, want %s", c.in, got, c.want)
		}
	}
}
