package inspect_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/cpu"
	_ "github.com/sinterml/sinter/internal/effort" // collects garbage less often
	"github.com/sinterml/sinter/internal/inspect"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/ir/irtest"
	"github.com/sinterml/sinter/internal/schedule"
)

// look compiles g and makes its document.
func look(t *testing.T, g *ir.Graph, o device.Options, env ir.Env) (*inspect.Compilation, *inspect.Document) {
	t.Helper()
	d, err := cpu.New(cpu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	c, err := d.Look(context.Background(), g, o)
	if err != nil {
		t.Fatal(err)
	}
	return c, inspect.New(c, inspect.Facts{Env: env})
}

func parse(t *testing.T, text string) *ir.Graph {
	t.Helper()
	g, err := ir.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Every node of every graph comes from nodes of the one before and has become
// some of the next, whatever passes do; every kernel does nodes of the last.
func TestLineageIsComplete(t *testing.T) {
	for seed := range uint64(300) {
		g, _, env := irtest.Random(rand.New(rand.NewPCG(seed, 8)), irtest.Config{})
		c, d := look(t, g, device.Options{}, env)
		before := -1
		for i, s := range d.Stages {
			if s.Same || s.Nodes == nil {
				continue
			}
			if before >= 0 {
				checkStep(t, seed, &d.Stages[before], &d.Stages[i])
			}
			before = i
		}
		last := d.Stages[before].Nodes
		if got := c.Plan.Graph; len(got.Nodes) != len(last) {
			t.Fatalf("seed %d: kernels do %d nodes, the last graph has %d", seed, len(got.Nodes), len(last))
		}
		done := make([]bool, len(last))
		for i, k := range d.Kernels {
			if len(k.Nodes) == 0 {
				t.Errorf("seed %d: kernel %d does nothing", seed, i)
			}
			for _, n := range k.Nodes {
				done[n] = true
			}
		}
		for i, n := range c.Plan.Graph.Nodes {
			if !done[i] && n.Op.Class() != ir.ClassLeaf && n.Op != ir.Get {
				t.Errorf("seed %d: no kernel does %v", seed, n)
			}
		}
	}
}

func checkStep(t *testing.T, seed uint64, before, after *inspect.Stage) {
	t.Helper()
	heirs := make([]int, len(before.Nodes))
	kept, made := 0, 0
	for i, n := range after.Nodes {
		from := n.From
		if n.Copy > 0 {
			kept++
			if from == nil {
				from = []int{n.Copy - 1}
			}
			if !slices.Contains(from, n.Copy-1) {
				t.Errorf("seed %d, %s: node %d is a copy of %d and comes from %v", seed, after.Name, i, n.Copy-1, from)
			}
		} else {
			made++
		}
		if len(from) == 0 {
			t.Errorf("seed %d, %s: node %d comes from nowhere", seed, after.Name, i)
		}
		for _, f := range from {
			heirs[f]++
		}
	}
	for i, n := range heirs {
		if n == 0 {
			t.Errorf("seed %d, %s: nothing has become of node %d", seed, after.Name, i)
		}
	}
	if kept != after.Kept || made != after.Made || len(after.Removed) != len(before.Nodes)-kept {
		t.Errorf("seed %d, %s: %d kept, %d made, %d removed of %d; the stage says %d, %d, %d", seed, after.Name,
			kept, made, len(before.Nodes)-kept, len(before.Nodes), after.Kept, after.Made, len(after.Removed))
	}
}

// A step that merges, and one that makes one node of two, are known as that.
func TestLineage(t *testing.T) {
	g := parse(t, `graph
leaf 0 input "x" f32[8 64]
leaf 1 weight "a" f32[64 16]
leaf 2 weight "b" f32[64 16]
leaf 3 input "z" f32[8 16]
%0 = input : f32[8 64]
%1 = weight leaf=1 : f32[64 16]
%2 = matmul %0 %1 : f32[8 16]
%3 = weight leaf=2 : f32[64 16]
%4 = matmul %0 %3 : f32[8 16]
%5 = input leaf=3 : f32[8 16]
%6 = mul %5 %2 : f32[8 16]
%7 = add %6 %4 : f32[8 16]
return %7
`)
	_, d := look(t, g, device.Options{}, nil)
	want := map[string]string{"merge-products matmul": "matmul matmul", "merge-products concat": "matmul matmul", "fma fma": "mul add"}
	var before []string // operations of the stage before
	for _, s := range d.Stages {
		if len(s.Nodes) == 0 {
			continue
		}
		ops := make([]string, len(s.Nodes))
		for i, n := range s.Nodes {
			if n.Copy > 0 {
				ops[i] = before[n.Copy-1]
				continue
			}
			ops[i] = d.Strings[n.Op]
			var from []string
			for _, f := range n.From {
				from = append(from, before[f])
			}
			if key := s.Name + " " + ops[i]; want[key] != "" {
				if got := strings.Join(from, " "); got != want[key] {
					t.Errorf("%s comes from %q, want %q", key, got, want[key])
				}
				delete(want, key)
			}
		}
		before = ops
	}
	if len(want) > 0 {
		t.Errorf("not made: %v", want)
	}
}

// What a document says of memory is what a run has.
func TestMemoryIsThatOfThePacking(t *testing.T) {
	for seed := range uint64(200) {
		g, _, env := irtest.Random(rand.New(rand.NewPCG(seed, 9)), irtest.Config{})
		for _, o := range []device.Options{{}, {NoOpt: []string{"fuse", "pack-memory"}}} {
			c, d := look(t, g, o, env)
			a, err := c.Plan.Pack(env, o.NoOpt == nil)
			if err != nil {
				t.Fatal(err)
			}
			offsets := make([]int, len(d.Buffers))
			live := make([]int64, len(d.Kernels))
			for i, b := range d.Buffers {
				offsets[i] = -1
				if b.Kind != "temp" {
					continue
				}
				offsets[i] = int(b.Offset)
				for k := b.First; k <= b.Last && k < len(live); k++ {
					live[k] += b.Room
				}
			}
			shown := &schedule.Arena{Offsets: offsets, Size: int(d.Memory.Arena)}
			if err := c.Plan.CheckPacking(shown, env, o.NoOpt == nil); err != nil || shown.Size != a.Size {
				t.Errorf("seed %d: an arena of %d bytes, want %d; %v", seed, shown.Size, a.Size, err)
			}
			if !slices.Equal(live, d.Memory.Live) {
				t.Errorf("seed %d: %v bytes are alive, the document says %v", seed, live, d.Memory.Live)
			}
			if len(live) > 0 && live[d.Memory.Peak] != slices.Max(live) {
				t.Errorf("seed %d: the peak is not at kernel %d of %v", seed, d.Memory.Peak, live)
			}
			total := int64(0)
			for _, b := range d.Memory.AtPeak {
				total += d.Buffers[b].Room
			}
			if len(live) > 0 && total != live[d.Memory.Peak] {
				t.Errorf("seed %d: buffers of %d bytes make the peak of %d", seed, total, live[d.Memory.Peak])
			}
		}
	}
}

// Each edge between kernels says why there are two.
func TestEveryEdgeHasAReason(t *testing.T) {
	for seed := range uint64(200) {
		g, _, env := irtest.Random(rand.New(rand.NewPCG(seed, 10)), irtest.Config{})
		_, d := look(t, g, device.Options{}, env)
		edges := map[[2]int]bool{}
		for _, e := range d.Edges {
			edges[[2]int{e.To, e.Buffer}] = true
			if d.Strings[e.Kept] == "" || d.Strings[e.Apart] == "" {
				t.Errorf("seed %d: kernel %d reads b%d of %d: kept %q, apart %q", seed, e.To, e.Buffer, e.From, d.Strings[e.Kept], d.Strings[e.Apart])
			}
		}
		for i, k := range d.Kernels {
			for _, b := range k.Reads {
				if kind := d.Buffers[b].Kind; kind != "leaf" && !slices.Contains(k.Writes, b) && !edges[[2]int{i, b}] {
					t.Errorf("seed %d: nothing is said of b%d, %s, which kernel %d reads", seed, b, kind, i)
				}
			}
		}
	}
}

// Names that are markup, long or no text at all are shown cut, and as text.
func TestHostileNames(t *testing.T) {
	for _, name := range []string{"</script><b>x", strings.Repeat("é", 1<<19), "a\x00\xff\xfe\u202eb\u2028\r\n", "\xf0\x9f"} {
		b := ir.NewBuilder(nil)
		x, err := b.AddLeaf(ir.Leaf{Kind: ir.Input, Name: name, Type: ir.Type{DType: ir.F32, Shape: ir.Shape{ir.Sym(name, 1, 9), ir.N(4)}}})
		if err != nil {
			t.Fatal(err)
		}
		y, err := b.Add(ir.Exp, ir.Attr{}, x)
		if err != nil {
			t.Fatal(err)
		}
		c, d := look(t, b.Finish(y), device.Options{}, nil)
		text, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		if len(text) > 20<<10 || !utf8.Valid(text) {
			t.Errorf("%.20q: %d bytes, valid %v", name, len(text), utf8.Valid(text))
		}
		for _, bad := range []string{"\u202e", "\u2028", `\u0000`, `\u2028`, "</"} {
			if strings.Contains(string(text), bad) {
				t.Errorf("%.20q: %q is in the document", name, bad)
			}
		}
		if dot := c.DOT(); len(dot) > 4<<10 {
			t.Errorf("%.20q: a drawing of %d bytes", name, len(dot))
		}
	}
}
