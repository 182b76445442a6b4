package cpu_test

import (
	"slices"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/cpu"
	"github.com/sinterml/sinter/internal/devicetest"
	"github.com/sinterml/sinter/internal/effort"
)

// TestConformance runs the suite on each instruction set that this processor has,
// optimised, and the short suite on the best with every pass off; in CI both on all and on none; with
// -short on the best and on none, optimised.
func TestConformance(t *testing.T) {
	some := []cpu.ISA{cpu.AMX, cpu.AVX512, cpu.AVX2, cpu.NEON}
	all := append([]cpu.ISA{cpu.AMXFP16, cpu.Generic}, some...)
	sets := effort.Of([]cpu.ISA{cpu.Best, cpu.Generic}, some, all, all)
	passes := map[string][]string{"optimised": nil, "plain": {"all"}}
	if testing.Short() {
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
	if len(sets) == 0 { // a processor that machine code is not made for
		sets = []cpu.ISA{cpu.Generic}
	}
	for i, isa := range sets {
		open := func(threads int) (device.Device, error) { return cpu.New(cpu.Options{ISA: isa, Threads: threads}) }
		for name, off := range passes {
			if off != nil && i > 0 && effort.Now() < effort.CI {
				continue
			}
			t.Run(isa.String()+" "+name, func(t *testing.T) {
				devicetest.Run(t, open, devicetest.Options{Compile: device.Options{NoOpt: off, Check: true}, Slow: off != nil && effort.Less()})
			})
		}
	}
}

func BenchmarkCases(b *testing.B) {
	devicetest.Benchmark(b, func(threads int) (device.Device, error) { return cpu.New(cpu.Options{Threads: threads}) }, device.Options{})
}
