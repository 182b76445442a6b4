//go:build !static

package sinter_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/internal/gputest"
)

// TestReferenceOperatorsGPU compares the operators and their gradients with
// PyTorch on the devices of drivers: all of them where everything is to be
// tested, as drivers' compilers take their time.
func TestReferenceOperatorsGPU(t *testing.T) {
	ref := openReferenceCases(t)
	cases := ref.Cases
	if effort.Now() < effort.CI {
		cases = nil
		for i := 0; i < len(ref.Cases); i += 60 {
			cases = append(cases, ref.Cases[i])
		}
	}
	gputest.Run(t, func(t *testing.T, d *sinter.Device) {
		for group := range slices.Chunk(cases, 32) {
			ref.together(t, group, sinter.Options{Device: d, Check: true})
		}
	})
}

// together runs cases as one program, as a compiler's least time for a program is
// long, and each alone where that fails.
func (r *referenceCases) together(t *testing.T, cases []referenceCase, o sinter.Options) {
	var all []built
	var tensors []sinter.Tensor
	for _, c := range cases {
		b := c.build(t, r.file)
		all, tensors = append(all, b), append(tensors, b.tensors...)
	}
	run := sync.OnceValues(func() ([]sinter.Tensor, error) { return runAll(tensors, o) })
	at := 0
	for i, c := range cases {
		from := at
		at += len(all[i].tensors)
		t.Run(c.Name, func(t *testing.T) {
			outs, err := run()
			if err != nil {
				c.run(t, r.file, r.Rtol, o)
				t.Fatalf("it runs alone, but not with others: %v", err)
			}
			c.compare(t, r.file, r.Rtol, all[i], outs[from:])
		})
	}
}

// TestInt8OfConvolutionsGPU does what TestInt8OfConvolutions does on the devices
// of drivers.
func TestInt8OfConvolutionsGPU(t *testing.T) {
	cases := slices.Clone(int8Convolutions[:1])
	if effort.Now() >= effort.CI {
		for i := 3; i < len(int8Convolutions); i += 3 {
			cases = append(cases, int8Convolutions[i])
		}
	}
	gputest.Run(t, func(t *testing.T, d *sinter.Device) {
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) { c.compare(t, sinter.Options{Device: d}) })
		}
	})
}

// TestAttentionAtTheEndsGPU does what TestAttentionAtTheEnds does on the devices of
// drivers.
func TestAttentionAtTheEndsGPU(t *testing.T) { gputest.Run(t, attentionAtTheEnds) }
