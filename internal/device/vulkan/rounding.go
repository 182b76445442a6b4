package vulkan

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/sinterml/sinter/internal/device/launch"
	"github.com/sinterml/sinter/internal/device/vulkan/vk"
	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/emit/spirv"
	"github.com/sinterml/sinter/internal/loop"
)

// Vulkan promises quotients within 2.5 units in the last place, roots within
// more, and that a fused multiply-add is one, or is two roundings: no driver
// tells. Most devices do better, so it is measured. Whole numbers are measured as
// well: Mesa's compiler for processors (22.3), where it has AVX2 and no AVX-512,
// has another trunc and round of f64: wrong from 2^24 on, for -0, and round for
// halves.

// samples of each operation.
const samples = 1024

// roundingKernel computes quotients, roots, sums of products and whole numbers.
// TYPE is f32 or f64.
const roundingKernel = `kernel "rounding"
param x TYPE[1024] read
param y TYPE[1024] read
param z TYPE[1024] read
param w TYPE[1024] read
param quotient TYPE[1024] write
param root TYPE[1024] write
param fused TYPE[1024] write
param below TYPE[1024] write
param inward TYPE[1024] write
param nearest TYPE[1024] write
for global i < 1024 {
	quotient[i] = x[i]/y[i]
	root[i] = sqrt(x[i])
	fused[i] = fma(x[i], y[i], z[i])
	below[i] = floor(w[i])
	inward[i] = trunc(w[i])
	nearest[i] = round(w[i])
}
`

// operands is how many parameters of roundingKernel are read: before the others.
const operands = 4

// rounded is what was measured of a device.
type rounded struct{ exact, fused, whole spirv.Widths }

// measureRounding finds out how a device rounds: some ten milliseconds on lavapipe.
func measureRounding(b *backend) (r rounded, err error) {
	if r.exact.F32, r.fused.F32, r.whole.F32, err = b.rounds("f32"); err != nil || !b.options.Float64 {
		return r, err
	}
	r.exact.F64, r.fused.F64, r.whole.F64, err = b.rounds("f64")
	return r, err
}

// rounds compares what the device computes with what is right.
func (b *backend) rounds(dtype string) (exact, fused, whole bool, err error) {
	k, err := loop.Parse(strings.ReplaceAll(roundingKernel, "TYPE", dtype))
	if err != nil {
		return false, false, false, err
	}
	args := &loop.Args{End: samples}
	for i, p := range k.Params {
		args.Buffers = append(args.Buffers, make([]byte, samples*p.DType.Size()))
		if i == operands-1 {
			fill(args.Buffers, p.DType.Size())
		}
	}
	want := &loop.Args{End: samples}
	for _, data := range args.Buffers {
		want.Buffers = append(want.Buffers, bytes.Clone(data))
	}
	if err := loop.Interpret(k, want); err != nil {
		return false, false, false, err
	}
	if err := b.runAlone(b.shape.Kernel("rounding", k), args); err != nil {
		return false, false, false, fmt.Errorf("looking how %s rounds: %w", b.device.Physical.Name, err)
	}
	same := func(result int) bool {
		return bytes.Equal(args.Buffers[operands+result], want.Buffers[operands+result])
	}
	return same(0) && same(1), same(2), same(3) && same(4) && same(5), nil
}

// fill makes operands of middling sizes. Of every other, z is close to -x*y: a
// product that is rounded before the sum shows. w is of any size up to where all
// numbers are whole, and halfway between two whole numbers now and then.
func fill(buffers [][]byte, width int) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range samples {
		x, y := math.Ldexp(1+r.Float64(), r.IntN(40)-20), math.Ldexp(1+r.Float64(), r.IntN(40)-20)
		if width == 4 {
			x, y = float64(float32(x)), float64(float32(y))
		}
		z := -x * y
		if i%2 == 0 {
			z = math.Ldexp(r.Float64()-0.5, r.IntN(40)-20)
		}
		w := math.Ldexp(2*r.Float64()-1, r.IntN(10*width+20)-6)
		if i%4 == 0 {
			w = math.Trunc(w) + 0.5
		}
		for j, v := range []float64{x, y, z, w} {
			at := buffers[j][i*width:]
			if width == 4 {
				binary.LittleEndian.PutUint32(at, math.Float32bits(float32(v)))
			} else {
				binary.LittleEndian.PutUint64(at, math.Float64bits(v))
			}
		}
	}
}

// runAlone runs one kernel whose iterations have nothing in common.
func (b *backend) runAlone(e *entry.Kernel, a *loop.Args) (err error) {
	code, err := b.Emit([]*entry.Kernel{e})
	if err != nil {
		return err
	}
	p, err := b.Build(code)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	r, err := p.Record([]launch.Launch{{Name: e.Work.Name, Kernel: e, Args: code.Args[0], Groups: (a.End + b.shape.Flat - 1) / b.shape.Flat, Items: b.shape.Flat}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	memory := make([]*vk.Memory, len(a.Buffers))
	for i, data := range a.Buffers {
		if memory[i], err = b.device.Alloc(len(data), vk.Local); err != nil {
			return err
		}
		defer memory[i].Close()
		if err := b.device.Write(memory[i], 0, data); err != nil {
			return err
		}
	}
	for i, arg := range code.Args[0] {
		switch arg.Kind {
		case entry.ArgBuffer:
			err = errors.Join(err, r.SetMemory(0, i, memory[arg.Param]))
		case entry.ArgEnd:
			err = errors.Join(err, r.SetInt(0, i, int64(a.End)))
		case entry.ArgChunk:
			err = errors.Join(err, r.SetInt(0, i, 1))
		default:
			err = errors.Join(err, r.SetInt(0, i, 0))
		}
	}
	if err = errors.Join(err, r.Run()); err != nil {
		return err
	}
	for i, data := range a.Buffers {
		if err := b.device.Read(data, memory[i], 0); err != nil {
			return err
		}
	}
	return nil
}
