package cpu

import (
	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/compile"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/jit"
)

// checker is a step whose kernel may have set status words.
type checker interface{ flags() []int64 }

// indexErrors turns status words that kernels set into errors. A kernel has
// only told that an index was outside; which one is found by looking at them
// again.
func (m *module) indexErrors(steps []jit.Step, kernels []int, mem []place, env ir.Env) error {
	for i, n := range kernels {
		k := m.plan.Kernels[n]
		c, ok := steps[i].(checker)
		if !ok {
			continue
		}
		for slot, flag := range c.flags() {
			if flag == 0 {
				continue
			}
			check := k.Checks[slot]
			if check.Buffer < 0 {
				return &device.DivisionError{Op: check.Op.String(), At: -1}
			}
			size, err := check.Size.Eval(env)
			if err != nil {
				return err
			}
			return compile.FindIndex(check.Op, m.plan.Buffers[check.Buffer].DType, mem[check.Buffer].bytes, size)
		}
	}
	return nil
}
