//go:build long

package planted

import (
	"testing"

	"github.com/sinterml/sinter/internal/cpuid"
)

// TestDefects plants the defects one at a time, each where its tests pass
// without it. -run TestDefects/NAME tries one.
func TestDefects(t *testing.T) {
	has := cpuid.Host().Features
	passes := map[string]bool{}
	for _, d := range Defects() {
		t.Run(d.Name, func(t *testing.T) {
			if !d.Runs(&has) {
				t.Skip("this processor does not run what is changed")
			}
			if tests := d.Package + " " + d.Run; !passes[tests] {
				failed, err := d.TryWithout(t.Context(), root)
				if err != nil || len(failed) > 0 {
					t.Fatalf("without the defect %v failed: %v", failed, err)
				}
				passes[tests] = true
			}
			failed, err := d.Try(t.Context(), root, t.TempDir())
			switch {
			case err != nil:
				t.Fatal(err)
			case len(failed) == 0:
				t.Errorf("survives: %s in %s lets it pass", d.Run, d.Package)
			default:
				t.Logf("caught by %v", failed[0])
			}
		})
	}
}
