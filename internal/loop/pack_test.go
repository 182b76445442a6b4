package loop_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	_ "github.com/sinterml/sinter/internal/effort" // collects garbage less often
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/loop/looptest"
)

// TestPacks has work-items with one lane each and with several: the results have
// the same bits.
func TestPacks(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	packed := map[string]bool{}
	for _, types := range [][2]ir.DType{{ir.F32, ir.F32}, {ir.BF16, ir.BF16}, {ir.F16, ir.F32}, {ir.F32, ir.BF16}, {ir.I8, ir.F32}} {
		cases, err := looptest.Packs(rng, types[0], types[1])
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			name := fmt.Sprint(c.Kernel.Name, " ", types, c.Args.Sizes)
			each := loop.Each(c.Kernel, 16, 1)
			packed[c.Kernel.Name] = packed[c.Kernel.Name] || each > 1
			if each == 1 {
				continue
			}
			want := grouped(t, name, c, loop.Grouping{Width: 64, Items: true})
			for n := 2; n <= each; n *= 2 {
				if err := c.Same(grouped(t, name, c, loop.Grouping{Width: 64, Items: true, Each: n}), want); err != nil {
					t.Errorf("%s, %d lanes each: %v", name, n, err)
				}
			}
		}
	}
	for name, has := range packed {
		if has != (name != "shifted") {
			t.Errorf("%s: lanes side by side: %v", name, has)
		}
	}
}

// grouped runs a case for groups.
func grouped(t *testing.T, name string, c *looptest.Case, g loop.Grouping) *loop.Args {
	t.Helper()
	k := loop.Grouped(c.Kernel, g)
	if err := loop.Check(k); err != nil {
		t.Fatalf("%s, %+v: %v\n%v", name, g, err, k)
	}
	a := c.Copy()
	for _, p := range k.Params[len(c.Kernel.Params):] {
		n, _ := p.Len.Const()
		a.Buffers = append(a.Buffers, make([]byte, n*p.DType.Size()))
	}
	if err := loop.Interpret(k, a); err != nil {
		t.Fatalf("%s, %+v: %v\n%v", name, g, err, k)
	}
	return a
}

// TestEach says how many lanes go side by side: as many as fill 16 bytes of the
// widest element, of those from a multiple on, and as leave work for work-items.
func TestEach(t *testing.T) {
	for _, c := range []struct {
		loops string
		want  int
	}{
		{"for vector i < 4096 { y[i] = b[i] }", 4},
		{"for vector i < 4096 { z[i] = b[i] }", 8},
		{"for vector i < 4096 { z[i] = b[g*100 + i] }", 4},
		{"for vector i < 4096 { z[i] = b[g*101 + i] }", 1},
		{"for vector i < 4096 { z[i] = b[2*i] }", 1},
		{"for vector i < 4096 { z[i] = b[4095 - i] }", 1},
		{"for vector i < 4096 { z[i] = b[g] }", 8},
		{"for vector i = 2 to 4096 { z[i] = b[i] }", 2},
		{"for vector i < 4096 { z[i ? i < 7] = b[i] }", 1},
		{"for vector i < 4096 { z[i] = b[i ? i < 7] }", 1},
		{"for vector i < 128 { z[i] = b[i] }", 4},
		{"for vector i < 32 { z[i] = b[i] }", 1},
		{"for vector i < 4096 { w[i] = f64(1) }", 1},
		{"for vector i < 4096 { z[i] = b[i] }\n\tfor vector j < 4096 { y[j] = f32(1) }", 4},
	} {
		text := fmt.Sprintf("kernel \"k\"\nparam b bf16[900000] read\nparam y f32[9000] write\nparam z bf16[9000] write\nparam w f64[9000] write\nfor global g < 2 {\n\t%s\n}\n", c.loops)
		k, err := loop.Parse(strings.NewReplacer("{ ", "{\n", " }", "\n}").Replace(text))
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if n := loop.Each(k, 16, 32); n != c.want {
			t.Errorf("%s: %d lanes, not %d", c.loops, n, c.want)
		}
	}
}
