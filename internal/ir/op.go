package ir

// Op names an operation of the graph. This file is the only list; what each
// operation means for special values is told in docs/ops.md.
type Op uint8

const (
	NoOp Op = iota

	// Leaves: values that come from outside, or from nothing.
	Const    // one value, expanded to a shape by Expand; part of the hash
	Input    // bound by name when a program runs
	Bound    // storage fixed at creation, values outside the hash
	Weight   // the same over the caller's memory
	Variable // the last committed value of a mutable tensor
	Iota     // the index along one axis
	Rand     // uniform random bits (u32) from a key and a flat index

	// One operand, element by element.
	Neg
	Abs
	Recip
	Sqrt
	Exp
	Exp2
	Expm1
	Log
	Log2
	Log1p
	Sin
	Cos
	Atan
	Tanh
	Erf
	Trunc
	Floor
	Round
	Cast
	Bitcast

	// Two operands, element by element.
	Add
	Sub
	Mul
	Div
	Pow
	Min
	Max
	MulHi
	IDiv
	Mod
	And
	Or
	Xor
	Shl
	Shr
	Less
	Equal

	// Three operands, element by element.
	FMA
	Where

	// Reductions: the reduced axes stay, with size 1.
	ReduceSum
	ReduceProd
	ReduceMax
	ReduceMin
	ArgMax
	ArgMin

	// Movement: every element of the result is an element of an operand or a
	// constant, at an index known without looking at data.
	Reshape
	Permute
	Expand
	Pad
	Slice
	Flip
	Window
	Concat

	// Data-dependent movement and its order.
	Gather
	Scatter
	Contiguous

	// Anchors: each also has a definition in the operations above.
	MatMul
	Conv
	Attention
	AttentionGrad
	Sort
	Scan
	SegmentIDs
	SegmentReduce

	// Structure.
	Get    // one output of a node with several
	Assign // the new value of a Variable

	opCount
)

// Class groups operations that the compiler treats alike.
type Class uint8

const (
	NoClass Class = iota
	ClassLeaf
	ClassUnary
	ClassBinary
	ClassTernary
	ClassReduce
	ClassMovement
	ClassIndexed
	ClassAnchor
	ClassStructure
)

// typeRule says which operand types an operation takes.
type typeRule uint8

const (
	anyType   typeRule = iota
	floatOnly          // f32 f64 f16 bf16
	intOnly            // signed and unsigned integers
	number             // floats and integers
	bitsOnly           // integers and bool
	wordsOnly          // u32
)

type opInfo struct {
	name    string
	class   Class
	arity   int // operands; -1 where it varies
	types   typeRule
	commute bool
	outputs int // 0 means 1
	meaning string
}

var ops = [opCount]opInfo{
	Const:    {name: "const", class: ClassLeaf, meaning: "the value"},
	Input:    {name: "input", class: ClassLeaf, meaning: "bound by name at run time"},
	Bound:    {name: "bound", class: ClassLeaf, meaning: "storage fixed at creation"},
	Weight:   {name: "weight", class: ClassLeaf, meaning: "the caller's memory"},
	Variable: {name: "variable", class: ClassLeaf, meaning: "the last committed value"},
	Iota:     {name: "iota", class: ClassLeaf, types: number, meaning: "the index along the axis"},
	Rand:     {name: "rand", class: ClassLeaf, arity: 1, types: intOnly, meaning: "philox(key, flat index)"},

	Neg:     {name: "neg", class: ClassUnary, arity: 1, types: number, meaning: "-x"},
	Abs:     {name: "abs", class: ClassUnary, arity: 1, types: number, meaning: "|x|"},
	Recip:   {name: "recip", class: ClassUnary, arity: 1, types: floatOnly, meaning: "1/x"},
	Sqrt:    {name: "sqrt", class: ClassUnary, arity: 1, types: floatOnly, meaning: "square root"},
	Exp:     {name: "exp", class: ClassUnary, arity: 1, types: floatOnly, meaning: "e^x"},
	Exp2:    {name: "exp2", class: ClassUnary, arity: 1, types: floatOnly, meaning: "2^x"},
	Expm1:   {name: "expm1", class: ClassUnary, arity: 1, types: floatOnly, meaning: "e^x - 1"},
	Log:     {name: "log", class: ClassUnary, arity: 1, types: floatOnly, meaning: "natural logarithm"},
	Log2:    {name: "log2", class: ClassUnary, arity: 1, types: floatOnly, meaning: "logarithm to base 2"},
	Log1p:   {name: "log1p", class: ClassUnary, arity: 1, types: floatOnly, meaning: "log(1+x)"},
	Sin:     {name: "sin", class: ClassUnary, arity: 1, types: floatOnly, meaning: "sine of radians"},
	Cos:     {name: "cos", class: ClassUnary, arity: 1, types: floatOnly, meaning: "cosine of radians"},
	Atan:    {name: "atan", class: ClassUnary, arity: 1, types: floatOnly, meaning: "arc tangent in radians"},
	Tanh:    {name: "tanh", class: ClassUnary, arity: 1, types: floatOnly, meaning: "hyperbolic tangent"},
	Erf:     {name: "erf", class: ClassUnary, arity: 1, types: floatOnly, meaning: "error function"},
	Trunc:   {name: "trunc", class: ClassUnary, arity: 1, types: floatOnly, meaning: "towards zero"},
	Floor:   {name: "floor", class: ClassUnary, arity: 1, types: floatOnly, meaning: "towards -Inf"},
	Round:   {name: "round", class: ClassUnary, arity: 1, types: floatOnly, meaning: "to the nearest, half to even"},
	Cast:    {name: "cast", class: ClassUnary, arity: 1, meaning: "the value in another type"},
	Bitcast: {name: "bitcast", class: ClassUnary, arity: 1, meaning: "the same bits as another type of that size"},

	Add:   {name: "add", class: ClassBinary, arity: 2, types: number, commute: true, meaning: "x + y"},
	Sub:   {name: "sub", class: ClassBinary, arity: 2, types: number, meaning: "x - y"},
	Mul:   {name: "mul", class: ClassBinary, arity: 2, types: number, commute: true, meaning: "x * y"},
	Div:   {name: "div", class: ClassBinary, arity: 2, types: floatOnly, meaning: "x / y"},
	Pow:   {name: "pow", class: ClassBinary, arity: 2, types: floatOnly, meaning: "x^y"},
	Min:   {name: "min", class: ClassBinary, arity: 2, types: number, commute: true, meaning: "the smaller; NaN if either is; -0 < +0"},
	Max:   {name: "max", class: ClassBinary, arity: 2, types: number, commute: true, meaning: "the larger; NaN if either is; -0 < +0"},
	MulHi: {name: "mulhi", class: ClassBinary, arity: 2, types: wordsOnly, commute: true, meaning: "the upper 32 of the 64 bits of x * y"},
	IDiv:  {name: "idiv", class: ClassBinary, arity: 2, types: intOnly, meaning: "floor(x / y)"},
	Mod:   {name: "mod", class: ClassBinary, arity: 2, types: intOnly, meaning: "x - y*floor(x / y)"},
	And:   {name: "and", class: ClassBinary, arity: 2, types: bitsOnly, commute: true, meaning: "x & y"},
	Or:    {name: "or", class: ClassBinary, arity: 2, types: bitsOnly, commute: true, meaning: "x | y"},
	Xor:   {name: "xor", class: ClassBinary, arity: 2, types: bitsOnly, commute: true, meaning: "x ^ y"},
	Shl:   {name: "shl", class: ClassBinary, arity: 2, types: intOnly, meaning: "x << y; 0 past the width"},
	Shr:   {name: "shr", class: ClassBinary, arity: 2, types: intOnly, meaning: "x >> y, arithmetic for signed; 0 past the width"},
	Less:  {name: "less", class: ClassBinary, arity: 2, meaning: "x < y, as bool; false for NaN"},
	Equal: {name: "equal", class: ClassBinary, arity: 2, commute: true, meaning: "x == y, as bool; false for NaN"},

	FMA:   {name: "fma", class: ClassTernary, arity: 3, types: floatOnly, meaning: "x*y + z, rounded once"},
	Where: {name: "where", class: ClassTernary, arity: 3, meaning: "y where x (bool) is true, else z"},

	ReduceSum:  {name: "sum", class: ClassReduce, arity: 1, types: number, meaning: "sum over the axes; 0 for none"},
	ReduceProd: {name: "prod", class: ClassReduce, arity: 1, types: number, meaning: "product over the axes; 1 for none"},
	ReduceMax:  {name: "reducemax", class: ClassReduce, arity: 1, types: number, meaning: "maximum over the axes; empty is an error"},
	ReduceMin:  {name: "reducemin", class: ClassReduce, arity: 1, types: number, meaning: "minimum over the axes; empty is an error"},
	ArgMax:     {name: "argmax", class: ClassReduce, arity: 1, types: number, meaning: "index (i64) of the first maximum or the first NaN"},
	ArgMin:     {name: "argmin", class: ClassReduce, arity: 1, types: number, meaning: "index (i64) of the first minimum or the first NaN"},

	Reshape: {name: "reshape", class: ClassMovement, arity: 1, meaning: "the same elements in order under another shape"},
	Permute: {name: "permute", class: ClassMovement, arity: 1, meaning: "axis i of the result is axis axes[i] of x"},
	Expand:  {name: "expand", class: ClassMovement, arity: 1, meaning: "axes of size 1 repeated; the rank stays"},
	Pad:     {name: "pad", class: ClassMovement, arity: 1, meaning: "value before and after"},
	Slice:   {name: "slice", class: ClassMovement, arity: 1, meaning: "x[start + step*i] for i below the size"},
	Flip:    {name: "flip", class: ClassMovement, arity: 1, meaning: "the axes in reverse"},
	Window:  {name: "window", class: ClassMovement, arity: 1, meaning: "y[..., o, ..., k] = x[..., o*stride + k*dilation, ...], k a new last axis"},
	Concat:  {name: "concat", class: ClassMovement, arity: -1, meaning: "one after another along the axis"},

	Gather:     {name: "gather", class: ClassIndexed, arity: 2, meaning: "y[.., i, ..] = x[.., index[.., i, ..], ..] along the axis"},
	Scatter:    {name: "scatter", class: ClassIndexed, arity: 3, meaning: "x with updates put (set) or added (add) at index along the axis, in index order"},
	Contiguous: {name: "contiguous", class: ClassIndexed, arity: 1, meaning: "x in memory of its own"},

	MatMul:        {name: "matmul", class: ClassAnchor, arity: 2, types: number, meaning: "[..., M, K] x [..., K, N], batch sizes equal"},
	Conv:          {name: "conv", class: ClassAnchor, arity: 2, types: number, meaning: "x [N, C, spatial...] with w [O, C/groups, kernel...]"},
	Attention:     {name: "attention", class: ClassAnchor, arity: -1, types: floatOnly, outputs: 2, meaning: "softmax(scale*q*k + mask)*v and its logsumexp"},
	AttentionGrad: {name: "attentiongrad", class: ClassAnchor, arity: -1, types: floatOnly, outputs: 3, meaning: "gradients with respect to q, k and v of an attention"},
	Sort:          {name: "sort", class: ClassAnchor, arity: 1, types: number, outputs: 2, meaning: "values and indices (i64) along the axis, stable, NaN last"},
	Scan:          {name: "scan", class: ClassAnchor, arity: 1, types: number, meaning: "running sum, prod or max along the axis"},
	SegmentIDs:    {name: "segmentids", class: ClassAnchor, arity: 1, types: intOnly, meaning: "for each row the number of its segment, from offsets"},
	SegmentReduce: {name: "segmentreduce", class: ClassAnchor, arity: 2, types: number, meaning: "sum or max over the rows of each segment"},

	Get:    {name: "get", class: ClassStructure, arity: 1, meaning: "output i of a node with several"},
	Assign: {name: "assign", class: ClassStructure, arity: 2, meaning: "the new value of a variable; passes it on"},
}

var opByName = func() map[string]Op {
	m := make(map[string]Op, opCount)
	for op := NoOp + 1; op < opCount; op++ {
		m[ops[op].name] = op
	}
	return m
}()

// Ops lists every operation, in declaration order.
func Ops() []Op {
	all := make([]Op, 0, opCount-1)
	for op := NoOp + 1; op < opCount; op++ {
		all = append(all, op)
	}
	return all
}

// ParseOp reads the name that String prints; NoOp if there is none.
func ParseOp(name string) Op { return opByName[name] }

func (op Op) info() *opInfo {
	if op >= opCount {
		return &ops[NoOp]
	}
	return &ops[op]
}

func (op Op) String() string { return op.info().name }

// Class is the group op belongs to.
func (op Op) Class() Class { return op.info().class }

// Commutes tells whether the first two operands may change places.
func (op Op) Commutes() bool { return op.info().commute }

// Outputs is the number of values a node of op has; above 1 they are read
// through Get.
func (op Op) Outputs() int { return max(1, op.info().outputs) }

// Meaning is the operation as arithmetic, for documentation.
func (op Op) Meaning() string { return op.info().meaning }

// Pointwise tells whether each element of the result needs only the elements
// of the operands at the same index.
func (op Op) Pointwise() bool {
	switch op.Class() {
	case ClassUnary, ClassBinary, ClassTernary:
		return true
	}
	return false
}
