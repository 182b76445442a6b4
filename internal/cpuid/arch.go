package cpuid

// archName names the microarchitecture, or is empty. Sources: the families and
// models in the Linux kernel (arch/x86/include/asm/intel-family.h and
// arch/x86/kernel/cpu/amd.c).
func archName(vendor string, family, model int) string {
	for _, a := range archs {
		if a.vendor == vendor && a.family == family && a.first <= model && model <= a.last {
			return a.name
		}
	}
	return ""
}

const (
	amd   = "AuthenticAMD"
	intel = "GenuineIntel"
)

var archs = []struct {
	vendor      string
	family      int
	first, last int // models
	name        string
}{
	{amd, 0x17, 0x00, 0x2f, "zen"},
	{amd, 0x17, 0x30, 0xaf, "zen2"},
	{amd, 0x19, 0x00, 0x0f, "zen3"},
	{amd, 0x19, 0x10, 0x1f, "zen4"},
	{amd, 0x19, 0x20, 0x5f, "zen3"},
	{amd, 0x19, 0x60, 0xaf, "zen4"},
	{amd, 0x1a, 0x00, 0x2f, "zen5"},
	{amd, 0x1a, 0x40, 0x4f, "zen5"},
	{amd, 0x1a, 0x50, 0x5f, "zen6"},
	{amd, 0x1a, 0x60, 0x7f, "zen5"},
	{amd, 0x1a, 0x80, 0xaf, "zen6"},
	{amd, 0x1a, 0xc0, 0xcf, "zen6"},

	{intel, 6, 0x3c, 0x3c, "haswell"},
	{intel, 6, 0x3d, 0x3d, "broadwell"},
	{intel, 6, 0x3f, 0x3f, "haswell"},
	{intel, 6, 0x45, 0x46, "haswell"},
	{intel, 6, 0x47, 0x47, "broadwell"},
	{intel, 6, 0x4e, 0x4e, "skylake"},
	{intel, 6, 0x4f, 0x4f, "broadwell"},
	{intel, 6, 0x55, 0x55, "skylakex"}, // Cascade and Cooper Lake too, which differ in the stepping
	{intel, 6, 0x56, 0x56, "broadwell"},
	{intel, 6, 0x5e, 0x5e, "skylake"},
	{intel, 6, 0x6a, 0x6a, "icelakex"},
	{intel, 6, 0x6c, 0x6c, "icelakex"},
	{intel, 6, 0x7d, 0x7e, "icelake"},
	{intel, 6, 0x8c, 0x8d, "tigerlake"},
	{intel, 6, 0x8e, 0x8e, "skylake"}, // Kaby Lake
	{intel, 6, 0x8f, 0x8f, "sapphirerapids"},
	{intel, 6, 0x97, 0x97, "alderlake"},
	{intel, 6, 0x9a, 0x9a, "alderlake"},
	{intel, 6, 0x9e, 0x9e, "skylake"}, // Kaby and Coffee Lake
	{intel, 6, 0xa5, 0xa6, "skylake"}, // Comet Lake
	{intel, 6, 0xa7, 0xa7, "rocketlake"},
	{intel, 6, 0xaa, 0xaa, "meteorlake"},
	{intel, 6, 0xad, 0xae, "graniterapids"},
	{intel, 6, 0xaf, 0xaf, "sierraforest"},
	{intel, 6, 0xb5, 0xb5, "arrowlake"},
	{intel, 6, 0xb7, 0xb7, "raptorlake"},
	{intel, 6, 0xba, 0xba, "raptorlake"},
	{intel, 6, 0xbd, 0xbd, "lunarlake"},
	{intel, 6, 0xbf, 0xbf, "raptorlake"},
	{intel, 6, 0xc5, 0xc6, "arrowlake"},
	{intel, 6, 0xcf, 0xcf, "emeraldrapids"},
}
