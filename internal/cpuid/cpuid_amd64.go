package cpuid

import (
	"encoding/binary"
	"strings"

	"golang.org/x/sys/cpu"
)

// cpuid executes CPUID with eax and ecx.
//
//go:noescape
func cpuid(eax, ecx uint32) (a, b, c, d uint32)

func detect() CPU {
	c := CPU{Features: simulated(features())}
	_, b, cx, d := cpuid(0, 0)
	c.Vendor = text(b, d, cx)
	a, _, _, _ := cpuid(1, 0)
	c.Family, c.Model = familyModel(a)
	c.Brand = brand()
	c.Arch = archName(c.Vendor, c.Family, c.Model)
	c.Caches = caches(c.Vendor)
	return c
}

// features takes the flags from x/sys/cpu, which checks XGETBV for those of AVX
// and AVX-512 but not for FMA and F16C.
func features() Features {
	x := &cpu.X86
	tiles := x.HasAMXTile && allowTiles()
	const amxFP16 = 1 << 21
	more, _, _, _ := cpuid(7, 1)
	return Features{
		AVX: x.HasAVX, AVX2: x.HasAVX2, BMI2: x.HasBMI2,
		FMA: x.HasFMA && x.HasAVX, F16C: x.HasF16C && x.HasAVX,
		AVXVNNI: x.HasAVXVNNI && x.HasAVX2,
		AVX512F: x.HasAVX512F, AVX512BW: x.HasAVX512BW, AVX512DQ: x.HasAVX512DQ, AVX512VL: x.HasAVX512VL,
		AVX512VNNI: x.HasAVX512VNNI, AVX512BF16: x.HasAVX512BF16,
		AMXTile: tiles, AMXInt8: tiles && x.HasAMXInt8, AMXBF16: tiles && x.HasAMXBF16,
		AMXFP16: tiles && more&amxFP16 != 0,
	}
}

func brand() string {
	if top, _, _, _ := cpuid(0x80000000, 0); top < 0x80000004 {
		return ""
	}
	var s string
	for leaf := uint32(0x80000002); leaf <= 0x80000004; leaf++ {
		s += text(cpuid(leaf, 0))
	}
	return strings.TrimSpace(s)
}

// text is the bytes of the registers in order, up to the first zero.
func text(regs ...uint32) string {
	var b []byte
	for _, r := range regs {
		b = binary.LittleEndian.AppendUint32(b, r)
	}
	s, _, _ := strings.Cut(string(b), "\x00")
	return s
}

// caches reads the deterministic cache parameters: leaf 4 on Intel, 0x8000001D
// with the same layout on AMD, where an extension bit says it is there.
func caches(vendor string) Caches {
	leaf := uint32(4)
	if vendor == "AuthenticAMD" || vendor == "HygonGenuine" {
		const topologyExtensions = 1 << 22
		leaf = 0x8000001d
		if top, _, _, _ := cpuid(0x80000000, 0); top < leaf {
			return Caches{}
		}
		if _, _, c, _ := cpuid(0x80000001, 0); c&topologyExtensions == 0 {
			return Caches{}
		}
	} else if top, _, _, _ := cpuid(0, 0); top < leaf {
		return Caches{}
	}
	var out Caches
	const maxCaches = 16
	for i := range uint32(maxCaches) {
		a, b, c, _ := cpuid(leaf, i)
		if !out.add(a, b, c) {
			break
		}
	}
	return out
}
