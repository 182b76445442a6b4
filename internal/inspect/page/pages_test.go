package page_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/bench/training"
	"github.com/sinterml/sinter/embed"
	_ "github.com/sinterml/sinter/internal/effort" // collects garbage less often
	"github.com/sinterml/sinter/internal/inspect"
	"github.com/sinterml/sinter/internal/inspect/page"
	"github.com/sinterml/sinter/model"
	"github.com/sinterml/sinter/model/minilm"
)

// hostileName is what a model may call a tensor: markup, controls, marks of
// direction, a megabyte.
var hostileName = "<img src=x onerror=document.title=1></script><script>document.title='broken'</script><!-- \x00\x1b[31m\u202egnp.exe\u2066 " + strings.Repeat("long ", 200_000)

// TestPages writes the pages that the browser test opens, into the folder that
// SINTER_PAGES names if it does. Each stays below 3 MB.
func TestPages(t *testing.T) {
	dir := os.Getenv("SINTER_PAGES")
	if dir == "" {
		dir = t.TempDir()
	}
	for _, p := range []struct {
		name  string
		limit int
		write func(*bytes.Buffer) error
	}{
		{"minilm", 3e6, writeMiniLM},
		{"training", 3e6, writeTraining},
		{"small", 3e6, writeSmall},
		{"hostile", 3e6, writeHostile},
		{"long", 12e6, writeLong}, // what no document of a model is: its names are cut
	} {
		t.Run(p.name, func(t *testing.T) {
			var b bytes.Buffer
			if err := p.write(&b); err != nil {
				t.Fatal(err)
			}
			if b.Len() > p.limit {
				t.Errorf("%d bytes, more than %d", b.Len(), p.limit)
			}
			if err := os.WriteFile(filepath.Join(dir, p.name+".html"), b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// writeMiniLM is the model in the binary, in int8, with runs that were measured.
// The limits are round numbers: the machine's would take longer to measure.
func writeMiniLM(b *bytes.Buffer) (err error) {
	m, err := model.OpenFS(minilm.FS)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	p, err := embed.Compile(m, sinter.Options{Precision: sinter.Int8})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	const texts, tokens = 8, 128
	ids, offsets := make([]int32, texts*tokens), make([]int32, texts+1)
	for i := range ids {
		ids[i] = int32(1000 + 7*i)
	}
	for i := range offsets {
		offsets[i] = int32(i * tokens)
	}
	in := map[string]sinter.Tensor{"ids": sinter.Of(ids, len(ids)), "offsets": sinter.Of(offsets, len(offsets))}
	var profile sinter.Profile
	for range 3 {
		if _, err := p.Run(sinter.WithProfile(context.Background(), &profile), in); err != nil {
			return err
		}
	}
	limits := sinter.Limits{Operations: map[string]float64{"f32": 250e9, "bf16": 500e9, "int8": 1000e9}, Bandwidth: 30e9, Cache: 32 << 20}
	return p.HTML(b, sinter.HTMLOptions{Title: "all-MiniLM-L6-v2", Sizes: map[string]int{"texts": texts, "tokens": len(ids)}, Profile: &profile, Limits: limits})
}

func writeTraining(b *bytes.Buffer) error {
	net, err := training.Find("gpt")
	if err != nil {
		return err
	}
	step, err := net.Step(training.Options{})
	if err != nil {
		return err
	}
	return step.Graph.HTML(b)
}

func writeSmall(b *bytes.Buffer) error {
	x := sinter.Input("x", sinter.F32, sinter.Sym("n", 1, 4096), sinter.N(64))
	return sinter.Capture(x.Softmax(-1).Mul(sinter.Scalar(2))).HTML(b)
}

// writeHostile is a graph whose inputs have hostile names.
func writeHostile(b *bytes.Buffer) error {
	x := sinter.Input(hostileName, sinter.F32, sinter.N(8), sinter.N(8))
	y := sinter.Input("\"'><b>y</b>"+hostileName, sinter.F32, sinter.N(8))
	return sinter.Capture(x.Softmax(-1).MatMul(x).Add(y)).HTML(b)
}

// writeLong is a document with a hostile megabyte in all its texts.
func writeLong(b *bytes.Buffer) error {
	at := int64(4)
	type list = []int
	d := &inspect.Document{
		Title: hostileName, Device: "cpu <b>", Precision: "f32", Missing: []string{hostileName},
		Symbols: []inspect.Symbol{{Name: hostileName, Min: 1, Max: 9, At: ptr(int(at))}},
		Leaves:  []inspect.Leaf{{Kind: "input", Name: hostileName, Type: 1, Bytes: 16}},
		Strings: []string{"", hostileName, "input", "exp"},
		Stages: []inspect.Stage{
			{Name: "trace", Nodes: []inspect.Node{{Op: 2, Type: 1, Leaf: 1, Attr: 1, Values: 1}, {In: list{0}, Op: 3, Type: 1}, {In: list{1}, Op: 1, Type: 1}}, Outputs: list{2},
				Repeats: []inspect.Repeat{{Starts: list{0, 1, 2}, Names: []string{hostileName, "<b>"}}}},
			{Name: "fold</script>", Doc: hostileName, Rules: []inspect.Rule{{Name: hostileName, Reason: hostileName, Count: 1}},
				Nodes: []inspect.Node{{Copy: 1}, {In: list{0}, From: list{1, 2}, Op: 1, Type: 1, Rule: 1}}, Outputs: list{1}, Kept: 1, Made: 1, Removed: list{1, 2}},
			{Name: "partition"}, {Name: "plan"}, {Name: "loops"}, {Name: "code"},
		},
		Kernels: []inspect.Kernel{{Name: 1, Kind: "loops", Nodes: list{1}, Reads: list{0}, Writes: list{1}}, {Name: 1, Kind: "<b>", Reads: list{1}, Writes: list{1}}},
		Codes:   []inspect.Code{{Loops: "kernel \"" + hostileName + "\"\n", Parts: []inspect.Part{{Name: 1, Bytes: 3, Text: hostileName}}}},
		Edges:   []inspect.Edge{{From: 0, To: 1, Buffer: 1, Kept: 1, Apart: 1}},
		Buffers: []inspect.Buffer{{Kind: "leaf", Leaf: 1, Node: 0, Type: 1, Bytes: 16}, {Kind: "temp", Node: 1, Type: 1, Bytes: 16, Last: 1, Room: 64}},
		Memory:  &inspect.Memory{Arena: 64, Live: []int64{64, 64}, AtPeak: list{1}, Leaves: 16},
	}
	return page.Write(b, d)
}

func ptr[T any](v T) *T { return &v }

func ExampleWrite() {
	var b bytes.Buffer
	err := page.Write(&b, &inspect.Document{Title: "a < b"})
	fmt.Println(strings.Contains(b.String(), "<title>a &lt; b</title>"), err)
	// Output: true <nil>
}
