// Package cstyle turns kernels into source text of the languages that look like
// C. What differs between them is a table, Style.
package cstyle

import "github.com/sinterml/sinter/internal/ir"

// Style is a language of kernels.
type Style struct {
	Name string
	// Head and Foot are around a program; Lanes is put in front of a loop over
	// lanes, Unroll of one over the steps of a product, Rolled of one whose body
	// is long. Where work-items keep values in registers, Pairs stands before
	// short loops and Rolled before all others. Whole is one that is to be laid out:
	// its body has an element of an array that is in registers.
	Head, Foot, Lanes, Unroll, Pairs, Rolled, Whole string
	// OneStage has all products as entry.Kernel.OneStage says.
	OneStage bool
	// Types of elements in memory and of values. f16 and bf16 are their bits
	// in both; a bool has its own type as a value. A program with a type that is
	// not here is refused.
	Types map[ir.DType]string
	// What an entry point and a helper begin with, ITEMS being the most
	// work-items of a group, what stands before the type that a param points to
	// and before its name, and what before memory that a group shares.
	Entry, Helper, Global, Restrict, Shared string
	// Apart, if set, is what a function begins with that does the work of an entry
	// point. Together is how many such functions share one at most.
	Apart    string
	Together int
	// Slots, if not 0, is how many things an entry point may be given: buffers,
	// and all numbers as one. Places are params that the language fills in.
	Slots  int
	Places string
	// Expressions: the work-item among all, the group, the work-item in it.
	Work, Group, Item string
	// Barriers of a group: after accesses to shared memory, and to all.
	BarrierShared, BarrierAll string
	Decimal                   bool // constants are decimal: there are no other
	// Functions of floats that are exact or rounded once, by operation.
	Float map[ir.Op]string
}

// types are the names of all formats, in OpenCL's way.
var types = map[ir.DType]string{
	ir.F32: "float", ir.F64: "double", ir.F16: "ushort", ir.BF16: "ushort", ir.Bool: "uchar",
	ir.I8: "char", ir.I16: "short", ir.I32: "int", ir.I64: "long",
	ir.U8: "uchar", ir.U16: "ushort", ir.U32: "uint", ir.U64: "ulong",
}

// OpenCL is OpenCL C 1.2, with doubles where a program needs them.
var OpenCL = &Style{
	Name: "OpenCL C",
	Head: `#pragma OPENCL FP_CONTRACT OFF
#ifdef __clang__
#define LANES _Pragma("clang loop vectorize(assume_safety)")
#else
#define LANES
#endif
`,
	Lanes: "LANES",
	Whole: "#pragma unroll",
	Types: types,
	Entry: "__kernel void", Helper: "static inline", Global: "__global ", Restrict: "restrict ", Shared: "__local",
	Work: "get_global_id(0)", Group: "get_group_id(0)", Item: "get_local_id(0)",
	BarrierShared: "barrier(CLK_LOCAL_MEM_FENCE);",
	BarrierAll:    "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
	Float: map[ir.Op]string{
		ir.Abs: "fabs", ir.Sqrt: "sqrt", ir.Trunc: "trunc", ir.Floor: "floor", ir.Round: "rint", ir.FMA: "fma",
	},
}

// OpenCLForProcessor is OpenCL whose entry points call functions. Of an entry
// point PoCL makes three, with the arguments in different places, and would
// compile all work three times. It reads the program again for each, and links
// it: half of the time that a short kernel takes, so functions share them.
var OpenCLForProcessor = forProcessor(*OpenCL)

func forProcessor(s Style) *Style {
	s.Apart, s.Together = "static __attribute__((noinline)) void", 16
	return &s
}
