package cpu

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/internal/ir"
)

// linearForms are what follows a product %p of m x n: %y is made of it.
var linearForms = []string{
	"%b = input leaf=2 : f32[1 {n}]\n%e = expand %b : f32[{m} {n}]\n%y = add %p %e : f32[{m} {n}]",
	"%r = input leaf=3 : f32[{m} 1]\n%e = expand %r : f32[{m} {n}]\n%y = add %e %p : f32[{m} {n}]",
	"%o = input leaf=5 : f32[1 1]\n%e = expand %o : f32[{m} {n}]\n%y = add %e %p : f32[{m} {n}]",
	"%d = input leaf=4 : f32[{m} {n}]\n%y = add %d %p : f32[{m} {n}]",
	"%d = input leaf=4 : f32[{m} {n}]\n%b = input leaf=2 : f32[1 {n}]\n%e = expand %b : f32[{m} {n}]\n%s = add %p %e : f32[{m} {n}]\n%y = add %s %d : f32[{m} {n}]",
	"%d = input leaf=4 : f32[{m} {n}]\n%o = input leaf=5 : f32[1 1]\n%e = expand %o : f32[{m} {n}]\n%s = neg %p : f32[{m} {n}]\n%y = fma %s %e %d : f32[{m} {n}]",
	"%d = input leaf=4 : f32[{m} {n}]\n%r = input leaf=3 : f32[{m} 1]\n%g = expand %r : f32[{m} {n}]\n%c = const value=0x3fc00000 : f32[]\n%c1 = reshape %c : f32[1 1]\n%e = expand %c1 : f32[{m} {n}]\n%s = add %p %g : f32[{m} {n}]\n%y = fma %e %s %d : f32[{m} {n}]",
	// A variable that is written in place.
	"%d = variable leaf=6 : f32[{m} {n}]\n%o = input leaf=5 : f32[1 1]\n%e = expand %o : f32[{m} {n}]\n%s = neg %p : f32[{m} {n}]\n%v = fma %s %e %d : f32[{m} {n}]\n%y = assign %d %v leaf=6 : f32[{m} {n}]",
	"%d = variable leaf=6 : f32[{m} {n}]\n%v = add %p %d : f32[{m} {n}]\n%y = assign %d %v leaf=6 : f32[{m} {n}]",
}

// ofZero makes %y the ReLU of what it was.
const ofZero = "%z = const : f32[]\n%z1 = reshape %z : f32[1 1]\n%z2 = expand %z1 : f32[{m} {n}]\n%above = less %z2 %t : bool[{m} {n}]\n%below = less %t %z2 : bool[{m} {n}]\n%other = where %below %z2 %t : f32[{m} {n}]\n%y = where %above %t %other : f32[{m} {n}]"

// TestLinearEpilogues: what tile kernels do with results while these are in registers
// gives the bits that a kernel behind the product gives.
func TestLinearEpilogues(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 0))
	all := machines(t)
	linear := 0
	for i := range effort.Of(120, 120, 600, 5000) {
		form := linearForms[i%len(linearForms)]
		assigned := strings.Contains(form, "assign")
		if rng.IntN(2) == 0 && !assigned {
			form = strings.ReplaceAll(form, "%y", "%t") + "\n" + ofZero
		}
		m, n, k := []int{1, 7, 40, 1 + rng.IntN(130), 300}[rng.IntN(5)], 1+rng.IntN(200), []int{1, 17, 100, 512, 513, 1100}[rng.IntN(6)]
		text := `graph
leaf 0 input "x" f32[{m} {k}]
leaf 1 {kind} "w" f32[{k} {n}]
leaf 2 input "b" f32[1 {n}]
leaf 3 input "r" f32[{m} 1]
leaf 4 input "d" f32[{m} {n}]
leaf 5 input "o" f32[1 1]
leaf 6 variable "v" f32[{m} {n}]
%x = input : f32[{m} {k}]
%w = {kind} leaf=1 : f32[{k} {n}]
%p = matmul %x %w : f32[{m} {n}]
` + form + "\nreturn %y\n"
		kind := []string{"input", "weight"}[rng.IntN(2)]
		g, err := ir.Parse(strings.NewReplacer("{m}", fmt.Sprint(m), "{k}", fmt.Sprint(k), "{n}", fmt.Sprint(n), "{kind}", kind).Replace(text))
		if err != nil {
			t.Fatal(err)
		}
		rare := 5000
		if assigned {
			rare = 0 // in place NaN are compared bit by bit
		}
		leaves := drawLeaves(rng, g, rare)
		for _, d := range all {
			if few(d, i) {
				continue
			}
			linear += linearKernels(t, d, g)
			got, err := evaluate(d, g, nil, leaves, device.Options{Check: true})
			if err != nil {
				t.Fatalf("%v: %v\n%v", d.ISA(), err, g)
			}
			want, err := evaluate(d, g, nil, leaves, device.Options{Check: true, NoOpt: []string{"epilogue"}})
			if err != nil {
				t.Fatal(err)
			}
			if err := compare(ir.F32, got[0], want[0], nil); err != nil {
				t.Fatalf("%v: %v\n%v", d.ISA(), err, g)
			}
		}
	}
	for _, d := range all {
		if d.ISA() == AVX2 && linear < 100 {
			t.Errorf("%d epilogues were left to tile kernels", linear)
		}
	}
}

// linearKernels counts the products whose epilogue tile kernels can do.
func linearKernels(t *testing.T, d *Device, g *ir.Graph) (n int) {
	t.Helper()
	m, err := d.CompileGraph(context.Background(), g, device.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for _, k := range m.(*module).kernels {
		if k, ok := k.(*gemmKernel); ok && k.linear != nil {
			n++
		}
	}
	return n
}
