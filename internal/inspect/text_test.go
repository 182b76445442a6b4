package inspect

import (
	"strings"
	"testing"
)

// What has no shape is shown as its number, so that names that differ in it look
// different, and no text is longer than it may be.
func TestShorten(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"weight é 層 🙂", "weight é 層 🙂"},
		{"a\u202eb", `a\u{202e}b`},
		{"a\u2066b", `a\u{2066}b`},
		{"\x00\xff", `\u{0}\x{ff}`},
		{"a\U000e0041\U000e0101\ufe0f", `a\u{e0041}\u{e0101}\u{fe0f}`},
		{"0123456789abcdefghijklmnopqrstuvwxyz", "0123456789abcdefghij…tuvwxyz"},
		{strings.Repeat("\u202e", 12), `\u{202e}\u{202e}…`},
	} {
		if got := shorten(c.in, 30); got != c.want || len(got) > 30 {
			t.Errorf("%q: %s, want %s", c.in, got, c.want)
		}
	}
}
