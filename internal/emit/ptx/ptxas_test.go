package ptx_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/launch"
	"github.com/sinterml/sinter/internal/device/suite"
	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/emit/flat/flattest"
	"github.com/sinterml/sinter/internal/emit/ptx"
	"github.com/sinterml/sinter/internal/ir"
)

// architectures are the GPUs that programs are assembled for.
var architectures = []struct {
	name         string
	major, minor int
	driver       int
}{{"sm_75", 7, 5, 12040}, {"sm_80", 8, 0, 12040}, {"sm_86", 8, 6, 12040}, {"sm_89", 8, 9, 12040}, {"sm_90a", 9, 0, 12040}}

// assembler finds NVIDIA's ptxas.
func assembler(t *testing.T) string {
	t.Helper()
	path := os.Getenv("SINTER_PTXAS")
	if path == "" {
		path, _ = exec.LookPath("ptxas")
	}
	if path == "" {
		effort.Missing(t, "there is no ptxas: set SINTER_PTXAS to what .ci/fetch-ptxas prints")
	}
	return path
}

// assemble has ptxas translate a program and gives what it says.
func assemble(ctx context.Context, path, arch, dir, text string, options ...string) (string, error) {
	f, err := os.CreateTemp(dir, "*.ptx")
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	out, err := exec.CommandContext(ctx, path, append(options, "-arch", arch, "-o", f.Name()+".out", f.Name())...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%.2000s", arch, err, out)
	}
	return string(out), os.Remove(f.Name() + ".out")
}

// collector is a backend that keeps the kernels it is to write.
type collector struct {
	backend
	kernels []*entry.Kernel
}

func (c *collector) Emit(kernels []*entry.Kernel) (*launch.Code, error) {
	c.kernels = append(c.kernels, kernels...)
	code := &launch.Code{}
	for range kernels {
		code.Args = append(code.Args, nil)
	}
	return code, nil
}

func (c *collector) Build(*launch.Code) (launch.Program, error) { return &program{b: &c.backend}, nil }

// kernelsOf are those of cases.
func kernelsOf(t *testing.T, target ptx.Target, cases []*suite.Case) []*entry.Kernel {
	return kernelsIn(t, target, cases, 0)
}

// kernelsIn are those of cases in a precision.
func kernelsIn(t *testing.T, target ptx.Target, cases []*suite.Case, precision ir.DType) []*entry.Kernel {
	c := &collector{backend: backend{target: target}}
	d, err := launch.New(c, launch.Options{Kind: "ptx", Shape: target.Shape(), Units: 4})
	if err != nil {
		t.Fatal(err)
	}
	for _, cs := range cases {
		g, _, err := cs.Graph()
		if err != nil {
			t.Fatal(err)
		}
		m, err := d.CompileGraph(context.Background(), g, device.Options{Precision: precision})
		if err != nil {
			t.Fatalf("%s: %v", cs.Name, err)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
	return c.kernels
}

// texts writes kernels, those that are alike once: the head of a program and
// its entry points.
func texts(t *testing.T, target ptx.Target, kernels []*entry.Kernel) (head string, entries []string) {
	seen := map[string]bool{}
	for _, k := range kernels {
		e := *k
		e.Entry = "same"
		p, err := ptx.Write(target, []*entry.Kernel{&e})
		if err != nil {
			t.Fatal(err)
		}
		var text string
		head, text, _ = strings.Cut(p.Source, "//")
		_, text, _ = strings.Cut(text, ".visible")
		if seen[text] {
			continue
		}
		seen[text] = true
		entries = append(entries, ".visible"+strings.Replace(text, ".entry same(", fmt.Sprintf(".entry k%d(", len(entries)), 1))
	}
	return head, entries
}

// likeOthers: of the programs that are like others, each so many'th is assembled: those
// for sm_86 and sm_89, which are those for sm_80, and of kernels that are the same for an
// older target.
func likeOthers() int { return effort.Of(4, 4, 4, 1) }

// entryName is what texts numbers.
var entryName = regexp.MustCompile(`\.entry k\d+\(`)

// TestAssembles has NVIDIA's assembler read what the suite of devices runs, all
// of it with -tags long, but for attention, which TestRegisters has it read.
func TestAssembles(t *testing.T) {
	path := assembler(t)
	cases, some := suite.FewStatic(suite.Cases()), architectures
	switch {
	case effort.Now() < effort.CI:
		cases, some = suite.Short(), some[:1]
	case effort.Now() == effort.Long:
		cases = suite.Cases()
	}
	cases = slices.DeleteFunc(cases, attends)
	const inFile = 400
	type program struct {
		text string
		like bool // others for an older target
	}
	programs, known := map[ptx.Target][]program{}, map[string]bool{}
	for _, target := range targets {
		head, entries := texts(t, target, kernelsOf(t, target, cases))
		var kinds [2][]string // new, and known
		for _, e := range entries {
			key, kind := entryName.ReplaceAllString(e, ""), 0
			if known[key] {
				kind = 1
			}
			known[key] = true
			kinds[kind] = append(kinds[kind], e)
		}
		for kind, entries := range kinds {
			for some := range slices.Chunk(entries, inFile) {
				programs[target] = append(programs[target], program{head + strings.Join(some, "\n"), kind == 1})
			}
		}
	}
	dir := t.TempDir()
	for _, a := range some {
		target, err := ptx.TargetFor(a.major, a.minor, a.driver)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range programs[target] {
			// The last of those that are like others takes longest.
			if p.like && i%likeOthers() != likeOthers()-1 || !p.like && i%likeOthers() != 0 && (a.name == "sm_86" || a.name == "sm_89") {
				continue
			}
			t.Run(fmt.Sprint(a.name, "/", i), func(t *testing.T) {
				t.Parallel()
				if _, err := assemble(t.Context(), path, a.name, dir, p.text, "-O0"); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// properties is what ptxas tells of a function.
var properties = regexp.MustCompile(`(?s)entry function '(\w+)' for.*?(\d+) bytes spill stores, (\d+) bytes spill loads.*?Used (\d+) registers`)

// TestRegisters shows the registers of kernels that are to be fast, products and
// attention: there is room for all values in them.
func TestRegisters(t *testing.T) {
	path := assembler(t)
	products, attention, known := map[ptx.Target]string{}, map[ptx.Target]string{}, map[string]bool{}
	for _, target := range targets {
		var entries []string
		products[target], entries = fastKernels(t, target)
		for i, e := range entries {
			key, j := entryName.ReplaceAllString(e, ""), i+i/4 // as four kinds of attention take turns
			if !known[key] && j%effort.Of(2, 2, 2, 1) == 0 || known[key] && j%likeOthers() == 0 {
				attention[target] += e + "\n"
				known[key] = true
			}
		}
	}
	for _, a := range architectures {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			if a.name == "sm_86" && likeOthers() > 1 {
				t.Skip("much like sm_89")
			}
			target, err := ptx.TargetFor(a.major, a.minor, a.driver)
			if err != nil {
				t.Fatal(err)
			}
			text := products[target]
			if a.name != "sm_86" && a.name != "sm_89" { // which are much like sm_80
				text += attention[target]
			}
			out, err := assemble(t.Context(), path, a.name, t.TempDir(), text, "-v")
			if err != nil {
				t.Fatal(err)
			}
			if n := noSpills(t, out); n < 20 {
				t.Errorf("ptxas tells of %d functions", n)
			}
		})
	}
}

// fastKernels is a program of products in all formats, as their operands may lie,
// and of attention with heads of usual sizes, and entry points of attention, which are numbered.
func fastKernels(t *testing.T, target ptx.Target) (program string, attention []string) {
	var products []*entry.Kernel
	for _, d := range []ir.DType{ir.F32, ir.F64, ir.F16, ir.BF16, ir.I8, ir.U8, ir.I32} {
		for _, turned := range []bool{false, true} {
			for _, k := range []int{384, 1024} {
				g, _ := flattest.Gemm(rand.New(rand.NewPCG(1, 0)), d, flattest.Sizes{Batch: 2, Rows: 5, Cols: 128, K: k}, turned)
				products = append(products, target.Shape().Gemm(fmt.Sprintf("gemm_%v_%d_turned_%v", d, k, turned), g))
			}
		}
	}
	for _, turned := range []bool{false, true} {
		for _, k := range []int{384, 1024} {
			g, _ := flattest.Gemm(rand.New(rand.NewPCG(1, 0)), ir.F32, flattest.Sizes{Batch: 2, Rows: 5, Cols: 128, K: k}, turned)
			g.TF32 = true
			products = append(products, target.Shape().Gemm(fmt.Sprintf("gemm_tf32_%d_turned_%v", k, turned), g))
		}
	}
	for _, d := range []ir.DType{ir.F32, ir.BF16, ir.F16} {
		for _, width := range []int{64, 80, 128} {
			for _, causal := range []bool{false, true} {
				s := flattest.Attended{Batch: 1, Heads: 4, KVHeads: 2, Queries: 1, Keys: 1, Width: width}
				a, _ := flattest.Attention(rand.New(rand.NewPCG(1, 0)), d, s, ir.AttentionAttr{Scale: 1, Causal: causal})
				a.TF32 = d == ir.F16 // else units for matrices take it as it is alone
				products = append(products, target.Shape().Attention(fmt.Sprintf("attention_%v_%d_causal_%v", d, width, causal), a))
				if d == ir.F16 {
					whole := *a
					whole.DType = d
					products = append(products, target.Shape().Attention(fmt.Sprintf("attention_whole_%v_%d_causal_%v", d, width, causal), &whole))
				}
				if d == ir.F32 {
					g, _ := flattest.AttentionGrad(rand.New(rand.NewPCG(1, 0)), d, s, ir.AttentionAttr{Scale: 1, Causal: causal})
					products = append(products, target.Shape().AttentionGrad(fmt.Sprintf("attentiongrad_%v_%d_causal_%v", d, width, causal), g))
				}
			}
		}
	}
	p, err := ptx.Write(target, products)
	if err != nil {
		t.Fatal(err)
	}
	others := func(c *suite.Case) bool { return !attends(c) }
	_, entries := texts(t, target, kernelsOf(t, target, slices.DeleteFunc(suite.Cases(), others)))
	return p.Source, entries
}

// attends tells whether a case is one of attention or its gradients.
func attends(c *suite.Case) bool { return strings.HasPrefix(c.Name, "attention") }

// noSpills shows the registers of the functions that the assembler tells of, of which
// each has room for its values, and counts them.
func noSpills(t *testing.T, out string) int {
	t.Helper()
	all := properties.FindAllStringSubmatch(out, -1)
	for _, f := range all {
		t.Logf("%-52s %3s registers, spills %s bytes", f[1], f[4], f[2])
		if f[2] != "0" || f[3] != "0" {
			t.Errorf("%s has no room for its values in registers", f[1])
		}
	}
	return len(all)
}
