package cpu

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/sinterml/sinter/internal/device"
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
			return findIndex(check.Op, m.plan.Buffers[check.Buffer].DType, mem[check.Buffer].bytes, size)
		}
	}
	return nil
}

// emptyIndexed refuses indices into nothing: there is no element that a kernel
// could read instead.
func (m *module) emptyIndexed(bytes []int, env ir.Env) error {
	for _, k := range m.plan.Kernels {
		for _, c := range k.Checks {
			if c.Buffer < 0 || bytes[c.Buffer] == 0 || c.Size.Static() {
				continue
			}
			if size, err := c.Size.Eval(env); err != nil || size == 0 {
				return errors.Join(err, &device.IndexError{Op: c.Op.String(), Size: 0})
			}
		}
	}
	return nil
}

// findIndex reports the first index outside of size.
func findIndex(op ir.Op, d ir.DType, data []byte, size int) error {
	width := d.Size()
	for at := 0; at*width < len(data); at++ {
		var v int64
		switch d {
		case ir.I32:
			v = int64(int32(binary.LittleEndian.Uint32(data[at*width:])))
		default:
			v = int64(binary.LittleEndian.Uint64(data[at*width:]))
		}
		if v < 0 || v >= int64(size) {
			return &device.IndexError{Op: op.String(), Index: v, Size: size, At: at}
		}
	}
	return fmt.Errorf("%v: an index was outside size %d while the program ran: was the memory changed by others?", op, size)
}
