package cpuid

import (
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// The kernel reads CPUID by its own code: both must agree, but for tiles that this
// process is refused.
func TestAgainstKernel(t *testing.T) {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		t.Skip("no /proc/cpuinfo on " + runtime.GOOS)
	}
	kernel := map[string]string{}
	for line := range strings.Lines(string(info)) {
		if k, v, ok := strings.Cut(line, ":"); ok && kernel[strings.TrimSpace(k)] == "" {
			kernel[strings.TrimSpace(k)] = strings.TrimSpace(v)
		}
	}
	key := map[string]string{"amd64": "flags", "arm64": "Features"}[runtime.GOARCH]
	if kernel[key] == "" { // under emulation the file is that of the machine below
		t.Skip("/proc/cpuinfo has no flags of " + runtime.GOARCH)
	}
	h := Host()
	flags := strings.Fields(kernel[key])
	if tilesRefused() {
		flags = slices.DeleteFunc(flags, func(flag string) bool { return strings.HasPrefix(flag, "amx_") })
	}
	for _, c := range []struct {
		flag, arch string
		got        bool
	}{
		{"avx", "amd64", h.AVX}, {"avx2", "amd64", h.AVX2}, {"fma", "amd64", h.FMA}, {"f16c", "amd64", h.F16C},
		{"bmi2", "amd64", h.BMI2}, {"avx_vnni", "amd64", h.AVXVNNI}, {"avx512f", "amd64", h.AVX512F},
		{"avx512bw", "amd64", h.AVX512BW}, {"avx512dq", "amd64", h.AVX512DQ}, {"avx512vl", "amd64", h.AVX512VL},
		{"avx512_vnni", "amd64", h.AVX512VNNI}, {"avx512_bf16", "amd64", h.AVX512BF16},
		{"amx_tile", "amd64", h.AMXTile}, {"amx_int8", "amd64", h.AMXInt8}, {"amx_bf16", "amd64", h.AMXBF16},
		{"asimd", "arm64", h.NEON}, {"asimddp", "arm64", h.DotProd}, {"asimdhp", "arm64", h.FP16},
		{"bf16", "arm64", h.BF16}, {"i8mm", "arm64", h.I8MM}, {"sve", "arm64", h.SVE},
	} {
		want := slices.Contains(flags, c.flag) && runtime.GOARCH == c.arch
		if c.got != want {
			t.Errorf("%s is %v, the kernel says %v", c.flag, c.got, want)
		}
	}
	if runtime.GOARCH != "amd64" {
		return
	}
	if h.Vendor != kernel["vendor_id"] || h.Brand != kernel["model name"] {
		t.Errorf("%q %q, the kernel says %q %q", h.Vendor, h.Brand, kernel["vendor_id"], kernel["model name"])
	}
}

// Registers as AMD's manual for family 19h model 11h gives them, and a Xeon.
func TestFamilyModel(t *testing.T) {
	for _, c := range []struct {
		eax           uint32
		vendor        string
		family, model int
		arch          string
	}{
		{0x00a10f11, amd, 0x19, 0x11, "zen4"},
		{0x00a20f12, amd, 0x19, 0x21, "zen3"},
		{0x00a60f12, amd, 0x19, 0x61, "zen4"},
		{0x00b00f21, amd, 0x1a, 0x02, "zen5"},
		{0x00b40f40, amd, 0x1a, 0x44, "zen5"},
		{0x000806f8, intel, 6, 0x8f, "sapphirerapids"},
		{0x00050657, intel, 6, 0x55, "skylakex"},
		{0x000306c3, intel, 6, 0x3c, "haswell"},
		{0x000006fb, intel, 6, 0x0f, ""},
	} {
		f, m := familyModel(c.eax)
		if name := archName(c.vendor, f, m); f != c.family || m != c.model || name != c.arch {
			t.Errorf("%#x: family %#x model %#x %q, want %#x %#x %q", c.eax, f, m, name, c.family, c.model, c.arch)
		}
	}
}

// Entries of leaf 0x8000001D of a Zen 4: 32 kB, 1 MB, 32 MB for 16 threads.
func TestCaches(t *testing.T) {
	var k Caches
	for _, e := range [][3]uint32{
		{0x00004121, 0x01c0003f, 63},
		{0x00004122, 0x01c0003f, 63},
		{0x00004143, 0x01c0003f, 2047},
		{0x0003c163, 0x03c0003f, 32767},
	} {
		if !k.add(e[0], e[1], e[2]) {
			t.Fatalf("%#x ended the list", e)
		}
	}
	if k.add(0, 0, 0) {
		t.Error("the empty entry did not end the list")
	}
	if want := (Caches{32 << 10, 1 << 20, 32 << 20, 16}); k != want {
		t.Errorf("%+v, want %+v", k, want)
	}
}

func TestHostCopies(t *testing.T) {
	h := Host()
	h.AVX2, h.NEON = !h.AVX2, !h.NEON
	if g := Host(); g.AVX2 == h.AVX2 || g.NEON == h.NEON {
		t.Error("clearing a feature of one copy changed another")
	}
	t.Logf("%+v", Host())
}
