package loop

import (
	"strings"
	"testing"
)

// Shared expressions are alike in all that they do: the same index that is
// checked for two users tells both.
func TestShare(t *testing.T) {
	k, err := Parse(`kernel "k"
slots 2
param p0 f32[8] read
param p1 f32[8] write
for global i < 8 {
	p1[i] = p0[index(i + 1, 8, 0)] + p0[index(i + 1, 8, 1)] + p0[index(i + 1, 8, 0)]
}
`)
	if err != nil {
		t.Fatal(err)
	}
	shared := Share(k)
	if text := shared.String(); !strings.Contains(text, "8, 0)") || !strings.Contains(text, "8, 1)") {
		t.Errorf("a check is lost:\n%v", text)
	}
	seen := map[*Expr]bool{}
	shared.WalkExprs(func(e *Expr) {
		if e.Kind == KindIndex {
			seen[e] = true
		}
	})
	if len(seen) != 2 {
		t.Errorf("%d indices, want 2:\n%v", len(seen), shared)
	}
}
