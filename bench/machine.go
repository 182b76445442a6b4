package bench

import (
	"runtime"
	"strings"

	"github.com/sinterml/sinter/internal/cpuid"
	"github.com/sinterml/sinter/internal/emit/x86/asm"
	"github.com/sinterml/sinter/internal/jit"
)

// Machine is where a benchmark ran. What is not known is zero.
type Machine struct {
	CPU     string `json:"cpu"`
	Vendor  string `json:"vendor"`
	Arch    string `json:"microarchitecture"`
	OS      string `json:"os"`
	GOARCH  string `json:"goarch"`
	Go      string `json:"go"`
	Threads int    `json:"threads"` // GOMAXPROCS
	L1D     int    `json:"l1d_bytes"`
	L2      int    `json:"l2_bytes"`
	L3      int    `json:"l3_bytes"`
}

// ThisMachine describes the machine that the process runs on.
func ThisMachine() Machine {
	c := cpuid.Host()
	return Machine{
		CPU: strings.TrimSpace(c.Brand), Vendor: c.Vendor, Arch: c.Arch,
		OS: runtime.GOOS, GOARCH: runtime.GOARCH, Go: runtime.Version(), Threads: runtime.GOMAXPROCS(0),
		L1D: c.Caches.L1D, L2: c.Caches.L2, L3: c.Caches.L3,
	}
}

// The instruction sets, as rows name them.
const (
	AMXFP16 = "amx-fp16" // amx, with products of f32 as f16
	AMX     = "amx"      // avx512, with products of bf16 and of bytes by tiles
	AVX512  = "avx512"
	AVX2    = "avx2"
	Generic = "generic" // Go code
)

// ISAs lists the instruction sets that this process can use, the widest first.
func ISAs() []string {
	var all []string
	if host := cpuid.Host(); jit.Available() {
		if host.HasAMX() && host.AMXFP16 {
			all = append(all, AMXFP16)
		}
		if host.HasAMX() {
			all = append(all, AMX)
		}
		if host.HasAVX512() {
			all = append(all, AVX512)
		}
		if host.HasAVX2() {
			all = append(all, AVX2)
		}
	}
	return append(all, Generic)
}

// Target is the assembler's name for an instruction set that has machine code.
func Target(isa string) (target asm.ISA, ok bool) {
	target, ok = map[string]asm.ISA{AMXFP16: asm.AVX512, AMX: asm.AVX512, AVX512: asm.AVX512, AVX2: asm.AVX2}[isa]
	return target, ok
}
