package cpu

import (
	"runtime"
	"slices"
	"testing"
)

func TestDescribe(t *testing.T) {
	p := Describe()
	if p.Description == "" || p.Driver == "" || p.Software || !slices.Contains(p.DTypes, "f32") {
		t.Errorf("%+v", p)
	}
	if runtime.GOOS == "linux" && (p.Memory == 0 || p.Free > p.Memory) {
		t.Errorf("%d bytes, %d free", p.Memory, p.Free)
	}
	d, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for isa, feature := range map[ISA]string{AMX: "amxtile", AVX512: "avx512f", AVX2: "avx2"} {
		if d.ISA() == isa && !slices.Contains(p.Features, feature) {
			t.Errorf("runs %v without %s: %v", isa, feature, p.Features)
		}
	}
}
