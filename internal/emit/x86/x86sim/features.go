package x86sim

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
	case in.op.enc == evex, name[0] == 'k':
		return avx512
	case len(name) > 4 && name[:4] == "tile", len(name) > 3 && name[:3] == "tdp", name == "ldtilecfg":
		return amx
	case len(name) > 4 && name[:4] == "vpdp":
		return avxVNNI
	}
	return 0
}
