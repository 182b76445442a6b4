//go:build !static

package optim_test

import (
	"slices"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/internal/gputest"
)

// TestReferenceMLPGPU does three of the runs on the devices of drivers: one
// where not everything has to be tested.
func TestReferenceMLPGPU(t *testing.T) {
	ref := openReferenceRuns(t)
	names := []string{"sgd_momentum", "sgd_accum2", "adamw_clip_cosine"}
	if effort.Now() < effort.CI {
		names = names[:1]
	}
	gputest.Run(t, func(t *testing.T, d *sinter.Device) {
		names := names
		if gputest.Slow(d) {
			names = names[:1]
		}
		done := 0
		for _, r := range ref.Runs {
			if slices.Contains(names, r.Optimizer) {
				t.Run(r.Optimizer, func(t *testing.T) {
					r.train(t, ref.file, ref.Steps, ref.Batch, sinter.Options{Device: d, Check: true})
				})
				done++
			}
		}
		if done != len(names) {
			t.Errorf("%d of the runs %v", done, names)
		}
	})
}
