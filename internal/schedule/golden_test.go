package schedule

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestGolden schedules the graphs in testdata. A file holds a graph, the plan
// and the loops that come of it, and for each switch that changes the plan,
// the plan without it, or else the loops that it changes.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no golden files", err)
	}
	changes := map[string]bool{}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			text, _, _ := strings.Cut(string(data), "\n== ")
			got := golden(t, text, changes)
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got != string(data) {
				t.Errorf("%s has changed; if that is meant, run the test with -update. Now:\n%s", file, got)
			}
		})
	}
	for _, s := range Switches {
		if s != "pack-memory" && s != "stagger" && s != "tuning" && s != "warpgroups" && s != "tensor-maps" && !changes[s] { // those change no plan
			t.Errorf("no golden file shows what switch %q does", s)
		}
	}
}

func golden(t *testing.T, text string, changes map[string]bool) string {
	t.Helper()
	g, err := ir.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	anchors := map[ir.Op]bool{ir.MatMul: true, ir.Attention: true, ir.AttentionGrad: true, ir.Sort: true}
	build := func(noOpt ...string) *Plan {
		p, err := Build(g, Options{NoOpt: noOpt, Anchors: anchors})
		if err == nil {
			err = p.Check()
		}
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	var b strings.Builder
	p := build()
	loops := loopTexts(t, p)
	b.WriteString(text + "\n== plan\n" + p.String())
	for _, l := range loops {
		b.WriteString("\n== loops\n" + l)
	}
	for _, s := range Switches {
		without := build(s)
		if text := without.String(); text != p.String() {
			changes[s] = true
			b.WriteString("\n== plan without " + s + "\n" + text)
			continue
		}
		for i, l := range loopTexts(t, without) {
			if l != loops[i] {
				changes[s] = true
				b.WriteString("\n== loops without " + s + "\n" + l)
			}
		}
	}
	return b.String()
}

// loopTexts are the loops of the kernels that have some.
func loopTexts(t *testing.T, p *Plan) (texts []string) {
	t.Helper()
	for _, k := range p.Kernels {
		if l, ok := k.Work.(*loop.Kernel); ok {
			if err := loop.Check(l); err != nil {
				t.Error(err)
			}
			texts = append(texts, l.String())
		}
	}
	return texts
}
