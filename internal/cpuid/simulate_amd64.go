//go:build simulate

package cpuid

// simulated adds the instruction sets that tests run by simulation (package x86sim).
func simulated(f Features) Features {
	f.AVXVNNI = true
	f.AVX512F, f.AVX512BW, f.AVX512DQ, f.AVX512VL = true, true, true, true
	f.AVX512VNNI, f.AVX512BF16 = true, true
	f.AMXTile, f.AMXInt8, f.AMXBF16, f.AMXFP16 = true, true, true, true
	return f
}
