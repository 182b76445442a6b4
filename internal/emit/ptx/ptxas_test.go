package ptx_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/accepted"
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

// assembler is NVIDIA's ptxas, which a test gives the entry points alone that it is
// not known to have accepted.
type assembler struct {
	path, version string
	accepted      *accepted.Table
}

// findAssembler finds ptxas.
func findAssembler(t *testing.T) *assembler {
	t.Helper()
	path := os.Getenv("SINTER_PTXAS")
	if path == "" {
		path, _ = exec.LookPath("ptxas")
	}
	if path == "" {
		effort.Missing(t, "there is no ptxas: set SINTER_PTXAS to what .ci/fetch-ptxas prints")
	}
	version, err := exec.Command(path, "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	return &assembler{path, string(version), accepted.For(t)}
}

// take has ptxas translate what is new of a program, and gives what it says and how
// many entry points were known.
func (a *assembler) take(t *testing.T, arch, text string, options ...string) (out string, known int) {
	t.Helper()
	head, entries := entriesOf(text)
	key := func(entry string) []string {
		return []string{a.version, arch, strings.Join(options, " "), head, entryName.ReplaceAllString(entry, "(")}
	}
	var news []string
	for _, e := range entries {
		if !a.accepted.Has(key(e)...) {
			news = append(news, e)
		}
	}
	if len(entries) == 0 {
		t.Error("no entry points in a program")
	}
	if len(news) == 0 {
		return "", len(entries)
	}
	out, err := a.run(t.Context(), t.TempDir(), arch, head+strings.Join(news, ""), options...)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range news {
		a.accepted.Add(key(e)...)
	}
	return out, len(entries) - len(news)
}

// run has ptxas translate a program, and gives what it says.
func (a *assembler) run(ctx context.Context, dir, arch, text string, options ...string) (string, error) {
	file := filepath.Join(dir, "program.ptx")
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		return "", err
	}
	out, err := exec.CommandContext(ctx, a.path, append(options, "-arch", arch, "-o", file+".out", file)...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%.2000s", arch, err, out)
	}
	return string(out), nil
}

// A mistake in a program is one that ptxas finds, whatever it is known to have accepted, and a kernel
// without room for its values is told.
func TestAssemblerRefuses(t *testing.T) {
	ptxas := findAssembler(t)
	text, err := os.ReadFile("testdata/product_bf16_sm80.ptx")
	if err != nil {
		t.Fatal(err)
	}
	good := string(text)
	if _, err := ptxas.run(t.Context(), t.TempDir(), "sm_80", good, "-O0"); err != nil {
		t.Error(err)
	}
	bad := strings.Replace(good, "mov.u32 %r0, %tid.x;", "mov.u32 %r0, %tid.x, %r0;", 1)
	if _, err := ptxas.run(t.Context(), t.TempDir(), "sm_80", bad, "-O0"); err == nil || bad == good {
		t.Errorf("no error: %v", bad == good)
	}
	crowded := strings.Replace(good, ".minnctapersm 1", ".minnctapersm 8", 1) // 32 registers a thread
	out, err := ptxas.run(t.Context(), t.TempDir(), "sm_80", crowded, "-v")
	if told := properties.FindStringSubmatch(out); err != nil || told == nil || told[2] == "0" {
		t.Errorf("in 32 registers: %v, %q", err, told)
	}
}

// entriesOf cuts a program into its head and its entry points.
func entriesOf(text string) (head string, entries []string) {
	parts := strings.Split(text, ".visible")
	head, _, _ = strings.Cut(parts[0], "//")
	for _, e := range parts[1:] {
		e, _, _ = strings.Cut(e, "\n//") // what names the next one
		entries = append(entries, ".visible"+e+"\n")
	}
	return head, entries
}

// roomFor has ptxas take a program, with so many kernels, whose values all are in
// registers, and gives what it says.
func (a *assembler) roomFor(t *testing.T, arch, text string, kernels int, options ...string) string {
	t.Helper()
	out, known := a.take(t, arch, text, append(options, "-v")...)
	if n := noSpills(t, out) + known; n != kernels {
		t.Errorf("ptxas tells of %d functions, not %d", n, kernels)
	}
	return out
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
		var all []string
		if head, all = entriesOf(p.Source); len(all) != 1 {
			t.Fatalf("%d entry points of a kernel", len(all))
		}
		if seen[all[0]] {
			continue
		}
		seen[all[0]] = true
		entries = append(entries, strings.Replace(all[0], ".entry same(", fmt.Sprintf(".entry k%d(", len(entries)), 1))
	}
	return head, entries
}

// likeOthers: of the programs that are like others, each so many'th is assembled: those
// for sm_86 and sm_89, which are those for sm_80, and of kernels that are the same for an
// older target.
func likeOthers() int { return effort.Of(4, 4, 4, 1) }

// entryName is the name of an entry point.
var entryName = regexp.MustCompile(`\.entry \w+\(`)

// TestAssembles has NVIDIA's assembler read what the suite of devices runs, all
// of it with -tags long, but for attention, which TestRegisters has it read.
func TestAssembles(t *testing.T) {
	ptxas := findAssembler(t)
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
				ptxas.take(t, a.name, p.text, "-O0")
			})
		}
	}
}

// properties is what ptxas tells of a function.
var properties = regexp.MustCompile(`(?s)entry function '(\w+)' for.*?(\d+) bytes spill stores, (\d+) bytes spill loads.*?Used (\d+) registers`)

// TestRegisters shows the registers of kernels that are to be fast, products and
// attention: there is room for all values in them.
func TestRegisters(t *testing.T) {
	ptxas := findAssembler(t)
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
			_, entries := entriesOf(text)
			if len(entries) < 20 {
				t.Errorf("%d entry points", len(entries))
			}
			ptxas.roomFor(t, a.name, text, len(entries))
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
