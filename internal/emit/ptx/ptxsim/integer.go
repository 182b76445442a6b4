package ptxsim

import (
	"fmt"
	"math/bits"
	"strconv"
)

// signed is a value of a size in bytes with its sign.
func signed(v uint64, size int) int64 {
	shift := 64 - 8*size
	return int64(v<<shift) >> shift
}

// arithmetic decodes operations on numbers.
func (d *decoder) arithmetic(x *instruction) (run, error) {
	kind := x.kind()
	if kind == "" || sizeOf(kind) < 2 {
		return nil, fmt.Errorf("no way to run %s", x.name)
	}
	if kind[0] == 'f' {
		return d.float(x)
	}
	size := sizeOf(kind)
	k := mask(size)
	switch x.name {
	case "mul", "mad":
		return d.product(x)
	case "shl", "shr":
		return d.shift(x)
	}
	if f := monadic(x.name, kind); f != nil {
		return d.pure(x, kind, func(d, a, _, _ *row) {
			for i := range d {
				d[i] = f(a[i]) & k
			}
		}, kind)
	}
	if f := quick(x.name, k); f != nil {
		return d.pure(x, kind, f, kind, kind)
	}
	if f := dyadic(x.name, kind); f != nil {
		return d.pure(x, kind, func(d, a, b, _ *row) {
			for i := range d {
				d[i] = f(a[i], b[i]) & k
			}
		}, kind, kind)
	}
	switch x.name + "." + kind {
	case "bfe.u32":
		return d.pure(x, kind, func(d, a, b, c *row) {
			for i := range d {
				d[i] = a[i] >> min(b[i]&255, 63) & (1<<min(c[i]&255, 32) - 1)
			}
		}, kind, "u32", "u32")
	case "prmt.b32":
		return d.pure(x, kind, permute, kind, kind, kind)
	}
	return nil, fmt.Errorf("no way to run %s of %s", x.name, kind)
}

// quick is the operations that occur most.
func quick(name string, k uint64) func(d, a, b, _ *row) {
	switch name {
	case "add":
		return func(d, a, b, _ *row) {
			for i := range d {
				d[i] = (a[i] + b[i]) & k
			}
		}
	case "sub":
		return func(d, a, b, _ *row) {
			for i := range d {
				d[i] = (a[i] - b[i]) & k
			}
		}
	case "and":
		return func(d, a, b, _ *row) {
			for i := range d {
				d[i] = a[i] & b[i]
			}
		}
	case "or":
		return func(d, a, b, _ *row) {
			for i := range d {
				d[i] = a[i] | b[i]
			}
		}
	case "xor":
		return func(d, a, b, _ *row) {
			for i := range d {
				d[i] = a[i] ^ b[i]
			}
		}
	}
	return nil
}

func monadic(name, kind string) func(uint64) uint64 {
	size := sizeOf(kind)
	switch name {
	case "neg":
		return func(x uint64) uint64 { return -x }
	case "not":
		return func(x uint64) uint64 { return ^x }
	case "abs":
		return func(x uint64) uint64 { return uint64(max(signed(x, size), -signed(x, size))) }
	case "popc":
		return func(x uint64) uint64 { return uint64(bits.OnesCount64(x)) }
	case "clz":
		return func(x uint64) uint64 { return uint64(bits.LeadingZeros64(x) - 64 + 8*size) }
	}
	return nil
}

// dyadic gives operations on two numbers. What divides by 0 gives all ones, as
// the language leaves that open.
func dyadic(name, kind string) func(x, y uint64) uint64 {
	size := sizeOf(kind)
	if kind[0] == 's' {
		switch name {
		case "min":
			return func(x, y uint64) uint64 { return uint64(min(signed(x, size), signed(y, size))) }
		case "max":
			return func(x, y uint64) uint64 { return uint64(max(signed(x, size), signed(y, size))) }
		case "div":
			return func(x, y uint64) uint64 {
				if y == 0 {
					return ^uint64(0)
				}
				return uint64(signed(x, size) / signed(y, size))
			}
		case "rem":
			return func(x, y uint64) uint64 {
				if y == 0 {
					return ^uint64(0)
				}
				return uint64(signed(x, size) % signed(y, size))
			}
		}
	}
	switch name {
	case "min":
		return func(x, y uint64) uint64 { return min(x, y) }
	case "max":
		return func(x, y uint64) uint64 { return max(x, y) }
	case "div":
		return func(x, y uint64) uint64 {
			if y == 0 {
				return ^uint64(0)
			}
			return x / y
		}
	case "rem":
		return func(x, y uint64) uint64 {
			if y == 0 {
				return ^uint64(0)
			}
			return x % y
		}
	}
	return nil
}

// product decodes mul and mad, of which lo, hi or wide gives the part that is
// kept.
func (d *decoder) product(x *instruction) (run, error) {
	kind := x.kind()
	size := sizeOf(kind)
	k := mask(size)
	to, last := kind, kind
	var f func(a, b uint64) uint64
	isSigned := kind[0] == 's'
	switch {
	case x.has("lo"):
		f = func(a, b uint64) uint64 { return a * b & k }
	case x.has("wide") && size < 8:
		to = kind[:1] + strconv.Itoa(16*size)
		last = to
		f = func(a, b uint64) uint64 { return a * b }
		if isSigned {
			wide := mask(2 * size)
			f = func(a, b uint64) uint64 { return uint64(signed(a, size)*signed(b, size)) & wide }
		}
	case x.has("hi") && size == 4:
		f = func(a, b uint64) uint64 { return a * b >> 32 }
		if isSigned {
			f = func(a, b uint64) uint64 { return uint64(signed(a, 4)*signed(b, 4)>>32) & k }
		}
	case x.has("hi") && size == 8:
		f = func(a, b uint64) uint64 {
			hi, _ := bits.Mul64(a, b)
			if isSigned {
				hi -= uint64(int64(a)>>63)&b + uint64(int64(b)>>63)&a
			}
			return hi
		}
	default:
		return nil, fmt.Errorf("no way to run %s of %s", x.name, kind)
	}
	k = mask(sizeOf(to))
	if x.name == "mul" {
		return d.pure(x, to, func(d, a, b, _ *row) {
			for i := range d {
				d[i] = f(a[i], b[i])
			}
		}, kind, kind)
	}
	return d.pure(x, to, func(d, a, b, c *row) {
		for i := range d {
			d[i] = (f(a[i], b[i]) + c[i]) & k
		}
	}, kind, kind, last)
}

// shift decodes shl and shr: shifts by more than the width clamp.
func (d *decoder) shift(x *instruction) (run, error) {
	kind := x.kind()
	size := sizeOf(kind)
	k := mask(size)
	f := func(a, n uint64) uint64 { return a << min(n, 64) & k }
	if x.name == "shr" {
		f = func(a, n uint64) uint64 { return a >> min(n, 64) }
		if kind[0] == 's' {
			f = func(a, n uint64) uint64 { return uint64(signed(a, size)>>min(n, 63)) & k }
		}
	}
	return d.pure(x, kind, func(d, a, b, _ *row) {
		for i := range d {
			d[i] = f(a[i], b[i])
		}
	}, kind, "u32")
}

// permute picks four bytes out of eight.
func permute(d, a, b, c *row) {
	for i := range d {
		all := a[i] | b[i]<<32
		var v uint64
		for j := range 4 {
			pick := c[i] >> (4 * j) & 15
			e := all >> (8 * (pick & 7)) & 255
			if pick&8 != 0 {
				e = uint64(signed(e, 1)>>7) & 255
			}
			v |= e << (8 * j)
		}
		d[i] = v
	}
}
