package spirv_test

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/emit/flat"
	"github.com/sinterml/sinter/internal/emit/flat/flattest"
	"github.com/sinterml/sinter/internal/emit/spirv"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/loop/looptest"
)

var update = flag.Bool("update", false, "write the golden files")

// tool is a program of spirv-tools. Where everything has to be tested it must
// be there.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err == nil {
		return path
	}
	effort.Missing(t, "needs Debian's spirv-tools: ", err)
	return ""
}

// validate has spirv-val judge a program.
func validate(t *testing.T, p *spirv.Program) error {
	t.Helper()
	file := filepath.Join(t.TempDir(), "module.spv")
	if err := os.WriteFile(file, p.Binary(), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(tool(t, "spirv-val"), "--target-env", "vulkan1.2", file).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// assembles compares a program with what spirv-as makes of its listing.
func assembles(t *testing.T, p *spirv.Program) error {
	t.Helper()
	text, err := spirv.Listing(p.Words)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(tool(t, "spirv-as"), "--target-env", "spv1.5", "--preserve-numeric-ids", "-", "-o", "-")
	cmd.Stdin = bytes.NewReader([]byte(text))
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%w\n%s\n%s", err, &log, text)
	}
	want := p.Binary()
	if got := out.Bytes(); len(got) != len(want) || !bytes.Equal(got[12:], want[12:]) { // the third word names the tool
		return fmt.Errorf("spirv-as makes another module of\n%s", text)
	}
	return nil
}

// options are of devices that promise all, and nothing.
var options = map[string]spirv.Options{
	"all":   {Float64: true, Int8: true, Int16: true, InfNaN: both, Subnormals: both, Nearest: both, Exact: both, Roots: both, Fused: both, Whole: both, Compares: both, Converts: true, Divides: true},
	"least": {Float64: true},
	"gpu":   {Float64: true, HalfSubnormals: true, InfNaN: both, Nearest: both, Exact: both, FusedNormal: both, Whole: both},
}

var both = spirv.Widths{F32: true, F64: true}

var shapes = map[string]entry.Shape{
	"near":  {Items: 32, Near: 16 << 10, Product: flat.Product},
	"far":   {Items: 16, Product: flat.Product},
	"alone": {Items: 1, Near: 16 << 10, Product: flat.Product},
}

// TestRandomKernels has the tools judge programs of random kernels.
func TestRandomKernels(t *testing.T) {
	for name, o := range options {
		for form, shape := range shapes {
			t.Run(name+"/"+form, func(t *testing.T) {
				var kernels []*entry.Kernel
				for seed := range uint64(20) {
					c := looptest.Random(rand.New(rand.NewPCG(seed, 5)), looptest.Config{WildIndices: true, Op: exact})
					kernels = append(kernels, shape.Kernel(fmt.Sprint("k", seed), c.Kernel))
				}
				for i, d := range []ir.DType{ir.F32, ir.F64, ir.BF16, ir.F16, ir.I32, ir.U8, ir.I64} {
					g, _ := flattest.Gemm(rand.New(rand.NewPCG(1, 0)), d, flattest.Sizes{Batch: 2, Rows: 5, Cols: 100, K: 600}, i%2 == 0)
					kernels = append(kernels, flat.Product(fmt.Sprint("product", i), g, entry.Tile{}))
				}
				p, err := spirv.Write(kernels, o)
				if err != nil {
					t.Fatal(err)
				}
				if err := validate(t, p); err != nil {
					t.Error(err)
				}
				if err := assembles(t, p); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// exact leaves out what has no expansion.
func exact(op ir.Op, from ir.DType) bool {
	if from != ir.F64 {
		return true
	}
	switch op {
	case ir.Exp, ir.Exp2, ir.Expm1, ir.Log, ir.Log2, ir.Log1p, ir.Sin, ir.Cos, ir.Atan, ir.Tanh, ir.Erf, ir.Pow:
		return false
	}
	return true
}

const scale = `kernel "scale"
slots 1
symbol n 1 4096
param x f16[64*n] read
param at i32[n] read
param y i8[64*n] write
for global r < size(n) {
	row = index(cast.i64(at[r]), n, 0)
	total = f32(0)
	for vector c < 64 {
		total add= cast.f32(x[row*64 + c ? c < 60])
	}
	for vector e < 64 {
		y[r*64 + e] = cast.i8(cast.f32(x[row*64 + e])/total)
	}
}
`

// TestGolden shows what a kernel becomes; -update writes the file anew.
func TestGolden(t *testing.T) {
	k, err := loop.Parse(scale)
	if err != nil {
		t.Fatal(err)
	}
	p, err := spirv.Write([]*entry.Kernel{shapes["near"].Kernel("scale", k)}, options["all"])
	if err != nil {
		t.Fatal(err)
	}
	text, err := spirv.Listing(p.Words)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("testdata", "scale.spvasm")
	if *update {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if text != string(want) {
		t.Errorf("the listing has changed; if that is meant, run the test with -update\n%s", text)
	}
}

// A listing of what is no module is an error.
func TestListingRefuses(t *testing.T) {
	good, err := spirv.Write(nil, spirv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := spirv.Listing(good.Words); err != nil {
		t.Error(err)
	}
	for name, words := range map[string][]uint32{
		"nothing":      nil,
		"no magic":     {1, 2, 3, 4, 5},
		"no length":    append(slices.Clone(good.Words), 17),
		"too long":     append(slices.Clone(good.Words), 3<<16|17, 1),
		"unknown":      append(slices.Clone(good.Words), 1<<16|65535),
		"no operand":   append(slices.Clone(good.Words), 1<<16|17),
		"one too many": append(slices.Clone(good.Words), 3<<16|17, 1, 1),
		"unknown kind": append(slices.Clone(good.Words), 2<<16|17, 77777),
	} {
		if text, err := spirv.Listing(words); err == nil {
			t.Errorf("%s: no error, but\n%s", name, text)
		}
	}
}

// What a device lacks is an error that says so.
func TestRefuses(t *testing.T) {
	k, err := loop.Parse("kernel \"k\"\nparam x f64[4] read\nparam y f64[4] write\nfor global i < 4 {\n\ty[i] = x[i] + x[i]\n}\n")
	if err != nil {
		t.Fatal(err)
	}
	_, err = spirv.Write([]*entry.Kernel{shapes["near"].Kernel("k", k)}, spirv.Options{})
	if err == nil || !strings.Contains(err.Error(), "device has no f64") {
		t.Error(err)
	}
}
