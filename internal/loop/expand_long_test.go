//go:build long

package loop

import (
	"runtime"
	"sync"
	"testing"

	"github.com/sinterml/sinter/internal/ir"
)

// TestExpandExhaustive tries all 2^32 arguments of each function.
func TestExpandExhaustive(t *testing.T) {
	for _, f := range expansions {
		t.Run(f.op.String(), func(t *testing.T) {
			parts := make(chan uint64)
			all := make([]worst, runtime.GOMAXPROCS(0))
			var wg sync.WaitGroup
			for i := range all {
				p := compile(t, f.op, ir.F32, 1)
				wg.Go(func() {
					for lo := range parts {
						p.sweep(f.ref, lo, lo+1<<24, 1, &all[i])
					}
				})
			}
			for lo := uint64(0); lo < 1<<32; lo += 1 << 24 {
				parts <- lo
			}
			close(parts)
			wg.Wait()
			var w worst
			for _, x := range all {
				if x.ulp > w.ulp {
					w = x
				}
			}
			t.Log(w)
			if w.ulp > f.ulp {
				t.Errorf("more than %v", f.ulp)
			}
		})
	}
}

func TestExpandPowLong(t *testing.T) {
	powRandom(t, compile(t, ir.Pow, ir.F32, 2), 10_000_000, 2)
}

// TestExpand64Long tries millions of arguments: all of f64 are too many.
func TestExpand64Long(t *testing.T) { expand64Random(t, 10_000_000, 2) }

func TestExpand64PowLong(t *testing.T) { pow64Random(t, 10_000_000, 2) }
