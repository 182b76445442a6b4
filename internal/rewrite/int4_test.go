package rewrite

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/int4"
	"github.com/sinterml/sinter/internal/ir"
)

// packWeights is PackWeights with the values of the leaves that come out.
func packWeights(t *testing.T, g *ir.Graph, data [][]byte, order int4.Order, o Options) (*ir.Graph, [][]byte, []Packed) {
	t.Helper()
	text := g.String()
	small, packed, err := PackWeights(g, order, o)
	if err != nil {
		t.Fatalf("%v\n%v", err, g)
	}
	if g.String() != text {
		t.Fatalf("the graph handed in has changed from\n%s\nto\n%v", text, g)
	}
	values := make([][]byte, len(small.Leaves))
	for i, l := range small.Leaves {
		if at := slices.IndexFunc(g.Leaves, func(m ir.Leaf) bool { return m.Name == l.Name }); at >= 0 {
			values[i] = data[at]
		}
	}
	for _, p := range packed {
		w, _ := evaluate(t, p.Of, nil, dataFor(g, p.Of, data))
		shape, _ := p.Of.Outputs[0].Shape.Ints()
		for _, leaf := range []int{p.Codes, p.Scales} {
			n, _ := small.Leaves[leaf].Type.Shape.Numel().Const()
			values[leaf] = make([]byte, n*small.Leaves[leaf].Type.DType.Size())
		}
		short := make([]float32, len(w[0])/4)
		for i := range short {
			short[i] = math.Float32frombits(binary.LittleEndian.Uint32(w[0][4*i:]))
		}
		if err := int4.Pack(values[p.Codes], values[p.Scales], short, shape, order); err != nil {
			t.Fatal(err)
		}
	}
	return small, values, packed
}

// unpacked is weight (k, n) of a matrix, by the words of package int4.
func unpacked(codes, scales []byte, order int4.Order, batch, groups, cols, k, n int) float64 {
	place := (batch*groups*16+k/2)*cols + n
	if order == int4.Panels {
		place = ((batch*((cols+63)/64)+n/64)*groups*16+k/2)*64 + n%64
	}
	code := codes[place]
	if k%2 == 1 {
		code >>= 4
	}
	at := (batch*groups+k/32)*cols + n
	scale := ir.BF16ToFloat32(binary.LittleEndian.Uint16(scales[2*at:]))
	return float64(scale) * float64(int(code&15)-8)
}

// A product with packed weights is the sum over data, rounded to bf16, times what
// codes and scales stand for, whatever way data and weights come; and half a step
// of each group off, at most, what was written.
func TestPackedProducts(t *testing.T) {
	for seed := range 12 * graphs() / 10 {
		c := newProductCase(seed)
		c.k += int(seed % 90)     // over several groups, the last of any size
		c.n += int(seed % 5 * 20) // and panels
		g, data := c.graph(t, int(seed)%dataWays, int(seed/dataWays)%weightWays)
		o := Options{Check: true}
		if seed%2 == 0 {
			o.NoOpt = []string{"all"}
		}
		order := int4.Order(seed%3 > 0)
		want, _ := evaluate(t, g, nil, data)
		x, w := floats(want[1]), floats(want[2])
		alone := *g // the weights themselves, shown, would stay as they are
		alone.Outputs = g.Outputs[:1]
		one, err := ir.Rebuild(&alone, ir.Copy)
		if err != nil {
			t.Fatal(err)
		}
		small, values, packed := packWeights(t, one, dataFor(g, one, data), order, o)
		if len(packed) != 1 {
			t.Fatalf("seed %d: %d packed\n%v", seed, len(packed), small)
		}
		got, _ := evaluate(t, small, nil, values)
		codes, scales := values[packed[0].Codes], values[packed[0].Scales]
		groups := (c.k + 31) / 32
		batches := len(scales) / 2 / groups / c.n
		for i, v := range floats(got[0]) {
			col, row, batch := i%c.n, i/c.n%c.m, i/c.n/c.m
			sum, size, far, exact := 0.0, 0.0, 0.0, 0.0
			for k := range c.k {
				xv := x[(batch*c.m+row)*c.k+k]
				short := float64(ir.BF16ToFloat32(ir.BF16FromFloat32(float32(xv))))
				q := unpacked(codes, scales, order, batch%batches, groups, c.n, k, col)
				sum, size = sum+short*q, size+math.Abs(short*q)
				wv := w[(batch*c.k+k)*c.n+col]
				exact += xv * wv
				far += math.Abs(xv*(q-wv)) + math.Abs(q)*math.Abs(xv)*0x1p-8
			}
			if limit := size*0x1p-22 + 0x1p-140; !(math.Abs(v-sum) <= limit) {
				t.Fatalf("seed %d: element %d %d %d is %v, of codes %v\n%v", seed, batch, row, col, v, sum, small)
			}
			if !(math.Abs(v-exact) <= far*1.0001+size*0x1p-22+0x1p-140) {
				t.Fatalf("seed %d: element %d %d %d is %v, as written %v", seed, batch, row, col, v, exact)
			}
		}
	}
}

// packable is a graph of products that share weights, of which some are none to
// be packed.
const packable = `graph
symbol n 0 9
leaf 0 input "x" f32[n 40]
leaf 1 weight "w" f32[40 48]
leaf 2 input "unread" f32[n]
leaf 3 variable "v" f32[40 48]
leaf 4 weight "narrow" f32[40 15]
leaf 5 weight "u" f32[40 16]
%x = input : f32[n 40]
%w = weight leaf=1 : f32[40 48]
%a = matmul %x %w : f32[n 48]
%unread = input leaf=2 : f32[n]
%yes = const value=0x1 : bool[]
%yes1 = reshape %yes : bool[1]
%always = expand %yes1 : bool[n]
%zero = const : f32[]
%zero1 = reshape %zero : f32[1]
%zeros = expand %zero1 : f32[n]
%none = where %always %zeros %unread : f32[n]
%v = variable leaf=3 : f32[40 48]
%b = matmul %x %v : f32[n 48]
%m = weight leaf=4 : f32[40 15]
%c = matmul %x %m : f32[n 15]
%ab = exp %x : f32[n 40]
%d = matmul %ab %w : f32[n 48]
%u = weight leaf=5 : f32[40 16]
%f = matmul %x %u : f32[n 16]
return %a %b %c %d %f %none
`

// Variables and narrow products stay as written; a weight that several products
// read is packed once; products of the same data are merged before, but for those
// of other formats; inputs stay, and the weights that were packed go.
func TestPackWeights(t *testing.T) {
	g := parse(t, packable)
	for _, c := range []struct {
		off    []string
		packed int
	}{{[]string{"all"}, 2}, {nil, 2}} {
		small, packed, err := PackWeights(g, int4.Rows, Options{NoOpt: c.off, Check: true})
		if err != nil {
			t.Fatal(err)
		}
		if len(packed) != c.packed {
			t.Errorf("without %v: %d packed\n%v", c.off, len(packed), small)
		}
		var names []string
		for _, l := range small.Leaves {
			names = append(names, l.Name)
		}
		slices.Sort(names)
		all := strings.Join(names, " ")
		if !strings.Contains(all, "unread") || !strings.Contains(all, " v") || !strings.Contains(all, "narrow") || !strings.Contains(all, "w.codes") || slices.Contains(names, "u") {
			t.Errorf("without %v: leaves %s", c.off, all)
		}
		if merged := !strings.Contains(all, "u.codes"); merged != (c.off == nil) {
			t.Errorf("without %v: leaves %s", c.off, all)
		}
		for _, p := range packed {
			codes, scales := small.Leaves[p.Codes].Type, small.Leaves[p.Scales].Type
			shape := p.Of.Outputs[0].Shape
			if fmt.Sprint(codes.Shape[0], scales.Shape[0], shape[0]) != "32 2 40" || !codes.Shape[1].Equal(shape[1]) {
				t.Errorf("%v and %v for %v", codes, scales, shape)
			}
		}
	}
	none := parse(t, strings.ReplaceAll(double, "\r", ""))
	if same, packed, err := PackWeights(none, int4.Panels, Options{}); err != nil || len(packed) != 0 || same.String() == "" {
		t.Errorf("%v, %d packed", err, len(packed))
	}
}
