package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/cmd/sinter/internal/cosine"
	"github.com/sinterml/sinter/embed"
)

type similarityResult struct {
	Texts  int         `json:"texts"`
	Unique int         `json:"unique"`
	Matrix [][]float64 `json:"matrix"`
	Groups [][]int     `json:"groups"`
}

func similarity(t testing.TB, stdin string, args ...string) similarityResult {
	t.Helper()
	var r similarityResult
	if err := json.Unmarshal([]byte(ok(t, stdin, append([]string{"similarity", "--json"}, args...)...)), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

const sayings = "how do I bake bread\nbaking a loaf at home\nthe stock market fell\nhow do I bake bread\n\nshares lost value today\n"

// The matrix is what embed.Cosine says of the vectors that embed prints.
func TestSimilarityMatrix(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(file, []byte(sayings), 0o644); err != nil {
		t.Fatal(err)
	}
	vectors := parse[embedded](t, ok(t, sayings, "embed"))
	r := similarity(t, "", file)
	if r.Texts != 6 || len(r.Matrix) != 6 {
		t.Fatalf("%+v", r)
	}
	for i, row := range r.Matrix {
		if len(row) != 6 || row[i] != 1 {
			t.Fatalf("row %d: %v", i, row)
		}
		for j, c := range row {
			if want := embed.Cosine(vectors[i].Embedding, vectors[j].Embedding); !(math.Abs(c-float64(want)) <= 1e-6) {
				t.Errorf("cosine %d, %d is %v, want %v", i, j, c, want)
			}
		}
	}
	if r.Matrix[0][3] != 1 || r.Matrix[0][1] < 0.5 || r.Matrix[0][2] > 0.3 {
		t.Errorf("%v", r.Matrix[0])
	}
	npy := filepath.Join(t.TempDir(), "x.npy")
	if out := ok(t, sayings, "similarity", "--npy", npy, "-"); out != "" {
		t.Error(out)
	}
	data, err := os.ReadFile(npy)
	if err != nil {
		t.Fatal(err)
	}
	if out := ok(t, sayings, "similarity", "--npy", "-", "-"); out != string(data) {
		t.Error("standard output is another file")
	}
	if rows, columns, values := readNPY(t, data); rows != 6 || columns != 6 || float64(values[1]) != float64(float32(r.Matrix[0][1])) {
		t.Errorf("%d rows of %d: %v", rows, columns, values)
	}
	if got := ok(t, "", "similarity", "--model", tiny(t, nil), "-"); got != "{\"texts\":0,\"matrix\":[]}\n" {
		t.Errorf("of no texts: %s", got)
	}
}

// A vector that is no number has no cosines.
func TestSimilarityNull(t *testing.T) {
	d, err := sinter.OpenCPU(sinter.CPUOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	set := &textSet{vectors: cosine.New(1), texts: 2}
	for _, v := range []float32{2, float32(math.NaN())} {
		if err := set.vectors.Add([]float32{v}); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	if err := (&app{stdout: &b}).matrixJSON(t.Context(), set, d); err != nil || b.String() != "{\"texts\":2,\"matrix\":[[1,null]\n,[null,null]\n]}\n" {
		t.Errorf("%v: %s", err, &b)
	}
}

func TestSimilarityDedup(t *testing.T) {
	for threshold, want := range map[string]string{"1": "[[0 3]]", "0.5": "[[0 1 3] [2 5]]", "-1": "[[0 1 2 3 4 5]]"} {
		r := similarity(t, sayings, "--dedup", threshold, "-")
		unique := 6
		for _, g := range r.Groups {
			unique -= len(g) - 1
		}
		if fmt.Sprint(r.Groups) != want || r.Texts != 6 || r.Unique != unique {
			t.Errorf("threshold %s: %+v, want %s", threshold, r, want)
		}
	}
	if got := ok(t, "", "similarity", "--model", tiny(t, nil), "--dedup", "0.9", "-"); got != "{\"texts\":0,\"unique\":0,\"groups\":[]}\n" {
		t.Errorf("of no texts: %s", got)
	}
	var many strings.Builder
	for i := range 3 * batchTexts { // copies come batches later
		fmt.Fprintf(&many, "%d\n", i%300)
	}
	r := similarity(t, many.String(), "--model", tiny(t, nil), "--dedup", "1", "-")
	if len(r.Groups) < 1 || r.Texts != 3*batchTexts || r.Unique > 300 {
		t.Errorf("%d groups, %d unique texts", len(r.Groups), r.Unique)
	}
	for i := range 300 {
		g := slices.IndexFunc(r.Groups, func(g []int) bool { return slices.Contains(g, i) })
		if g < 0 || !slices.Contains(r.Groups[g], i+300) {
			t.Fatalf("text %d is not with its copy", i)
		}
	}
}

// A picture has the colours of its cosines: bright where texts are alike.
func TestSimilarityPNG(t *testing.T) {
	for _, n := range []int{1, 6, mostNamed + 1} {
		file := filepath.Join(t.TempDir(), "x.png")
		texts := strings.Repeat("bread\n", n-1) + "\xff\x1b stock market\n"
		if out := ok(t, texts, "similarity", "--quiet", "--model", tiny(t, nil), "--png", file, "-"); out != "" {
			t.Error(out)
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		image, err := png.Decode(bytes.NewReader(data))
		if err != nil || image.Bounds().Dx() < 300 || image.Bounds().Dx() > 3000 {
			t.Errorf("%d texts: %v, %v", n, image.Bounds(), err)
		}
	}
	grid := matrixGrid{{1, 0.5}, {0.25, -0.5}}
	if c, r := grid.Dims(); c != 2 || r != 2 || grid.Z(0, 0) != 0.25 || grid.Z(1, 1) != 0.5 || grid.least() != -0.5 {
		t.Error("the first row is not on top")
	}
	ticks := fromTop{301}.Ticks(-0.5, 300.5)
	if !slices.Contains(ticks, plot.Tick{Value: 300, Label: "0"}) {
		t.Errorf("%v", ticks)
	}
}

// A terminal is shown as much of a matrix as fits.
func TestSimilarityReadable(t *testing.T) {
	model := tiny(t, nil)
	show := func(stdin string, args ...string) string {
		t.Helper()
		var b bytes.Buffer
		a := &app{stdin: strings.NewReader(stdin), stdout: &b, stderr: &b, terminal: true, env: environment{"TERM": "dumb"}.get}
		root := a.root()
		root.SetArgs(append(append([]string{"similarity", "--model", model}, args...), "-"))
		if err := root.ExecuteContext(context.Background()); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	got := show("same\nsame\n")
	want := strings.Repeat(" ", 30) + "     0     1\n" +
		"same                         0  1.00  1.00\nsame                         1  1.00  1.00\n"
	if got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
	if got := show(strings.Repeat("a long text, longer than its column\n", 100)); strings.Count(got, "\n") != 10 || !strings.HasSuffix(got, "The first 8 of 100 texts: --json, --npy FILE or --png FILE give all.\n") {
		t.Errorf("%s", got)
	}
	got = show("same\nsame\nsomething else\nsame\n", "--dedup", "1")
	if want := "0  same\n1  same\n3  same\n"; !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "Groups: 1. Texts: 4, or 2 if each group keeps one.\n") {
		t.Errorf("%s", got)
	}
}
