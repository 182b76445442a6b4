package compile

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/schedule"
)

// EmptyIndexed refuses indices into nothing: there is no element that a kernel
// could read instead. It is given the size of each buffer.
func EmptyIndexed(p *schedule.Plan, bytes []int, env ir.Env) error {
	for _, k := range p.Kernels {
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

// FindIndex reports the first index outside of size.
func FindIndex(op ir.Op, d ir.DType, data []byte, size int) error {
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
