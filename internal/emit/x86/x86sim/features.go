package x86sim

import "strings"

// feature is what a processor must have beyond AVX2, FMA, F16C and BMI2.
type feature uint8

const (
	avx512 feature = 1 << iota
	avxVNNI
	amx
)

// needed tells what an instruction needs.
func (in *instr) needed() feature {
	switch name := in.op.name; {
	case in.op.enc == evex, strings.HasPrefix(name, "k"):
		return avx512
	case strings.HasPrefix(name, "tile"), strings.HasPrefix(name, "tdp"), name == "ldtilecfg":
		return amx
	case strings.HasPrefix(name, "vpdp"):
		return avxVNNI
	}
	return 0
}
