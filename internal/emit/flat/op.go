package flat

// Op is an operation of a machine. Floats are rounded to the nearest, half to
// even, keep NaN, infinity and the sign of zero, and are never contracted.
type Op uint8

const (
	NoOp Op = iota

	// Of two integers, which wrap, or two floats.
	Add
	Sub
	Mul

	// Floats, all correctly rounded.
	Div
	FMA // x*y + z, rounded once
	Sqrt
	Neg // flips the sign, of NaN too
	Abs // clears it
	Floor
	Trunc
	Round // to a whole number, half to even

	// Integers. No divisor is 0, no quotient overflows; they are cut towards 0.
	DivS
	DivU
	RemS
	RemU
	Shl // by an amount of the same type below the width
	ShrS
	ShrU

	// Of integers or Bool.
	And
	Or
	Xor

	// Comparisons give Bool. Those of NaN are false but NotEqual. None of Bool.
	Equal
	NotEqual
	Less // signed integers, or floats
	LessU

	Select // of a Bool and two others of one type but Bool: the first where it is true

	// Conversions.
	ExtendS // I32 to I64
	ExtendU
	Narrow      // I64 to I32
	IntToFloat  // signed, rounded
	UintToFloat //
	FloatToInt  // cut towards 0; any value where the integer type does not hold it
	FloatToUint
	FloatToFloat
	Bits        // the same bits as an integer or float of that size
	HalfToFloat // the low 16 bits of an I32 as an f16, to F32
	FloatToHalf // F32 to an I32 of 16 bits; NaN stays NaN

	opCount
)

var opNames = [opCount]string{
	"none", "add", "sub", "mul", "div", "fma", "sqrt", "neg", "abs", "floor", "trunc", "round",
	"divs", "divu", "rems", "remu", "shl", "shrs", "shru", "and", "or", "xor",
	"equal", "notequal", "less", "lessu", "select",
	"extends", "extendu", "narrow", "inttofloat", "uinttofloat", "floattoint", "floattouint", "floattofloat",
	"bits", "halftofloat", "floattohalf",
}

func (op Op) String() string {
	if op >= opCount {
		op = NoOp
	}
	return opNames[op]
}
