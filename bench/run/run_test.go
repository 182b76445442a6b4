package main

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sinterml/sinter/bench"
)

// The page and its plots are what the rows beside it give.
func TestPage(t *testing.T) {
	const root = "../../"
	text, err := os.ReadFile(root + page)
	if err != nil {
		t.Fatal(err)
	}
	updated, plots, err := fillPage(string(text), root+folder)
	if err != nil {
		t.Fatal(err)
	}
	if updated != string(text) {
		t.Errorf("%s differs from its rows: go run ./bench/run", page)
	}
	for name, want := range plots {
		if got, err := os.ReadFile(filepath.Join(root+folder, name)); err != nil || string(got) != want {
			t.Errorf("%s differs from its rows (%v): go run ./bench/run", name, err)
		}
	}
}

// keep writes a part's rows.
func keep(t *testing.T, folder, name string, output any) {
	t.Helper()
	out, err := json.Marshal(output)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(record{Command: "go run " + name, Seconds: 12, Output: out})
	if err == nil {
		err = os.WriteFile(recordFile(folder, name), data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A page of empty sections, of parts that were measured and of others.
func TestFillPage(t *testing.T) {
	folder := t.TempDir()
	keep(t, folder, "gemm-f32", bench.Report{Results: []bench.Row{
		{Shape: []int{8, 8, 8}, DType: "f32", ISA: "avx2", Set: "nine", Threads: 1, Bound: 1234.4, Share: 0.9},
		{Shape: []int{9, 8, 8}, DType: "f32", ISA: "avx2", Set: "nine", Threads: 1, Bound: 100, Share: 0.7, Noisy: true},
		{Shape: []int{9, 8, 8}, DType: "f32", ISA: "avx2", Set: "nine", Threads: 2, Bound: 2000, Share: 0.5},
	}})
	keep(t, folder, "peers-1", []peerRow{
		{1, 12, 1, "sinter f32", "f32", 50, 60, 1, 0.99},
		{1, 12, 1, "<b> f32", "f32", 25, 60, 2, 0.98},
		{8, 12, 1, "sinter f32", "f32", 40, 60, 1, 1},
		{8, 12, 1, "<b> f32", "f32", 80, 60, 0.5, 1},
	})
	keep(t, folder, "mixed-2", []mixedRow{{10, 2, "sinter int8", "int8", 300, 400, 6, 0.99, 0.98}})
	keep(t, folder, "train-2", []trainRow{{"gpt", 2, "f32", 0.02, 0.8, "torch f32", 0.04, 0.51}})
	var empty strings.Builder
	for _, s := range sections {
		empty.WriteString("<!-- figures: " + s.name + " -->\nold\n<!-- end -->\n\n")
	}
	got, plots, err := fillPage(empty.String(), folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| f32 on avx2 | 0.80, least 0.70 (1 of 2 noisy) | 0.50, least 0.50 | - | - |",
		"GFLOP/s: f32 1,234.\n",
		"not measured: `go run ./bench/run gemm-int8`",
		"| sinter f32 | 50.0 | 40.0 | 0.99000 |", "| <b> f32 | 25.0 (ours 2.00x) | 80.0 (ours 0.50x) | 0.98000 |",
		"| 2 | sinter int8 | 300 | 6.00x | 0.75 | 8.00x | 0.99000 | 0.98000 |",
		"| gpt f32 | 2 | 20.0 ms | 40.0 ms (torch f32) | 0.51 | 0.80 |",
		"products.svg)", "peers.svg)", "`go run mixed-2` | 12 s |",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the page lacks %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "old") {
		t.Error("an old section is left")
	}
	if again, _, err := fillPage(got, folder); err != nil || again != got {
		t.Errorf("a second time the page differs (%v)", err)
	}
	for name, svg := range plots {
		checkSVG(t, name, svg)
	}
}

// checkSVG reads a plot: well formed, every rectangle within it.
func checkSVG(t *testing.T, name, svg string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, svg)
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "rect" {
			var x, width float64
			for _, a := range e.Attr {
				switch a.Name.Local {
				case "x":
					err = json.Unmarshal([]byte(a.Value), &x)
				case "width":
					err = errors.Join(err, json.Unmarshal([]byte(a.Value), &width))
				}
			}
			if err != nil || width < 0 || x < 0 || x+width > chartWidth {
				t.Errorf("%s: a bar from %v, %v wide: %v", name, x, width, err)
			}
		}
	}
}

func TestPageMistakes(t *testing.T) {
	if _, _, err := fillPage("<!-- figures: nothing -->\n<!-- end -->\n", t.TempDir()); err == nil || !strings.Contains(err.Error(), `"nothing"`) || !strings.Contains(err.Error(), `lacks the section "peers"`) {
		t.Error(err)
	}
	folder := t.TempDir()
	keep(t, folder, "fused", "no rows")
	if _, _, err := fusedSection(folder); err == nil {
		t.Error("rows that are none")
	}
}

func TestRate(t *testing.T) {
	for v, want := range map[float64]string{0.5: "0.5", 99.96: "100", 100: "100", 999.4: "999", 999.6: "1,000", 12345: "12,345"} {
		if got := rate(v); got != want {
			t.Errorf("%v prints as %s, want %s", v, got, want)
		}
	}
}
