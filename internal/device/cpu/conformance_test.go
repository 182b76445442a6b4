package cpu_test

import (
	"slices"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/cpu"
	"github.com/sinterml/sinter/internal/devicetest"
	"github.com/sinterml/sinter/internal/effort"
)

// TestConformance runs the suite on each instruction set that this processor
// has, optimised, and with every pass off on the best or, in CI, on all; with -short
// on the best and on none, optimised.
func TestConformance(t *testing.T) {
	sets := []cpu.ISA{cpu.AMX, cpu.AVX512, cpu.AVX2, cpu.NEON, cpu.Generic}
	passes := map[string][]string{"optimised": nil, "plain": {"all"}}
	ci := effort.Now() >= effort.CI
	switch {
	case ci:
		sets = append(sets, cpu.AMXFP16)
	case testing.Short():
		sets = []cpu.ISA{cpu.Best, cpu.Generic}
		delete(passes, "plain")
	}
	sets = slices.DeleteFunc(sets, func(isa cpu.ISA) bool {
		d, err := cpu.New(cpu.Options{ISA: isa})
		if err != nil {
			t.Logf("%v: %v", isa, err)
			return true
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		return false
	})
	for i, isa := range sets {
		open := func(threads int) (device.Device, error) { return cpu.New(cpu.Options{ISA: isa, Threads: threads}) }
		for name, off := range passes {
			if !ci && off != nil && i > 0 {
				continue
			}
			t.Run(isa.String()+" "+name, func(t *testing.T) {
				devicetest.Run(t, open, devicetest.Options{Compile: device.Options{NoOpt: off, Check: true}})
			})
		}
	}
}

func BenchmarkCases(b *testing.B) {
	devicetest.Benchmark(b, func(threads int) (device.Device, error) { return cpu.New(cpu.Options{Threads: threads}) }, device.Options{})
}
