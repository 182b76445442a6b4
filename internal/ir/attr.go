package ir

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Attr holds what an operation needs beside its operands. Each operation uses
// the fields named after it; the others stay zero. Append is the canonical
// text: printing, hashing and merging of equal nodes all go by it.
type Attr struct {
	// The result's type where the operands do not give it: leaves, Cast,
	// Bitcast (DType) · leaves, Reshape, Expand, Slice, SegmentIDs (Shape).
	// Printed as the node's type.
	DType DType
	Shape Shape

	Axes []int // Permute: order · reductions, Flip: sorted axes · Iota, Concat, Gather, Scatter, Sort, Scan, Window: one axis

	Starts []Dim // Slice
	Steps  []int // Slice: >= 1
	Before []Dim // Pad
	After  []Dim // Pad

	Value uint64 // Const, Pad: the bits of one element in the node's type

	Mode string // Scatter, Scan, SegmentReduce: "add", "set", "sum", "prod", "max"
	Leaf int    // Bound, Weight, Variable, Assign: index into Graph.Leaves; Rand: the draw's number, so that two never merge
	Out  int    // Get: which output

	Size, Stride, Dilation int // Window

	Conv      *ConvAttr
	Attention *AttentionAttr

	Descending bool // Sort
	TF32       bool // MatMul, Attention of f32: a device may round operands of products to TF32
	Region     int  // not zero: a recomputed region; never merges with others
}

// PlacedBySymbol tells whether a symbol decides which elements a view shows where,
// as where a slice begins, though its size may be known.
func (a *Attr) PlacedBySymbol() bool {
	symbolic := func(d Dim) bool { return !d.Static() }
	return slices.ContainsFunc(a.Starts, symbolic) || slices.ContainsFunc(a.Before, symbolic) || slices.ContainsFunc(a.After, symbolic)
}

// ConvAttr describes a convolution over len(Stride) spatial axes.
type ConvAttr struct {
	Stride, Dilation []int
	Before, After    []int // zeros around x
	Groups           int
}

// AttentionAttr describes an attention. Operands are q, k, v, then the query
// and key offsets if Ragged, then the mask if Mask. An AttentionGrad has three
// more, see Gradient.
type AttentionAttr struct {
	Scale   float64 // factor on q·k; never 0
	Causal  bool
	Ragged  bool
	Mask    bool
	Window  int     // keys j with |p - j| < Window for a query at p are seen; 0: all
	SoftCap float64 // c: scores become c*tanh(score/c); 0: off
}

// Append appends the fields that are set, as ` name=value` each.
func (a *Attr) Append(b []byte) []byte {
	if a.Axes != nil {
		b = appendInts(append(b, " axes="...), a.Axes)
	}
	if a.Starts != nil {
		b = Shape(a.Starts).Append(append(b, " starts="...))
	}
	if a.Steps != nil {
		b = appendInts(append(b, " steps="...), a.Steps)
	}
	if a.Before != nil {
		b = Shape(a.Before).Append(append(b, " before="...))
	}
	if a.After != nil {
		b = Shape(a.After).Append(append(b, " after="...))
	}
	if a.Value != 0 {
		b = strconv.AppendUint(append(b, " value=0x"...), a.Value, 16)
	}
	if a.Mode != "" {
		b = strconv.AppendQuote(append(b, " mode="...), a.Mode)
	}
	b = appendInt(b, " leaf=", a.Leaf)
	b = appendInt(b, " out=", a.Out)
	b = appendInt(b, " size=", a.Size)
	b = appendInt(b, " stride=", a.Stride)
	b = appendInt(b, " dilation=", a.Dilation)
	if c := a.Conv; c != nil {
		b = appendInts(append(b, " strides="...), c.Stride)
		b = appendInts(append(b, " dilations="...), c.Dilation)
		b = appendInts(append(b, " padbefore="...), c.Before)
		b = appendInts(append(b, " padafter="...), c.After)
		b = appendInt(b, " groups=", c.Groups)
	}
	if t := a.Attention; t != nil {
		b = appendFloat(b, " scale=", t.Scale)
		b = appendFloat(b, " softcap=", t.SoftCap)
		b = appendInt(b, " window=", t.Window)
		b = appendBool(b, " causal", t.Causal)
		b = appendBool(b, " ragged", t.Ragged)
		b = appendBool(b, " mask", t.Mask)
	}
	b = appendBool(b, " descending", a.Descending)
	b = appendBool(b, " tf32", a.TF32)
	return appendInt(b, " region=", a.Region)
}

// String is the canonical text without the leading space.
func (a *Attr) String() string {
	s := string(a.Append(nil))
	if s == "" {
		return s
	}
	return s[1:]
}

// Axis is the only axis of an operation along one.
func (a *Attr) Axis() int {
	if len(a.Axes) != 1 {
		return -1
	}
	return a.Axes[0]
}

// Has tells whether axis is among Axes.
func (a *Attr) Has(axis int) bool { return slices.Contains(a.Axes, axis) }

func appendInts(b []byte, v []int) []byte {
	b = append(b, '[')
	for i, n := range v {
		if i > 0 {
			b = append(b, ' ')
		}
		b = strconv.AppendInt(b, int64(n), 10)
	}
	return append(b, ']')
}

func appendInt(b []byte, key string, n int) []byte {
	if n == 0 {
		return b
	}
	return strconv.AppendInt(append(b, key...), int64(n), 10)
}

func appendFloat(b []byte, key string, f float64) []byte {
	if f == 0 {
		return b
	}
	return strconv.AppendFloat(append(b, key...), f, 'g', -1, 64)
}

func appendBool(b []byte, key string, v bool) []byte {
	if !v {
		return b
	}
	return append(b, key...)
}

// Bits encodes v as the bits of one element of type d: rounded to nearest for
// floats; for integers v must be whole and in range.
func Bits(d DType, v float64) (uint64, error) {
	switch {
	case d == F32:
		return uint64(math.Float32bits(float32(v))), nil
	case d == F64:
		return math.Float64bits(v), nil
	case d == F16:
		return uint64(F16FromFloat32(float32(v))), nil
	case d == BF16:
		return uint64(BF16FromFloat32(float32(v))), nil
	case d == Bool:
		if v != 0 {
			return 1, nil
		}
		return 0, nil
	case d.IsInt():
		if v != math.Trunc(v) {
			return 0, fmt.Errorf("%v is not a whole number, as %v needs: cast the tensor to a float type", v, d)
		}
		lo, hi := d.IntRange()
		if v < lo || v > hi {
			return 0, fmt.Errorf("%v is out of the range of %v", v, d)
		}
		mask := ^uint64(0) >> (64 - 8*d.Size())
		if v >= 1<<63 {
			return uint64(v), nil
		}
		return uint64(int64(v)) & mask, nil
	}
	return 0, fmt.Errorf("no values of type %v", d)
}

// IntRange is the smallest and largest value of an integer type, as far as a
// float64 can say.
func (d DType) IntRange() (lo, hi float64) {
	n := float64(8 * d.Size())
	if d.IsUnsigned() {
		return 0, math.Nextafter(math.Exp2(n), 0)
	}
	return -math.Exp2(n - 1), math.Nextafter(math.Exp2(n-1), 0)
}

// Float gives the value that bits stand for in type d.
func Float(d DType, bits uint64) float64 {
	switch d {
	case F32:
		return float64(math.Float32frombits(uint32(bits)))
	case F64:
		return math.Float64frombits(bits)
	case F16:
		return float64(F16ToFloat32(uint16(bits)))
	case BF16:
		return float64(BF16ToFloat32(uint16(bits)))
	}
	if d.IsUnsigned() || d == Bool {
		return float64(bits)
	}
	return float64(Int(d, bits))
}

// Int gives the integer that bits stand for in type d, sign-extended.
func Int(d DType, bits uint64) int64 {
	shift := 64 - 8*d.Size()
	if d.IsUnsigned() || d == Bool {
		return int64(bits << shift >> shift)
	}
	return int64(bits<<shift) >> shift
}
