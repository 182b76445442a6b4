// Package cpuid says what the processor can do: instruction sets that the
// operating system supports too, who made it, and how large its caches are.
package cpuid

import "sync"

// Features are the instruction sets sinter has kernels for. Each is set only if
// the operating system saves the registers it needs. A test clears a field of
// its copy to take another path.
type Features struct {
	// amd64
	AVX, AVX2, FMA, F16C, BMI2       bool
	AVXVNNI                          bool // dot products of bytes on ymm, VEX-encoded
	AVX512F, AVX512BW, AVX512DQ      bool
	AVX512VL, AVX512VNNI, AVX512BF16 bool
	AMXTile, AMXInt8, AMXBF16        bool // tiles, which this process is allowed to use
	AMXFP16                          bool

	// arm64
	NEON    bool
	DotProd bool // SDOT, UDOT
	FP16    bool // arithmetic in half precision
	BF16    bool // BFDOT, BFMMLA
	I8MM    bool // SMMLA, USDOT
	SVE     bool
}

// HasAVX2 reports whether the AVX2 kernels run: they use FMA and F16C too.
func (f Features) HasAVX2() bool { return f.AVX2 && f.FMA && f.F16C && f.BMI2 }

// HasAVX512 reports whether the AVX-512 kernels run.
func (f Features) HasAVX512() bool {
	return f.HasAVX2() && f.AVX512F && f.AVX512BW && f.AVX512DQ && f.AVX512VL
}

// HasAMX reports whether the tile kernels run, beside those of AVX-512.
func (f Features) HasAMX() bool {
	return f.HasAVX512() && f.AVX512BF16 && f.AVX512VNNI && f.AMXTile && f.AMXInt8 && f.AMXBF16
}

// CPU describes the processor. What is not known is zero.
type CPU struct {
	Features
	Vendor string // as CPUID says: AuthenticAMD, GenuineIntel
	Brand  string // the name in the shop
	Family int    // with the extended family added
	Model  int    // with the extended model
	Arch   string // microarchitecture: zen4, sapphirerapids
	Caches Caches
}

// Caches are the bytes of the caches one core sees. L3 is shared by ThreadsPerL3
// hardware threads, as far as the processor, or the hypervisor above it, tells.
type Caches struct {
	L1D, L2, L3  int
	ThreadsPerL3 int
}

// Intel tells whether the processor is one of Intel's.
func (c *CPU) Intel() bool { return c.Vendor == intel }

// SlowBF16 tells that multiplying numbers of bf16 in vectors is twice as fast once
// they are widened. Intel's cores since Golden Cove take two cycles for VDPBF16PS
// on 512 bits, and one for two multiply-adds of f32 (measured on Emerald and on
// Granite Rapids, whose model hypervisors hide); Cooper Lake is older.
func (c *CPU) SlowBF16() bool {
	return c.AVX512BF16 && c.Intel() && c.Arch != "skylakex"
}

// Host returns the processor this process runs on. The caller owns the copy.
func Host() CPU { return host() }

var host = sync.OnceValue(detect)
