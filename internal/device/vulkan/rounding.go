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
// halves. So is what becomes of subnormals: NVIDIA's driver (580), which
// promises to keep those of f16 alone, keeps those of f32 in sums and products, but
// takes them for 0 in comparisons.

// samples of each operation, of which those from subnormals on have operands or
// results that are subnormal.
const (
	samples    = 1024
	subnormals = 768
)

// roundingKernel computes sums and products, quotients, roots, sums of products,
// whole numbers, comparisons and what is chosen by them. TYPE is f32 or f64.
const roundingKernel = `kernel "rounding"
param x TYPE[1024] read
param y TYPE[1024] read
param z TYPE[1024] read
param w TYPE[1024] read
param added TYPE[1024] write
param scaled TYPE[1024] write
param quotient TYPE[1024] write
param root TYPE[1024] write
param fused TYPE[1024] write
param below TYPE[1024] write
param inward TYPE[1024] write
param nearest TYPE[1024] write
param before bool[1024] write
param same bool[1024] write
param least TYPE[1024] write
param clamped TYPE[1024] write
for global i < 1024 {
	added[i] = z[i] + w[i]
	scaled[i] = x[i]*y[i]
	quotient[i] = x[i]/y[i]
	root[i] = sqrt(x[i])
	fused[i] = fma(x[i], y[i], z[i])
	below[i] = floor(w[i])
	inward[i] = trunc(w[i])
	nearest[i] = round(w[i])
	before[i] = z[i] < w[i]
	same[i] = z[i] == w[i]
	least[i] = min(z[i], w[i])
	clamped[i] = min(z[i], TYPE(10))
}
`

// convertingKernel computes the other width. Subnormals of f32 are none in f64.
const convertingKernel = `kernel "converting"
param x f32[1024] read
param y f64[1024] read
param wide f64[1024] write
param narrow f32[1024] write
for global i < 1024 {
	wide[i] = cast.f64(x[i])
	narrow[i] = cast.f32(y[i])
}
`

// dividingKernel reads elements at the remainder and quotient of an even number and
// of the next, as a product of few rows finds weights of a convolution, in a loop of
// one turn or none too. NVIDIA's driver (580) read the first of the two twice there.
// And it divides numbers of any size.
const dividingKernel = `kernel "dividing"
param x f32[1024] read
param n u64[1024] read
param d u64[1024] read
param even f32[1024] write
param odd f32[1024] write
param first i64[1024] write
param second i64[1024] write
param quotient u64[1024] write
param rest u64[1024] write
param tenth u64[1024] write
param down i64[1024] write
param above i64[1024] write
param both u64[1024] write
param next u64[1024] write
for global i < 1024 {
	first[i] = mod(mod(i, 16)*2, 5)*6 + idiv(mod(i, 16)*2, 5)
	second[i] = mod(mod(i, 16)*2 + 1, 5)*6 + idiv(mod(i, 16)*2 + 1, 5)
	quotient[i] = idiv(n[i], d[i])
	rest[i] = mod(n[i], d[i])
	tenth[i] = idiv(n[i], u64(10))
	down[i] = idiv(cast.i64(n[i]), cast.i64(d[i]))
	above[i] = mod(cast.i64(n[i]), cast.i64(d[i]))
	both[i] = mod(n[i], d[i])*u64(6) + idiv(n[i], d[i])
	next[i] = mod(n[i] + u64(1), d[i])*u64(6) + idiv(n[i] + u64(1), d[i])
	for serial turn < idiv(24 - mod(i, 16), 16) {
		even[i] = x[mod((turn*16 + mod(i, 16))*2, 3)*6 + idiv((turn*16 + mod(i, 16))*2, 3)]
		odd[i] = x[mod((turn*16 + mod(i, 16))*2 + 1, 3)*6 + idiv((turn*16 + mod(i, 16))*2 + 1, 3)]
	}
}
`

// rounded is what was found right of a width of floats.
type rounded struct {
	keeps                         bool // subnormals, in sums and products
	exact, roots, whole, compares bool
	fused                         bool // multiply-adds
	fusedNormal                   bool // those without subnormals
}

// right tells whether all is, of a device that computes with widths of floats.
func (r rounded) right() bool { return r.exact && r.roots && r.fused && r.whole && r.compares }

// count is of how much of it holds.
func (r rounded) count() (n int) {
	for _, holds := range []bool{r.keeps, r.exact, r.roots, r.whole, r.compares, r.fused, r.fusedNormal} {
		if holds {
			n++
		}
	}
	return n
}

// measureRounding finds out how the device rounds, what it does with subnormals,
// and whether it divides integers: some ten milliseconds on lavapipe. A device that
// promises to keep subnormals of f16 alone is asked to, where Vulkan allows that and
// it gives more: NVIDIA's driver (580) compares and converts those of f32 then.
func (b *backend) measureRounding() error {
	divides, err := b.divides()
	if err != nil {
		return err
	}
	o, right, err := b.measureFloats(b.options)
	if err != nil {
		return err
	}
	if f := b.device.Physical; f.OwnSubnormals && f.F16.Subnormals && !f.F32.Subnormals && !(o.Compares.F32 && o.Converts) {
		asked := b.options
		asked.HalfSubnormals = true
		asked, more, err := b.measureFloats(asked)
		if err != nil {
			return err
		}
		if more > right {
			o = asked
		}
	}
	o.Divides = divides
	b.options = o
	return nil
}

// measureFloats has in o what the device does right in programs of o, and how much
// that is.
func (b *backend) measureFloats(o spirv.Options) (_ spirv.Options, right int, err error) {
	c := *b
	c.options = o // not changed while it measures
	single, err := c.rounds("f32")
	var double rounded
	if err == nil && o.Float64 {
		double, err = c.rounds("f64")
	}
	if err == nil && o.Float64 && single.keeps {
		o.Converts, err = c.converts()
	}
	o.Exact = spirv.Widths{F32: single.exact, F64: double.exact}
	o.Roots = spirv.Widths{F32: single.roots, F64: double.roots}
	o.Fused = spirv.Widths{F32: single.fused, F64: double.fused}
	o.FusedNormal = spirv.Widths{F32: single.fusedNormal, F64: double.fusedNormal}
	o.Whole = spirv.Widths{F32: single.whole, F64: double.whole}
	o.Compares = spirv.Widths{F32: single.compares, F64: double.compares}
	right = single.count() + double.count()
	if o.Converts {
		right++
	}
	return o, right, err
}

// rounds compares what the device computes with what is right. Where not even sums
// and products keep subnormals nothing brings them back: the rest is judged without.
func (b *backend) rounds(dtype string) (r rounded, err error) {
	size := 4
	if dtype == "f64" {
		size = 8
	}
	x, y, z, w := operandsOf(size)
	same, err := b.compare(strings.ReplaceAll(roundingKernel, "TYPE", dtype), x, y, z, w)
	if err != nil {
		return r, err
	}
	const operands = 4 // before the results
	right := func(count int, results ...int) bool {
		for _, i := range results {
			if !same(operands+i, count) {
				return false
			}
		}
		return true
	}
	count := samples
	if r.keeps = right(samples, 0, 1); !r.keeps {
		count = subnormals
	}
	r.exact, r.roots, r.fused, r.fusedNormal = right(count, 2), right(count, 3), right(count, 4), right(subnormals, 4)
	r.whole, r.compares = right(count, 5, 6, 7), right(count, 8, 9, 10, 11)
	return r, nil
}

// converts tells whether subnormals of f32 are kept on their way to and from f64.
func (b *backend) converts() (bool, error) {
	_, _, z, w := operandsOf(4)
	wide := make([]byte, 8*samples)
	for i := range samples { // what is between two subnormals as well
		v := float64(math.Float32frombits(binary.LittleEndian.Uint32(w[4*i:])))
		binary.LittleEndian.PutUint64(wide[8*i:], math.Float64bits(v*(1+float64(i%7)/8)))
	}
	same, err := b.compare(convertingKernel, z, wide)
	return err == nil && same(2, samples) && same(3, samples), err
}

// divides tells whether integers are divided as they should be.
func (b *backend) divides() (bool, error) {
	x, _, _, _ := operandsOf(4)
	var n, d []byte
	r := rand.New(rand.NewPCG(2, 3))
	for i := range samples {
		n = binary.LittleEndian.AppendUint64(n, r.Uint64()>>r.IntN(64))
		d = binary.LittleEndian.AppendUint64(d, max(1, r.Uint64()>>[...]int{40, 60, r.IntN(64)}[i%3]))
	}
	const operands, results = 3, 11
	same, err := b.compare(dividingKernel, x, n, d)
	right := err == nil
	for i := operands; right && i < operands+results; i++ {
		right = same(i, samples)
	}
	return right, err
}

// verify measures once more, of programs that are corrected, what needs it.
func (b *backend) verify() error {
	o := b.options
	both := func(w spirv.Widths) bool { return w.F32 && (w.F64 || !o.Float64) }
	var wrong []string
	if !both(o.Exact) || !both(o.Roots) || !both(o.Fused) || !both(o.Whole) || !both(o.Compares) {
		for _, dtype := range []string{"f32", "f64"} {
			if dtype == "f64" && !o.Float64 {
				continue
			}
			switch r, err := b.rounds(dtype); {
			case err != nil:
				return err
			case !r.right():
				wrong = append(wrong, fmt.Sprintf("arithmetic of %s (%+v)", dtype, r))
			}
		}
	}
	if o.Float64 && !o.Converts {
		right, err := b.converts()
		if err != nil {
			return err
		}
		if !right {
			wrong = append(wrong, "conversions of floats")
		}
	}
	if !o.Divides {
		right, err := b.divides()
		if err != nil {
			return err
		}
		if !right {
			wrong = append(wrong, "divisions of integers")
		}
	}
	if wrong == nil {
		return nil
	}
	return fmt.Errorf("%s (driver %s) computes wrongly what can be corrected elsewhere: %s; update its driver",
		b.device.Physical.Name, b.device.Physical.Driver, strings.Join(wrong, ", "))
}

// compare runs a kernel of so many samples on the device and by its meaning. same
// tells whether the first of a param are.
func (b *backend) compare(kernel string, operands ...[]byte) (same func(param, count int) bool, err error) {
	k, err := loop.Parse(kernel)
	if err != nil {
		return nil, err
	}
	args, want := &loop.Args{End: samples}, &loop.Args{End: samples}
	for i, p := range k.Params {
		data := make([]byte, samples*p.DType.Size())
		if i < len(operands) {
			copy(data, operands[i])
		}
		args.Buffers, want.Buffers = append(args.Buffers, data), append(want.Buffers, bytes.Clone(data))
	}
	if err := loop.Interpret(k, want); err != nil {
		return nil, err
	}
	if err := b.runAlone(b.shape.Kernel(k.Name, k), args); err != nil {
		return nil, fmt.Errorf("looking how %s rounds: %w", b.device.Physical.Name, err)
	}
	return func(param, count int) bool {
		n := count * k.Params[param].DType.Size()
		return bytes.Equal(args.Buffers[param][:n], want.Buffers[param][:n])
	}, nil
}

// operandsOf makes operands of roundingKernel, of so many bytes each. Up to
// subnormals they are of middling sizes. Of every other, z is close to -x*y: a
// product that is rounded before the sum shows. w is of any size up to where all
// numbers are whole, and halfway between two whole numbers now and then.
func operandsOf(size int) (x, y, z, w []byte) {
	r := rand.New(rand.NewPCG(1, 2))
	all := make([][]byte, 4)
	for i := range samples {
		x, y := math.Ldexp(1+r.Float64(), r.IntN(40)-20), math.Ldexp(1+r.Float64(), r.IntN(40)-20)
		if size == 4 {
			x, y = float64(float32(x)), float64(float32(y))
		}
		z := -x * y
		if i%2 == 0 {
			z = math.Ldexp(r.Float64()-0.5, r.IntN(40)-20)
		}
		w := math.Ldexp(2*r.Float64()-1, r.IntN(10*size+20)-6)
		if i%4 == 0 {
			w = math.Trunc(w) + 0.5
		}
		if i >= subnormals {
			x, y, z, w = small(r, size, i)
		}
		for j, v := range []float64{x, y, z, w} {
			if size == 4 {
				all[j] = binary.LittleEndian.AppendUint32(all[j], math.Float32bits(float32(v)))
			} else {
				all[j] = binary.LittleEndian.AppendUint64(all[j], math.Float64bits(v))
			}
		}
	}
	return all[0], all[1], all[2], all[3]
}

// small makes operands of which some are subnormal, or give what is. None give NaN.
func small(r *rand.Rand, size, i int) (x, y, z, w float64) {
	least, fraction := -126, 23 // of normal numbers
	if size == 8 {
		least, fraction = -1022, 52
	}
	draw := func() float64 {
		v := math.Ldexp(r.Float64(), least-r.IntN(fraction))
		v = [...]float64{v, v, 0, math.Ldexp(1, least), math.Ldexp(1, least-fraction), 1}[r.IntN(6)]
		if r.IntN(2) == 0 {
			v = -v
		}
		return v
	}
	z, w = draw(), draw()
	if i%8 == 0 {
		w = z
	}
	switch i % 4 {
	case 0: // a subnormal by what may be infinite
		x, y = math.Ldexp(1+r.Float64(), least-1-r.IntN(fraction)), [...]float64{1, 3, math.Ldexp(1, -least), math.Inf(1)}[r.IntN(4)]
	case 1:
		x, y = math.Ldexp(1+r.Float64(), r.IntN(40)-20), math.Ldexp(1+r.Float64(), least-1-r.IntN(fraction))
	default: // a product that is subnormal
		x, y = math.Ldexp(1+r.Float64(), least/2-r.IntN(fraction/2)), math.Ldexp(1+r.Float64(), least/2-r.IntN(fraction/2))
	}
	return x, y, z, w
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
