package schedule

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/ir"
)

// joins are graphs around the gradient of an attention of 2 sequences, 4 heads,
// 3 rows and a width of 5, as operands and behind it.
var joins = map[string]struct {
	kv     int // heads of keys and values
	behind string
	stored string // name of the kernel that stores the concatenation
}{
	"stacked": {kv: 4, stored: "attentiongrad_concat", behind: `%a = reshape %dq : f32[1 2 4 3 5]
%b = reshape %dk : f32[1 2 4 3 5]
%c = reshape %dv : f32[1 2 4 3 5]
%all = concat %a %b %c axes=[0] : f32[3 2 4 3 5]
%p = permute %all axes=[1 3 0 2 4] : f32[2 3 3 4 5]
%rows = reshape %p : f32[6 60]
%y = matmul %rows %w : f32[6 6]
%s = sum %rows axes=[0] : f32[1 60]
return %y %s`},
	"heads of few keys": {kv: 2, stored: "attentiongrad_concat", behind: `%all = concat %dk %dq %dv axes=[1] : f32[2 8 3 5]
%p = permute %all axes=[0 2 1 3] : f32[2 3 8 5]
%s = sum %p axes=[1] : f32[2 1 8 5]
%n = neg %p : f32[2 3 8 5]
return %s %n`},
	"columns": {kv: 4, stored: "attentiongrad_concat", behind: `%pq = permute %dq axes=[0 2 1 3] : f32[2 3 4 5]
%a = reshape %pq : f32[2 3 20]
%pk = permute %dk axes=[0 2 1 3] : f32[2 3 4 5]
%b = reshape %pk : f32[2 3 20]
%pv = permute %dv axes=[0 2 1 3] : f32[2 3 4 5]
%c = reshape %pv : f32[2 3 20]
%all = concat %a %b %c axes=[2] : f32[2 3 60]
return %all`},
	"short alone": {kv: 4, stored: "attentiongrad_cast", behind: `%all = concat %dq %dk %dv axes=[3] : f32[2 4 3 15]
%short = cast %all : bf16[2 4 3 15]
%wide = cast %short : f32[2 4 3 15]
%n = neg %wide : f32[2 4 3 15]
return %n`},
	"both": {kv: 4, stored: "attentiongrad_concat_cast", behind: `%all = concat %dv %dk axes=[3] : f32[2 4 3 10]
%short = cast %all : bf16[2 4 3 10]
%n = neg %all : f32[2 4 3 10]
return %n %short %dq`},
	"one part of another": {kv: 4, behind: `%all = concat %dq %q axes=[3] : f32[2 4 3 10]
return %all`},
	"a part read twice": {kv: 4, behind: `%all = concat %dq %dk axes=[3] : f32[2 4 3 10]
%n = neg %dk : f32[2 4 3 5]
return %all %n`},
}

// What is stored where a concatenation has it has the same bits, and no kernel
// moves it.
func TestJoins(t *testing.T) {
	for name, c := range joins {
		t.Run(name, func(t *testing.T) {
			kv := fmt.Sprintf("f32[2 %d 3 5]", c.kv)
			g, err := ir.Parse(`graph
leaf 0 input "q" f32[2 4 3 5]
leaf 1 input "k" ` + kv + `
leaf 2 input "v" ` + kv + `
leaf 3 input "lse" f32[2 4 3]
leaf 4 input "dout" f32[2 4 3 5]
leaf 5 input "w" f32[60 6]
%q = input : f32[2 4 3 5]
%k = input leaf=1 : ` + kv + `
%v = input leaf=2 : ` + kv + `
%lse = input leaf=3 : f32[2 4 3]
%dout = input leaf=4 : f32[2 4 3 5]
%w = input leaf=5 : f32[60 6]
%g = attentiongrad %q %k %v %lse %dout %lse scale=0.5 causal : f32[2 4 3 5], ` + kv + ", " + kv + `
%dq = get %g : f32[2 4 3 5]
%dk = get %g out=1 : ` + kv + `
%dv = get %g out=2 : ` + kv + "\n" + c.behind + "\n")
			if err != nil {
				t.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(1, 2))
			var leaves [][]byte
			for _, l := range g.Leaves {
				n, _ := l.Type.Shape.Numel().Const()
				var b []byte
				for range n {
					b = binary.LittleEndian.AppendUint32(b, math.Float32bits(rng.Float32()-0.5))
				}
				leaves = append(leaves, b)
			}
			var want [][]byte
			for _, off := range [][]string{{"join"}, nil} {
				p, err := Build(g, Options{NoOpt: off, Anchors: map[ir.Op]bool{ir.MatMul: true, ir.AttentionGrad: true}})
				if err == nil {
					err = p.Check()
				}
				if err != nil {
					t.Fatal(err)
				}
				stored := slices.ContainsFunc(p.Kernels, func(k *Kernel) bool { return k.Name == c.stored })
				if stored != (off == nil && c.stored != "") {
					t.Errorf("off %v: a kernel %q: %v\n%v", off, c.stored, stored, p)
				}
				if stored && slices.ContainsFunc(p.Kernels, func(k *Kernel) bool { return strings.HasPrefix(k.Name, "concat") || k.Name == "cast" }) {
					t.Errorf("some kernel moves data\n%v", p)
				}
				got, err := run(p, ir.Env{}, leaves, true)
				if err != nil {
					t.Fatal(err)
				}
				if want == nil {
					want = got
				}
				for i := range want {
					if !slices.Equal(got[i], want[i]) {
						t.Errorf("output %d differs\n%v", i, p)
					}
				}
			}
		})
	}
}
