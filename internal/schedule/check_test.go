package schedule

import (
	"slices"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// chained, with a kernel for each node: exp writes b4, neg b5, reducemax output
// b2; another neg b6, from which gather takes the indices for output b3.
const chained = `graph
leaf 0 input "x" f32[64]
leaf 1 input "at" i32[4]
%0 = input : f32[64]
%1 = input leaf=1 : i32[4]
%2 = exp %0 : f32[64]
%3 = neg %2 : f32[64]
%4 = reducemax %3 axes=[0] : f32[1]
%5 = neg %1 : i32[4]
%6 = gather %3 %5 axes=[0] : f32[4]
return %4 %6
`

// Every way in which a plan can give wrong results is refused, and the error
// tells where it goes wrong.
func TestCheckRefuses(t *testing.T) {
	for _, c := range []struct {
		name  string
		text  string
		spoil func(t *testing.T, p *Plan)
		want  string
	}{
		{"two kernels swapped", chained, func(t *testing.T, p *Plan) {
			p.Kernels[0], p.Kernels[1] = p.Kernels[1], p.Kernels[0]
		}, "kernel 0 neg reads b4 before it is written: kernel 1 exp writes it"},
		{"a kernel dropped", chained, func(t *testing.T, p *Plan) {
			p.Kernels = p.Kernels[1:]
		}, "kernel 0 neg reads b4 before it is written: no kernel writes it"},
		{"an output's kernel dropped", chained, func(t *testing.T, p *Plan) {
			p.Kernels = p.Kernels[:len(p.Kernels)-1]
		}, "output 1, b3, is never written"},
		{"an output without a buffer", chained, func(t *testing.T, p *Plan) {
			p.Graph.Outputs = append(p.Graph.Outputs, p.Graph.Outputs[0])
		}, "output 2 has no buffer"},
		{"an output with two buffers", chained, func(t *testing.T, p *Plan) {
			p.Buffers[3].Number = 0
		}, "b3 is output 0 once more"},
		{"a kernel that runs twice", chained, func(t *testing.T, p *Plan) {
			p.Kernels = slices.Insert(p.Kernels, 1, p.Kernels[0])
		}, "kernel 1 exp writes b4 again"},
		{"a leaf written", chained, func(t *testing.T, p *Plan) {
			p.Buffers[4] = p.Buffers[0]
		}, "kernel 0 exp writes b4, a leaf"},
		{"a temp that ends before it is read", chained, func(t *testing.T, p *Plan) {
			p.Buffers[5].Last--
		}, "kernel 4 gather reads b5, which has its memory in kernels 1 to 3 alone"},
		{"a temp that begins after it is written", chained, func(t *testing.T, p *Plan) {
			p.Buffers[4].First++
		}, "kernel 0 exp writes b4, which has its memory in kernels 1 to 1 alone"},
		{"indices that end with their kernel", chained, func(t *testing.T, p *Plan) {
			p.Buffers[6].Last = 4
		}, "kernel 4 gather takes gather indices, looked at again after the run, from b6"},
		{"indices that nobody writes", chained, func(t *testing.T, p *Plan) {
			p.Kernels[4].Checks[0].Buffer = len(p.Buffers)
		}, "takes gather indices from b7, which is not written"},
		{"an update of nothing", chained, func(t *testing.T, p *Plan) {
			params := p.Kernels[0].Params()
			params[len(params)-1].Use = loop.Update
		}, "kernel 0 exp reads b4 before it is written: kernel 0 exp writes it"},
		{"a wrong dtype", chained, func(t *testing.T, p *Plan) {
			p.Buffers[4].DType = ir.I32
		}, "b4 is i32[64]"},
		{"an argument too few", chained, func(t *testing.T, p *Plan) {
			p.Kernels[0].Args = p.Kernels[0].Args[:1]
		}, "kernel 0 exp has 2 params, 1 arguments"},
		{"a buffer that is not there", chained, func(t *testing.T, p *Plan) {
			p.Kernels[0].Args[0] = 99
		}, "kernel 0 exp takes b99, which is no buffer"},
		{"a buffer for scratch", chained, func(t *testing.T, p *Plan) {
			p.Kernels[0].Args[0] = -1
		}, "kernel 0 exp has a param p0 that disagrees"},
		{"what is kept is dropped", scaled, func(t *testing.T, p *Plan) {
			p.Buffers[constantBuffer(t, p)].Kind = InterimBuffer
		}, "is gone when the constant kernels have run"},
		{"what is kept is written in every run", scaled, func(t *testing.T, p *Plan) {
			for _, k := range p.Kernels {
				k.Constant = false
			}
		}, "which is kept with the weights"},
	} {
		p := planOf(t, strings.ReplaceAll(c.text, "KIND", "weight"), "fuse")
		c.spoil(t, p)
		if err := p.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q\n%v", c.name, err, c.want, p)
		}
	}
}

func constantBuffer(t *testing.T, p *Plan) int {
	t.Helper()
	at := slices.IndexFunc(p.Buffers, func(b Buffer) bool { return b.Kind == ConstantBuffer })
	if at < 0 {
		t.Fatalf("nothing is kept by\n%v", p)
	}
	return at
}

// Packings that break what Pack promises are refused.
func TestCheckPackingRefuses(t *testing.T) {
	temp := func(elements, first, last int) Buffer {
		return Buffer{Kind: TempBuffer, DType: ir.F32, Len: ir.N(elements), First: first, Last: last}
	}
	// b0 and b2 share their place one after the other; b3 is empty.
	p := &Plan{Buffers: []Buffer{temp(32, 0, 1), temp(16, 1, 2), temp(32, 2, 3), temp(0, 0, 3)}}
	for _, c := range []struct {
		name    string
		offsets []int
		size    int
		apart   bool
		want    string
	}{
		{"fine", []int{0, 128, 0, 0}, 192, false, ""},
		{"shared where nothing may be", []int{0, 128, 0, 0}, 192, true, "b0 at 0 and b2 at 0 overlap"},
		{"apart", []int{0, 128, 192, 0}, 320, true, ""},
		{"begins within the one before it", []int{0, 64, 128, 0}, 256, false, "b0 at 0 and b1 at 64 overlap, and both hold values in kernel 1"},
		{"ends within the one behind it", []int{256, 128, 64, 0}, 384, false, "b1 at 128 and b2 at 64 overlap, and both hold values in kernel 2"},
		{"same place", []int{0, 0, 128, 0}, 256, false, "b0 at 0 and b1 at 0 overlap"},
		{"beyond the arena", []int{0, 128, 0, 0}, 191, false, "b1 lies at 128 to 192 of an arena of 191 bytes"},
		{"no place", []int{0, -1, 0, 0}, 192, false, "b1 lies at -1"},
		{"between lines", []int{0, 136, 0, 0}, 256, false, "b1 lies at 136"},
		{"of another plan", []int{0, 128}, 192, false, "another plan"},
	} {
		err := p.CheckPacking(&Arena{Offsets: c.offsets, Size: c.size}, nil, !c.apart)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v; want %q", c.name, err, c.want)
		}
	}
}
