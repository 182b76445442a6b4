package cpuid

import "golang.org/x/sys/cpu"

func detect() CPU {
	x := &cpu.ARM64
	return CPU{Features: Features{
		NEON: x.HasASIMD, DotProd: x.HasASIMDDP, FP16: x.HasASIMDHP, I8MM: x.HasI8MM, SVE: x.HasSVE,
		BF16: hasBF16(),
	}}
}
