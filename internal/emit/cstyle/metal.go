package cstyle

import (
	"maps"

	"github.com/sinterml/sinter/internal/ir"
)

// Metal is the Metal shading language, version 2.3 or later. It has no doubles.
// Its division and, in the precise form, its square root are rounded correctly
// as long as the program is compiled without fast mathematics; subnormals may
// become 0.
var Metal = &Style{
	Name:   "Metal",
	Head:   metalHead,
	Whole:  "#pragma clang loop unroll(full)",
	Types:  metalTypes(),
	Entry:  "[[kernel, max_total_threads_per_threadgroup(ITEMS)]] void",
	Helper: "static inline",
	Global: "device ", Shared: "threadgroup",
	Slots:         31,
	Places:        "uint thread_at [[thread_position_in_grid]], uint group_at [[threadgroup_position_in_grid]], uint item_at [[thread_position_in_threadgroup]]",
	Work:          "thread_at",
	Group:         "group_at",
	Item:          "item_at",
	BarrierShared: "threadgroup_barrier(mem_flags::mem_threadgroup);",
	BarrierAll:    "threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);",
	Decimal:       true,
	Float: map[ir.Op]string{
		ir.Abs: "metal::fabs", ir.Sqrt: "metal::precise::sqrt", ir.Trunc: "metal::trunc",
		ir.Floor: "metal::floor", ir.Round: "metal::rint", ir.FMA: "metal::fma",
	},
}

func metalTypes() map[ir.DType]string {
	all := maps.Clone(types)
	delete(all, ir.F64)
	return all
}

const metalHead = `#include <metal_stdlib>
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)
#pragma clang fp contract(off)
using namespace metal;
#define as_char(x) as_type<char>(x)
#define as_uchar(x) as_type<uchar>(x)
#define as_short(x) as_type<short>(x)
#define as_ushort(x) as_type<ushort>(x)
#define as_int(x) as_type<int>(x)
#define as_uint(x) as_type<uint>(x)
#define as_long(x) as_type<long>(x)
#define as_ulong(x) as_type<ulong>(x)
#define as_float(x) as_type<float>(x)
`
