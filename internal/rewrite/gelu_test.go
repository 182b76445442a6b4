package rewrite

import (
	"math"
	"slices"
	"testing"

	"github.com/sinterml/sinter/internal/ir"
)

// The short GELU is as near as its comment says, 0 at 0 and below -4, x above 4,
// and NaN and infinities give what GELU gives.
func TestShortGELU(t *testing.T) {
	x := []float32{0, float32(math.Copysign(0, -1)), 4, -4, 100, -100, 3e38, -3e38, 1e-44, -1e-44, 1e-30, -1e-30,
		float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))}
	special := len(x) - 3
	for i := -50_000; i <= 50_000; i++ {
		x = append(x, float32(i)*1e-4)
	}
	b := ir.NewBuilder(nil)
	in, err := b.AddLeaf(ir.Leaf{Kind: ir.Input, Name: "x", Type: ir.Type{DType: ir.F32, Shape: ir.Static(len(x))}})
	if err != nil {
		t.Fatal(err)
	}
	r := newRewriter(newSetting(nil, nil, Options{}), b)
	g := b.Finish(r.shortGELU(in))
	if r.err != nil {
		t.Fatal(r.err)
	}
	out, _ := evaluate(t, g, nil, [][]byte{bytesOf(x)})
	worst := 0.0
	for i, y := range floats(out[0]) {
		v := float64(x[i])
		want := v / 2 * math.Erfc(-v/math.Sqrt2)
		switch {
		case i >= special && i < special+3:
			if want := v * 0.5 * (1 + math.Erf(v)); math.IsNaN(want) != math.IsNaN(y) || !math.IsNaN(want) && want != y {
				t.Errorf("GELU(%v) is %v, want %v", v, y, want)
			}
		case v >= 4 && y != v, v <= -4 && y != 0, v == 0 && y != 0:
			t.Errorf("GELU(%v) is %v", v, y)
		default:
			worst = max(worst, (math.Abs(y-want)-0x1p-149)/min(1, math.Abs(v)))
		}
	}
	if !(worst <= 0.00014 && worst > 0.0001) {
		t.Errorf("at most %v off, which should be 0.00014", worst)
	}
}

// gelu names the constants of a GELU.
const gelu = `%half = const value=0x3f000000 : f32[]
%h1 = reshape %half : f32[1 1]
%h = expand %h1 : f32[6 32]
%one = const value=0x3f800000 : f32[]
%o1 = reshape %one : f32[1 1]
%o = expand %o1 : f32[6 32]
%root = const value=0x3f3504f3 : f32[]
%r1 = reshape %root : f32[1 1]
%r = expand %r1 : f32[6 32]
%sqrt = const value=0x3fb504f3 : f32[]
%s1 = reshape %sqrt : f32[1 1]
%s = expand %s1 : f32[6 32]
`

// Only a GELU that nothing but products in 8 bits reads is shortened.
func TestWhichGELUsAreShort(t *testing.T) {
	const (
		erf   = "%z = mul %x %r : f32[6 32]\n%e = erf %z : f32[6 32]\n%p = add %e %o : f32[6 32]\n"
		usual = erf + "%a = mul %x %h : f32[6 32]\n%y = mul %a %p : f32[6 32]\n"
		// As rewriting lays out three places with a zero on both sides.
		convolution = "%c = reshape %y : f32[1 6 32]\n%d = pad %c before=[0 2 0] after=[0 2 0] value=0x0 : f32[1 10 32]\n%f = window %d axes=[1] size=3 stride=1 dilation=2 : f32[1 6 32 3]\n%g = contiguous %f : f32[1 6 32 3]\n%q = reshape %g : f32[6 96]\n%k = concat %w %w %w axes=[0] : f32[96 16]\n%m = matmul %q %k : f32[6 16]\n"
		prod        = "%m = matmul %y %w : f32[6 16]\nreturn %m\n"
	)
	for name, c := range map[string]struct {
		text  string
		short bool
	}{
		"as GELU makes it":   {usual + prod, true},
		"divided by a root":  {"%z = div %x %s : f32[6 32]\n%e = erf %z : f32[6 32]\n%p = add %o %e : f32[6 32]\n%a = mul %h %x : f32[6 32]\n%y = mul %p %a : f32[6 32]\n" + prod, true},
		"half comes last":    {erf + "%a = mul %p %x : f32[6 32]\n%y = mul %a %h : f32[6 32]\n" + prod, true},
		"half comes first":   {"%z = mul %r %x : f32[6 32]\n%e = erf %z : f32[6 32]\n%p = add %e %o : f32[6 32]\n%a = mul %h %p : f32[6 32]\n%y = mul %x %a : f32[6 32]\n" + prod, true},
		"two products":       {usual + "%m = matmul %y %w : f32[6 16]\n%n = matmul %y %v : f32[6 16]\nreturn %m %n\n", true},
		"through views":      {usual + "%t = reshape %y : f32[2 3 32]\n%q = permute %t axes=[1 0 2] : f32[3 2 32]\n%k = reshape %w : f32[1 32 16]\n%l = expand %k : f32[3 32 16]\n%m = matmul %q %l : f32[3 2 16]\nreturn %m\n", true},
		"of a convolution":   {usual + convolution + "return %m\n", true},
		"of another as well": {usual + convolution + "%n = exp %d : f32[1 10 32]\nreturn %m %n\n", false},
		"an output too":      {usual + "%m = matmul %y %w : f32[6 16]\nreturn %m %y\n", false},
		"its view an output": {usual + "%q = permute %y axes=[1 0] : f32[32 6]\n%m = matmul %y %w : f32[6 16]\nreturn %m %q\n", false},
		"others read it":     {usual + "%n = exp %y : f32[6 32]\n%m = matmul %y %w : f32[6 16]\nreturn %m %n\n", false},
		"no product":         {usual + "return %y\n", false},
		"product of data":    {usual + "%q = permute %x axes=[1 0] : f32[32 6]\n%m = matmul %y %q : f32[6 6]\nreturn %m\n", false},
		"on the right":       {usual + "%q = permute %y axes=[1 0] : f32[32 6]\n%k = permute %w axes=[1 0] : f32[16 32]\n%m = matmul %k %q : f32[16 6]\nreturn %m\n", false},
		"another factor":     {erf + "%a = mul %x %o : f32[6 32]\n%y = mul %a %p : f32[6 32]\n" + prod, false},
		"another argument":   {"%z = mul %x %h : f32[6 32]\n%e = erf %z : f32[6 32]\n%p = add %e %o : f32[6 32]\n%a = mul %x %h : f32[6 32]\n%y = mul %a %p : f32[6 32]\n" + prod, false},
		"erf of a third":     {"%b = exp %x : f32[6 32]\n%z = mul %b %r : f32[6 32]\n%e = erf %z : f32[6 32]\n%p = add %e %o : f32[6 32]\n%a = mul %x %p : f32[6 32]\n%y = mul %a %h : f32[6 32]\n" + prod, false},
		"erf of another":     {"%b = exp %x : f32[6 32]\n%z = mul %b %r : f32[6 32]\n%e = erf %z : f32[6 32]\n%p = add %e %o : f32[6 32]\n%a = mul %x %h : f32[6 32]\n%y = mul %a %p : f32[6 32]\n" + prod, false},
	} {
		g := parse(t, "graph\nleaf 0 input \"x\" f32[6 32]\nleaf 1 weight \"w\" f32[32 16]\nleaf 2 weight \"v\" f32[32 16]\n%x = input : f32[6 32]\n%w = weight leaf=1 : f32[32 16]\n%v = weight leaf=2 : f32[32 16]\n"+gelu+c.text)
		for _, noOpt := range [][]string{nil, {"all"}} {
			after := runTwice(t, g, Options{Precision: ir.I8, NoOpt: noOpt, Check: true})
			if exact := slices.ContainsFunc(after.Nodes, func(n *ir.Node) bool { return n.Op == ir.Erf }); exact == c.short {
				t.Errorf("%s, without %v: %v", name, noOpt, after)
			}
		}
	}
}
