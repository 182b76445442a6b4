package cpu_test

import (
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/cpu"
	"github.com/sinterml/sinter/internal/devicetest"
)

// TestConformance runs the suite on each instruction set that this processor
// has, optimised and with every pass off; with -short on the best and on none,
// optimised.
func TestConformance(t *testing.T) {
	sets := []cpu.ISA{cpu.AMX, cpu.AVX512, cpu.AVX2, cpu.NEON, cpu.Generic}
	passes := map[string][]string{"optimised": nil, "plain": {"all"}}
	if testing.Short() {
		sets = []cpu.ISA{cpu.Best, cpu.Generic}
		delete(passes, "plain")
	}
	for _, isa := range sets {
		open := func(threads int) (device.Device, error) { return cpu.New(cpu.Options{ISA: isa, Threads: threads}) }
		if d, err := open(0); err != nil {
			t.Logf("%v: %v", isa, err)
			continue
		} else if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		for name, off := range passes {
			t.Run(isa.String()+" "+name, func(t *testing.T) {
				devicetest.Run(t, open, devicetest.Options{Compile: device.Options{NoOpt: off, Check: true}})
			})
		}
	}
}

func BenchmarkCases(b *testing.B) {
	devicetest.Benchmark(b, func(threads int) (device.Device, error) { return cpu.New(cpu.Options{Threads: threads}) }, device.Options{})
}
