package x86

import (
	"github.com/sinterml/sinter/internal/cpuid"
	"github.com/sinterml/sinter/internal/emit/x86/asm"
)

// GemmFormat is what lanes of A and B hold, of 32 bits but for f64: values of one or
// more successive k, which make up one K step.
type GemmFormat uint8

const (
	GemmF32  GemmFormat = iota // one f32 each, summed by fused multiply-adds
	GemmF64                    // one f64 each, in lanes of 64 bits, summed so too
	GemmBF16                   // two bf16 each, summed in f32 as VDPBF16PS does
	// GemmBytes is four u8 of A and four s8 of B, summed exactly in s32, which
	// wraps: VPDPBUSD.
	GemmBytes
	// GemmWords is the same sums without that instruction. A step of A is two
	// lanes, its bytes widened to words: those of k and k+2, those of k+1 and k+3.
	GemmWords
	// GemmPairs is the same sums by VPMADDUBSW, of B in panels whose values of k are in an
	// order by which that is exact: see gemm_pairs.go. A is read as with GemmBytes.
	GemmPairs
	// GemmWide is the same sums as GemmBF16's without VDPBF16PS, by AVX2 too, but for
	// numbers near 0. A step of A is two lanes, its bf16 widened to f32.
	GemmWide
	// GemmAMXBF16 and GemmAMXBytes are the sums of GemmBF16 and of GemmBytes by AMX.
	// The first are in an order of their own: of each chunk the first values of the
	// lanes and the second ones apart, then both together, then the chunks in order.
	GemmAMXBF16
	GemmAMXBytes
	// GemmAMXThirds and GemmAMXHalves are f32 as three bf16 and as two f16 each, in
	// chunks of SplitValues: see gemm_split.go.
	GemmAMXThirds
	GemmAMXHalves
	gemmFormats
)

func (f GemmFormat) String() string {
	return [...]string{"f32", "f64", "bf16", "u8*s8", "u8*s8 by words", "u8*s8 by pairs", "bf16 as f32", "bf16 by AMX", "u8*s8 by AMX", "f32 as bf16 by AMX", "f32 as f16 by AMX"}[f]
}

// Group is the values of k in a step; where operands are split, of those before it.
func (f GemmFormat) Group() int { return [...]int{1, 1, 2, 4, 4, 4, 2, 2, 4, 1, 1}[f] }

// Word is the bytes of a lane: of a step of a column of B, and of a result.
func (f GemmFormat) Word() int {
	if f == GemmF64 {
		return 8
	}
	return 4
}

// StepA is the bytes of A in a step.
func (f GemmFormat) StepA() int {
	if f == GemmWords || f == GemmWide {
		return 2 * f.Word()
	}
	return f.Word()
}

// Lanes is the number of lanes in a vector.
func (f GemmFormat) Lanes(isa asm.ISA) int { return 4 * GemmLanes(isa) / f.Word() }

// PackedCols is the columns of a panel of packed B, which holds a step of each for one
// k after the other: the same for every instruction set. docs/rationale.md says why.
func (f GemmFormat) PackedCols() int { return PackedBytes / f.Word() }

// Plain tells that lanes are the values themselves, so that B may lie where it is
// instead of being packed with room for whole vectors.
func (f GemmFormat) Plain() bool { return f == GemmF32 || f == GemmF64 }

// TakesPart tells whether tile kernels can end with a step of which A holds a
// part: loads of single bytes take a mask.
func (f GemmFormat) TakesPart(isa asm.ISA) bool {
	return isa == asm.AVX512 && (f == GemmBF16 || f == GemmBytes)
}

// HasGemm tells whether a processor that has isa has a format's instructions.
func HasGemm(isa asm.ISA, format GemmFormat, has *cpuid.Features) bool {
	switch format {
	case GemmBF16:
		return isa == asm.AVX512 && has.AVX512BF16
	case GemmBytes:
		return isa == asm.AVX512 && has.AVX512VNNI || isa == asm.AVX2 && has.AVXVNNI
	case GemmPairs:
		return isa == asm.AVX2
	case GemmAMXBF16, GemmAMXBytes, GemmAMXThirds:
		return isa == asm.AVX512 && has.HasAMX()
	case GemmAMXHalves:
		return isa == asm.AVX512 && has.HasAMX() && has.AMXFP16
	}
	return true
}

// PackedBytes is the bytes of a step of a panel of packed B, and PackedCols its columns
// in formats of 32-bit lanes.
const (
	PackedBytes = 64
	PackedCols  = PackedBytes / 4
)

// GemmLanes is the number of f32 in a vector.
func GemmLanes(isa asm.ISA) int {
	if isa == asm.AVX512 {
		return 16
	}
	return 8
}

// ops are the instructions that spread an element of A, multiply and add, and
// add sums.
func (f GemmFormat) ops() (broadcast, multiply, add asm.Op) {
	switch f {
	case GemmF64:
		return asm.VBROADCASTSD, asm.VFMADD231PD, asm.VADDPD
	case GemmBF16:
		return asm.VBROADCASTSS, asm.VDPBF16PS, asm.VADDPS
	case GemmBytes:
		return asm.VPBROADCASTD, asm.VPDPBUSD, asm.VPADDD
	case GemmWords:
		return asm.VPBROADCASTD, asm.VPMADDWD, asm.VPADDD
	case GemmPairs:
		return asm.VPBROADCASTD, asm.VPMADDUBSW, asm.VPADDD
	case GemmAMXBF16, GemmAMXThirds:
		return 0, asm.TDPBF16PS, asm.VADDPS
	case GemmAMXHalves:
		return 0, asm.TDPFP16PS, asm.VADDPS
	case GemmAMXBytes:
		return 0, asm.TDPBUSD, asm.VPADDD
	}
	return asm.VBROADCASTSS, asm.VFMADD231PS, asm.VADDPS
}

// moves are the instructions that move a vector, and that of AVX2 for some of its lanes.
func (f GemmFormat) moves() (move, masked asm.Op) {
	if f == GemmF64 {
		return asm.VMOVUPD, asm.VMASKMOVPD
	}
	return asm.VMOVUPS, asm.VMASKMOVPS
}

// RoomBytes is the size of GemmArgs.Room.
func (f GemmFormat) RoomBytes(t GemmTile) int {
	switch {
	case f.AMX():
		return 4 * f.sums() * t.Rows * t.Vectors * GemmLanes(asm.AVX512)
	case f == GemmPairs:
		return 2 * t.Rows * PairsChunk
	}
	return 0
}
