package ptx_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/emit/flat/flattest"
	"github.com/sinterml/sinter/internal/emit/ptx"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/loop/looptest"
)

// packTypes are those of what is read and written.
var packTypes = [][2]ir.DType{
	{ir.F32, ir.F32}, {ir.BF16, ir.BF16}, {ir.F16, ir.F16}, {ir.F32, ir.BF16}, {ir.BF16, ir.F32}, {ir.I8, ir.F32}, {ir.F16, ir.I8},
	{ir.U8, ir.U8}, {ir.I32, ir.I16}, {ir.I16, ir.I32}, {ir.U8, ir.I32}, {ir.I8, ir.U16},
}

// TestPacks compares threads that load and store several elements at once with
// those that do one, bit for bit.
func TestPacks(t *testing.T) {
	for i, types := range packTypes {
		t.Run(types[0].String()+" "+types[1].String(), func(t *testing.T) {
			cases, err := looptest.Packs(rand.New(rand.NewPCG(8, uint64(i))), types[0], types[1])
			if err != nil {
				t.Fatal(err)
			}
			for j, c := range cases {
				if quick() && (i+j)%2 > 0 {
					continue
				}
				testPacks(t, c, targets[(i+j)%len(targets)], j%3 == 0)
			}
		})
	}
}

func testPacks(t *testing.T, c *looptest.Case, target ptx.Target, far bool) {
	t.Helper()
	shape := target.Shape()
	shape.Strategy.Far = far
	k := shape.Kernel("k", c.Kernel)
	shape.Pack = 0
	one := shape.Kernel("k", c.Kernel)
	want, got := c.Copy(), c.Copy()
	for _, p := range one.Work.Params[len(c.Kernel.Params):] {
		n, _ := p.Len.Const()
		want.Buffers = append(want.Buffers, make([]byte, n*p.DType.Size()))
	}
	if err := loop.Interpret(one.Work, want); err != nil {
		t.Fatal(err)
	}
	b, err := flattest.Bind(k, got, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := run(target, k, &b.Launch); err != nil {
		t.Fatalf("%s of %v: %v\n%v", c.Kernel.Name, c.Args.Sizes, err, k.Work)
	}
	b.Results(k, got)
	if err := c.Same(got, want); err != nil {
		t.Errorf("%s of %v: %v\n%v", c.Kernel.Name, c.Args.Sizes, err, k.Work)
	}
}

// TestPackInstructions counts the loads and stores of such kernels, in the loop over
// several packs, in that over one and in that over the rest. Nothing looks for NaN to round.
func TestPackInstructions(t *testing.T) {
	for _, c := range []struct {
		types [2]ir.DType
		name  string
		want  map[string]int
	}{
		{[2]ir.DType{ir.F32, ir.F32}, "blocks", map[string]int{"ld.global.nc.v4.u32": 4 + 1, "ld.global.nc.f32": 1, "st.global.v4.u32": 2 * (4 + 1), "st.global.f32": 2}},
		{[2]ir.DType{ir.BF16, ir.BF16}, "blocks", map[string]int{"ld.global.nc.v4.u32": 2 + 1, "ld.global.nc.u16": 1, "st.global.v4.u32": 2 * (2 + 1), "st.global.u16": 2, "setp.neu": 0}},
		{[2]ir.DType{ir.F32, ir.BF16}, "blocks", map[string]int{"ld.global.nc.v4.u32": 4 + 1, "st.global.v2.u32": 4 + 1, "st.global.v4.u32": 4 + 1}},
		{[2]ir.DType{ir.BF16, ir.BF16}, "aligned", map[string]int{"ld.global.nc.v4.u32": 1, "ld.global.v4.u32": 1, "st.global.v4.u32": 1}},
		{[2]ir.DType{ir.BF16, ir.BF16}, "shifted", map[string]int{".v2": 0, ".v4": 0}},
		{[2]ir.DType{ir.BF16, ir.BF16}, "rows", map[string]int{"ld.global.nc.v2.u32": 3, "st.global.v2.u32": 1, "st.shared.v4.u32": 3, "ld.shared.v4.u32": 2}},
		{[2]ir.DType{ir.F32, ir.F32}, "rows", map[string]int{"ld.global.nc.v4.u32": 3, "st.global.v4.u32": 1}},
	} {
		k := packed(t, targets[1], c.types, c.name)
		p, err := ptx.Write(targets[1], []*entry.Kernel{k})
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range c.want {
			if n := strings.Count(p.Source, name); n != want {
				t.Errorf("%s %v: %d of %s, not %d\n%s", c.name, c.types, n, name, want, p.Source)
			}
		}
	}
}

// packed is one of looptest's kernels.
func packed(t *testing.T, target ptx.Target, types [2]ir.DType, name string) *entry.Kernel {
	t.Helper()
	cases, err := looptest.Packs(rand.New(rand.NewPCG(8, 0)), types[0], types[1])
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		if c.Kernel.Name == name {
			return target.Shape().Kernel("k", c.Kernel)
		}
	}
	t.Fatalf("no kernel %s", name)
	return nil
}

// TestPackRegisters has NVIDIA's assembler take all of them: there is room for all
// values in registers.
func TestPackRegisters(t *testing.T) {
	ptxas := findAssembler(t)
	for _, a := range architectures {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			target, err := ptx.TargetFor(a.major, a.minor, a.driver)
			if err != nil {
				t.Fatal(err)
			}
			var kernels []*entry.Kernel
			for _, types := range packTypes {
				for _, name := range []string{"blocks", "aligned", "rows", "sum", "scratch anew"} {
					k := packed(t, target, types, name)
					k.Entry = strings.NewReplacer(" ", "_").Replace(name + "_" + types[0].String() + "_" + types[1].String())
					kernels = append(kernels, k)
				}
			}
			p, err := ptx.Write(target, kernels)
			if err != nil {
				t.Fatal(err)
			}
			ptxas.roomFor(t, a.name, p.Source, len(kernels))
		})
	}
}
