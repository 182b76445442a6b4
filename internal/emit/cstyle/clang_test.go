package cstyle_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/sinterml/sinter/internal/device/launch/clangtest"
)

// TestCompiles gives the golden files to a compiler, and shows what products
// take of AMD's GPUs.
func TestCompiles(t *testing.T) {
	c := clangtest.Find(t)
	files, err := filepath.Glob("testdata/*.*")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		switch filepath.Ext(f) {
		case ".metal":
			if err := c.Metal(context.Background(), string(text)); err != nil {
				t.Errorf("%s: %v", f, err)
			}
		case ".hip":
			for _, arch := range []string{"gfx90a", "gfx1100"} {
				kernels, err := c.HIP(context.Background(), arch, string(text))
				if err != nil || len(kernels) != 1 {
					t.Fatalf("%s: %d kernels, %v", f, len(kernels), err)
				}
				k := kernels[0]
				t.Logf("%s on %s: %d registers, %d spilled, %d bytes of a group", k.Kernel, arch, k.Registers, k.Spills, k.Shared)
				if k.Registers == 0 || k.Spills > 0 {
					t.Errorf("%s on %s: %+v", k.Kernel, arch, k)
				}
			}
		}
	}
}

// A mistake in Metal is one that clang finds.
func TestMetalMistakes(t *testing.T) {
	c := clangtest.Find(t)
	for name, body := range map[string]string{
		"pointers into two spaces":     "device float *p = s; p[0] = 1.0f;",
		"a constant that is double":    "x[0] = x[0] + 1.0;",
		"a function that is not there": "x[0] = metal::fmadd(x[0], x[0], x[0]);",
		"a write to what is constant":  "n[0] = 1;",
	} {
		text := "#include <metal_stdlib>\n[[kernel]] void k(device float *x [[buffer(0)]], constant long *n [[buffer(1)]]) {\nthreadgroup float s[4];\n" + body + "\n}\n"
		if err := c.Metal(context.Background(), text); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
