package ir

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// builder with a few leaves, failing the test on any error.
type fixture struct {
	*Builder
	t *testing.T
}

func newFixture(t *testing.T) *fixture { return &fixture{NewBuilder(nil), t} }

func (f *fixture) add(op Op, a Attr, in ...*Node) *Node {
	f.t.Helper()
	n, err := f.Add(op, a, in...)
	if err != nil {
		f.t.Fatal(err)
	}
	return n
}

func (f *fixture) leaf(kind Op, name string, storage any, d DType, s Shape) *Node {
	f.t.Helper()
	n, err := f.AddLeaf(Leaf{Kind: kind, Name: name, Storage: storage, Type: Type{d, s}})
	if err != nil {
		f.t.Fatal(err)
	}
	return n
}

func TestBuilderMerges(t *testing.T) {
	f := newFixture(t)
	x, y := f.leaf(Input, "x", nil, F32, Static(4)), f.leaf(Input, "y", nil, F32, Static(4))
	key := f.leaf(Input, "key", nil, U32, Static(4))
	add := f.add(Add, Attr{}, x, y)
	sub := f.add(Sub, Attr{}, x, y)
	random := f.add(Rand, Attr{Shape: Static(3), Leaf: 1}, key)
	one := func(d DType) *Node { return f.add(Const, Attr{DType: d, Value: 1}) }
	tests := []struct {
		name string
		a, b *Node
		same bool
	}{
		{"a sum", add, f.add(Add, Attr{}, x, y), true},
		{"a sum with its operands exchanged", add, f.add(Add, Attr{}, y, x), true},
		{"a difference", sub, f.add(Sub, Attr{}, x, y), true},
		{"a difference with its operands exchanged", sub, f.add(Sub, Attr{}, y, x), false},
		{"a region", add, f.add(Add, Attr{Region: 1}, x, y), false},
		{"two regions", f.add(Add, Attr{Region: 1}, x, y), f.add(Add, Attr{Region: 2}, x, y), false},
		{"one draw", random, f.add(Rand, Attr{Shape: Static(3), Leaf: 1}, key), true},
		{"two draws", random, f.add(Rand, Attr{Shape: Static(3), Leaf: 2}, key), false},
		{"constants", one(F32), one(F32), true},
		{"constants of other types", one(U32), one(I32), false},
		{"casts to other types", f.add(Cast, Attr{DType: F64}, x), f.add(Cast, Attr{DType: F16}, x), false},
		{"axes", f.add(ReduceSum, Attr{Axes: []int{0}}, x), f.add(ReduceMax, Attr{Axes: []int{0}}, x), false},
		{"two leaves", x, y, false},
	}
	for _, tt := range tests {
		if (tt.a == tt.b) != tt.same {
			t.Errorf("%s: %v and %v", tt.name, tt.a, tt.b)
		}
	}
	if n, err := f.ReadLeaf(0); n != x || err != nil {
		t.Errorf("reading a leaf again gives %v, %v", n, err)
	}
}

func TestBuilderRefuses(t *testing.T) {
	f, other := newFixture(t), newFixture(t)
	x := f.leaf(Input, "x", nil, F32, Static(4))
	y := other.leaf(Input, "y", nil, F32, Static(4))
	for what, in := range map[string]*Node{"a node of another graph": y, "no node": nil} {
		if n, err := f.Add(Add, Attr{}, x, in); err == nil {
			t.Errorf("%s as an operand: %v", what, n)
		}
	}
	for _, i := range []int{-1, 1} {
		if n, err := f.ReadLeaf(i); err == nil {
			t.Errorf("leaf %d: %v", i, n)
		}
	}
	if n, err := f.Add(opCount+7, Attr{}, x); err == nil {
		t.Errorf("an unknown operation: %v", n)
	}
}

// Finish keeps what outputs need, in the order of first visit.
func TestFinish(t *testing.T) {
	f := newFixture(t)
	unused := f.leaf(Input, "unused", nil, F32, Static(2))
	f.add(Neg, Attr{}, unused)
	b := f.leaf(Input, "b", nil, F32, Static(2))
	a := f.leaf(Input, "a", nil, F32, Static(2))
	g := f.Finish(f.add(Sub, Attr{}, a, b), b)
	want := `graph
leaf 0 input "a" f32[2]
leaf 1 input "b" f32[2]
%0 = input : f32[2]
%1 = input leaf=1 : f32[2]
%2 = sub %0 %1 : f32[2]
return %2 %1
`
	if g.String() != want {
		t.Errorf("got\n%v\nwant\n%s", g, want)
	}
	if err := Check(g); err != nil {
		t.Error(err)
	}
	again, err := Rebuild(g, Copy)
	if err != nil || again.String() != want {
		t.Errorf("rebuilt: %v, %v", again, err)
	}
	if users := g.Users(); len(users[0]) != 1 || len(users[1]) != 1 || len(users[2]) != 0 {
		t.Errorf("users: %v", users)
	}
}

// A graph deeper than any stack would be comfortable with.
func TestFinishDeep(t *testing.T) {
	f := newFixture(t)
	x := f.leaf(Input, "x", nil, F32, Static(1))
	n := x
	for range 100_000 {
		n = f.add(Add, Attr{}, n, x)
	}
	if g := f.Finish(n); len(g.Nodes) != 100_001 || g.Nodes[50_000].ID != 50_000 {
		t.Errorf("%d nodes", len(g.Nodes))
	}
}

// example holds every kind of attribute and of leaf.
func example(t *testing.T, name string, weight, bound any, hi int) *Graph {
	f := newFixture(t)
	n := Sym("N", 1, hi)
	x := f.leaf(Input, name, nil, F32, Shape{n, N(4), N(8)})
	o := f.leaf(Input, name+" offsets", nil, I32, Shape{Sym("B", 1, 8).Plus(1)})
	w := f.leaf(Weight, name+".weight", weight, F32, Static(8, 8))
	c := f.leaf(Bound, "", bound, F32, Static(8, 8))
	v := f.leaf(Variable, "v", new(int), F32, Static(8, 8))
	q := f.add(Reshape, Attr{Shape: Shape{n.Mul(N(4)), N(8)}}, x)
	q = f.add(MatMul, Attr{}, q, f.add(Add, Attr{}, w, c))
	q = f.add(Reshape, Attr{Shape: Shape{n, N(4), N(8)}}, q)
	a := f.add(Attention, Attr{Attention: &AttentionAttr{Scale: 0.125, Causal: true, Ragged: true, Window: 3, SoftCap: 2.5}}, q, x, x, o, o)
	y := f.add(Pad, Attr{Before: Shape{n, N(0), N(1)}, After: Shape{N(2), N(0), N(0)}, Value: 0xff800000}, f.add(Get, Attr{}, a))
	y = f.add(Slice, Attr{Starts: Shape{n, N(0), N(1)}, Steps: []int{1, 2, 1}, Shape: Shape{n, N(2), N(8)}}, y)
	s := f.add(Get, Attr{Out: 1}, f.add(Sort, Attr{Axes: []int{1}, Descending: true}, y))
	m := f.add(Scan, Attr{Axes: []int{2}, Mode: "max"}, y)
	z := f.add(Const, Attr{DType: F32, Value: 0x3f800000})
	z = f.add(Expand, Attr{Shape: Static(8, 8)}, f.add(Reshape, Attr{Shape: Static(1, 1)}, z))
	step := f.add(Assign, Attr{Leaf: v.Attr.Leaf}, v, f.add(Mul, Attr{Region: 2}, v, z))
	return f.Finish(s, m, step, f.add(Get, Attr{Out: 1}, a))
}

func TestPrintGolden(t *testing.T) {
	want, err := os.ReadFile("testdata/example.txt")
	if err != nil {
		t.Fatal(err)
	}
	g := example(t, "x", new(int), new(int), 64)
	if g.String() != string(want) {
		t.Errorf("got\n%v\nwant\n%s", g, want)
	}
	if err := Check(g); err != nil {
		t.Error(err)
	}
	again, err := Parse(g.String())
	if err != nil {
		t.Fatal(err)
	}
	if again.String() != g.String() {
		t.Errorf("reads back as\n%v", again)
	}
}

// The hash goes by what is computed: it is the same in every process, and
// leaves out names and identities, but not which leaves share storage.
func TestHash(t *testing.T) {
	p, q := new(int), new(int)
	h := example(t, "x", p, q, 64).Hash()
	if h.String() != "19b2563cfff2d167a0959936ca74ebc2" {
		t.Errorf("the hash is %v: if the meaning of graphs was to change, write it here", h)
	}
	if got := example(t, "another name", q, new(int), 64).Hash(); got != h {
		t.Error("names or identities are in the hash")
	}
	if got := example(t, "x", p, p, 64).Hash(); got == h {
		t.Error("which leaves share storage is not in the hash")
	}
	if got := example(t, "x", p, q, 65).Hash(); got == h {
		t.Error("the bounds of symbols are not in the hash")
	}
	f := newFixture(t)
	x := f.leaf(Input, "x", nil, F32, Static(2))
	base := f.Finish(x).Hash()
	for what, change := range map[string]func(f *fixture) *Node{
		"kind":  func(f *fixture) *Node { return f.leaf(Bound, "x", nil, F32, Static(2)) },
		"dtype": func(f *fixture) *Node { return f.leaf(Input, "x", nil, I32, Static(2)) },
		"shape": func(f *fixture) *Node { return f.leaf(Input, "x", nil, F32, Static(1, 2)) },
		"nodes": func(f *fixture) *Node { return f.add(Neg, Attr{}, f.leaf(Input, "x", nil, F32, Static(2))) },
	} {
		f := newFixture(t)
		if f.Finish(change(f)).Hash() == base {
			t.Errorf("another %s gives the same hash", what)
		}
	}
}

// Each damage to a sound graph is found.
func TestCheckFinds(t *testing.T) {
	tests := []struct {
		name   string
		damage func(g *Graph)
		want   string
	}{
		{"no outputs", func(g *Graph) { g.Outputs = nil }, "no outputs"},
		{"a wrong number", func(g *Graph) { g.Nodes[3].ID = 4 }, "not numbered"},
		{"a missing node", func(g *Graph) { g.Nodes[3] = nil }, "not numbered"},
		{"a wrong order", func(g *Graph) {
			g.Nodes[1], g.Nodes[5] = g.Nodes[5], g.Nodes[1]
			g.Nodes[1].ID, g.Nodes[5].ID = 1, 5
		}, "does not come before"},
		{"a foreign operand", func(g *Graph) { c := *g.Nodes[1].In[0]; g.Nodes[1].In[0] = &c }, "does not come before"},
		{"a foreign output", func(g *Graph) { c := *g.Outputs[0]; g.Outputs[0] = &c }, "does not come before"},
		{"a wrong shape", func(g *Graph) { g.Nodes[0].Shape = Static(1) }, "stored"},
		{"a wrong dtype", func(g *Graph) { g.Nodes[5].DType = F64 }, "stored is"},
		{"a wrong second output", func(g *Graph) { find(g, Attention).Outs[1].DType = F64 }, "output 1"},
		{"no outputs stored", func(g *Graph) { find(g, Attention).Outs = nil }, "stored is"},
		{"an attribute too many", func(g *Graph) { find(g, MatMul).Attr.Axes = []int{0} }, "does not take"},
		{"an attribute too few", func(g *Graph) { find(g, Scan).Attr.Mode = "" }, "unknown mode"},
		{"a duplicate", func(g *Graph) { find(g, Mul).Attr.Region = 0; duplicate(g) }, "same as"},
		{"a dead node", func(g *Graph) { g.Outputs = g.Outputs[:3] }, "not needed"},
		{"a leaf that is not read", func(g *Graph) { g.Leaves = append(g.Leaves, Leaf{Kind: Bound}) }, "not read"},
		{"a leaf of another type", func(g *Graph) { g.Leaves[0].Type.DType = F16 }, "does not fit leaf 0"},
		{"a leaf of another kind", func(g *Graph) { g.Leaves[2].Kind = Variable }, "does not fit leaf"},
		{"a leaf of no kind", func(g *Graph) { g.Leaves[2].Kind = Neg }, "of kind neg"},
		{"inputs of one name", func(g *Graph) {
			for i := range g.Leaves {
				g.Leaves[i].Name = "same"
			}
		}, "two inputs"},
		{"an input with storage", func(g *Graph) { g.Leaves[0].Storage = new(int) }, "has storage"},
		{"storage that cannot be compared", func(g *Graph) { g.Leaves[1].Storage = []byte{} }, "use a pointer"},
		{"two bounds of a symbol", func(g *Graph) {
			for _, n := range g.Nodes {
				if n.Op == Input && n.DType == I32 {
					n.Shape = Shape{Sym("N", 1, 5).Plus(1)}
					n.Attr.Shape = n.Shape
					g.Leaves[n.Attr.Leaf].Type.Shape = n.Shape
					break
				}
			}
		}, "lies between"},
		{"a symbol that does not print", func(g *Graph) {
			n := g.Nodes[0]
			n.Shape = Shape{Sym("a b", 1, 5), N(4), N(8)}
			n.Attr.Shape = n.Shape
			g.Leaves[0].Type.Shape = n.Shape
		}, "size name"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := example(t, "x", new(int), new(int), 64)
			tt.damage(g)
			if err := Check(g); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

func find(g *Graph, op Op) *Node {
	for _, n := range g.Nodes {
		if n.Op == op {
			return n
		}
	}
	return nil
}

// duplicate appends a copy of the product, its operands exchanged, as an
// output.
func duplicate(g *Graph) {
	c := *find(g, Mul)
	c.ID = len(g.Nodes)
	c.In = []*Node{c.In[1], c.In[0]}
	g.Nodes = append(g.Nodes, &c)
	g.Outputs = append(g.Outputs, &c)
}

func TestParseRefuses(t *testing.T) {
	leaf := "graph\nleaf 0 input \"x\" f32[2]\n%0 = input : f32[2]\n"
	tests := []struct{ text, want string }{
		{"", "no return"},
		{"grph\n", "want graph"},
		{"graph\n", "no return"},
		{"graph\nreturn\n", "nothing is returned"},
		{"graph\nreturn %0\n", "no node"},
		{leaf + "return %0\n%1 = neg %0 : f32[2]\n", "text after return"},
		{leaf + "return 0\n", "no node"},
		{leaf + "what\n", "unknown line"},
		{leaf + "%0 = input : f32[2]\n", "comes twice"},
		{leaf + "%1 = neg %0\n", "has no type"},
		{leaf + "%1 = neg %0 : f32\n", "no type"},
		{leaf + "%1 = neg %0 : f31[2]\n", "unknown dtype"},
		{leaf + "%1 = neg %0 : f32[2\n", "no list"},
		{leaf + "%1 = neg %0 : f32[M]\n", "neither a number nor a symbol"},
		{leaf + "%1 = neg %0 : f32[3]\n", "the line says"},
		{leaf + "%1 = neg %0 : f32[2], f32[2]\n", "1 outputs"},
		{leaf + "%1 = nag %0 : f32[2]\n", "unknown operation"},
		{leaf + "%1 = neg %2 : f32[2]\n", "no node"},
		{leaf + "%1 = neg %0 colour=3 : f32[2]\n", "unknown attribute"},
		{leaf + "%1 = sum %0 axes=[x] : f32[1]\n", "attribute axes"},
		{leaf + "%1 = sum %0 axes=0 : f32[1]\n", "attribute axes"},
		{leaf + "%1 = scan %0 axes=[0] mode=sum : f32[2]\n", "attribute mode"},
		{leaf + "% = neg %0 : f32[2]\n", "want %LABEL"},
		{leaf + "leaf 1 input \"y\" f32[2]\n", "before nodes"},
		{"graph\nleaf 1 input \"y\" f32[2]\n", "want 0"},
		{"graph\nleaf 0 neg \"y\" f32[2]\n", "no kind of leaf"},
		{"graph\nleaf 0 input y f32[2]\n", "the name of leaf"},
		{"graph\nleaf 0 input \"y\" f32[2 2-]\n", "size"},
		{"graph\nsymbol N 1\n", "want symbol"},
		{"graph\nsymbol N 1 x\n", "invalid syntax"},
		{"graph\nsymbol N 5 1\n", "want 0 <= min <= max"},
		{"graph\nsymbol -N 1 2\n", "size name"},
		{"graph\nsymbol N 1 2\nsymbol N 1 2\n", "comes twice"},
		{"graph\nsymbol N 1 2\nleaf 0 input \"x\" f32[" + strings.Repeat("N*", 40) + "N]\n", "factors"},
		{"graph\nsymbol N 1 2\nleaf 0 input \"x\" f32[" + strings.Repeat("N+", 2000) + "N]\n", "too many terms"},
		{"graph\nleaf 0 input \"x\" f32[" + strings.Repeat("1 ", 40) + "1]\n", "rank 41"},
	}
	for _, tt := range tests {
		g, err := Parse(tt.text)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%.80q: %v (%v), want %q", tt.text, err, g, tt.want)
		}
	}
}

// Sizes may be written in any order; blank lines and comments are skipped;
// equal nodes merge; references are any word.
func TestParseIsLenient(t *testing.T) {
	g, err := Parse(`
# a comment
graph
symbol B 1 8
symbol A 1 8

leaf 0 input "x" f32[1+B*2*A+B+0]
  %x = input : f32[2*A*B+B+1]
%one = neg %x : f32[B+2*B*A+1]
%two = neg %x : f32[2*A*B+B+1]
%sum = add %one %two : f32[2*A*B+B+1]
return %sum %sum
`)
	if err != nil {
		t.Fatal(err)
	}
	want := `graph
symbol A 1 8
symbol B 1 8
leaf 0 input "x" f32[2*A*B+B+1]
%0 = input : f32[2*A*B+B+1]
%1 = neg %0 : f32[2*A*B+B+1]
%2 = add %1 %1 : f32[2*A*B+B+1]
return %2 %2
`
	if g.String() != want {
		t.Errorf("got\n%vwant\n%s", g, want)
	}
}

// Whatever the text, Parse returns; what it accepts is sound and reads back.
func FuzzParse(f *testing.F) {
	golden, err := os.ReadFile("testdata/example.txt")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(golden))
	f.Add(operands + "return %f %s\n")
	for _, l := range strings.Split(string(golden), "\n") {
		f.Add("graph\n" + l + "\nreturn %0\n")
	}
	f.Fuzz(func(t *testing.T, text string) {
		g, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(g.String())
		if err != nil {
			t.Fatalf("%v\n%v", err, g)
		}
		if again.String() != g.String() {
			t.Fatalf("%v\nreads back as\n%v", g, again)
		}
		if g.Hash() != again.Hash() {
			t.Fatal("the hash has changed")
		}
	})
}

// Damaged texts are refused or read, never more.
func TestParseSurvivesDamage(t *testing.T) {
	golden, err := os.ReadFile("testdata/example.txt")
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 20000 {
		text := append([]byte(nil), golden...)
		for range 1 + rng.IntN(3) {
			i := rng.IntN(len(text))
			switch rng.IntN(3) {
			case 0:
				text[i] = golden[rng.IntN(len(golden))]
			case 1:
				text = append(text[:i], text[i+1:]...)
			default:
				j := min(len(text), i+rng.IntN(40))
				text = append(text[:i], append(append([]byte(nil), text[i:j]...), text[i:]...)...)
			}
		}
		if g, err := Parse(string(text)); err == nil {
			if again, err := Parse(g.String()); err != nil || again.String() != g.String() {
				t.Fatalf("%v\n%s", err, text)
			}
		}
	}
}
