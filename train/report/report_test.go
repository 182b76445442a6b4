package report

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/train"
)

// scored is what an evaluation gives, of one metric.
func scored(t *testing.T, name string, v float32) *train.Scores {
	t.Helper()
	e, err := train.NewEvaluator([]train.Metric{train.Mean(name, sinter.Input("x", sinter.F32, sinter.N(1)))}, sinter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	s, err := e.Run(context.Background(), train.Batches{Rows: train.Table{"x": train.Column([]float32{v})}, Size: 1})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The file is, byte for byte, what TensorBoard's own writer makes.
func TestTensorBoard(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs", "1")
	b, err := NewTensorBoard(dir)
	if err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(dir, "events.out.tfevents.*"))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	// The first record has the time at which it was written.
	head, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	b.now = func() time.Time { return time.Unix(1700000000, 250e6) }
	if err := b.write(appendBytes(nil, eventVersion, []byte("brain.Event:2"))); err != nil {
		t.Fatal(err)
	}
	for _, e := range []train.Event{
		{Step: 1, Loss: math.Ln2, Rate: 0.001, Metrics: map[string]float64{"right": 0.5}},
		{Step: 300, Loss: 1e-30, Rate: -2.5},
		{Step: 300, EpochEnd: true, Loss: 0.25, Scores: scored(t, "accuracy", 0.96875)},
	} {
		if err := b.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join("testdata", "events.tfevents"))
	if err != nil {
		t.Fatal(err)
	}
	if got = got[len(head):]; !bytes.Equal(got, want) {
		t.Errorf("wrote\n%x\nwant\n%x", got, want)
	}
	if first := want[:len(head)]; !bytes.Equal(head[:12], first[:12]) || len(head) != 12+int(first[0])+4 {
		t.Errorf("the first record is\n%x", head)
	}
	for _, b := range []*TensorBoard{nil, {}} {
		if b.Close() == nil || b.Add(train.Event{}) == nil {
			t.Error("the zero TensorBoard writes")
		}
	}
}

func TestCurves(t *testing.T) {
	var c Curves
	for i := range 5000 {
		c.Add(train.Event{Step: i + 1, Loss: 1 / float64(i+1)})
		if i%1000 == 0 {
			c.Add(train.Event{Step: i + 1, EpochEnd: true, Scores: scored(t, "validation", float32(i))})
		}
	}
	c.Add(train.Event{Step: 5001, Loss: math.NaN()})
	if points := averaged(c.losses); len(points) != most || points[0].X != 3 || !(math.Abs(points[0].Y-(1+1./2+1./3+1./4+1./5)/5) <= 1e-15) {
		t.Errorf("%d points, the first %v", len(points), points[0])
	}
	var image, vector bytes.Buffer
	if err := c.Draw(&image, "png"); err != nil {
		t.Fatal(err)
	}
	if m, err := png.Decode(&image); err != nil || m.Bounds().Dx() < 500 || m.Bounds().Dy() < 300 {
		t.Error(err)
	}
	if err := c.Draw(&vector, "svg"); err != nil {
		t.Fatal(err)
	}
	if text := vector.String(); !strings.Contains(text, ">validation<") || !strings.Contains(text, ">loss<") || !strings.Contains(text, ">step<") {
		t.Error("the names are missing")
	}
	for d := xml.NewDecoder(&vector); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	var none Curves
	if err := none.Draw(io.Discard, "png"); err != nil {
		t.Error(err)
	}
	if none.Draw(nil, "png") == nil || none.Draw(io.Discard, "jpg") == nil {
		t.Error("drew nowhere, or in a format that is not there")
	}
}

func TestDrawConfusion(t *testing.T) {
	var b bytes.Buffer
	if err := DrawConfusion(&b, train.Confusion{{8, 2}, {1, 9}}, []string{"cat", "dog"}); err != nil {
		t.Fatal(err)
	}
	m, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	colours := map[[3]uint32]bool{}
	for x := range m.Bounds().Dx() {
		for y := range m.Bounds().Dy() {
			r, g, b, _ := m.At(x, y).RGBA()
			colours[[3]uint32{r, g, b}] = true
		}
	}
	if len(colours) < 5 { // four shares, black and white
		t.Errorf("%d colours", len(colours))
	}
	for name, c := range map[string]train.Confusion{"no classes": nil, "rows of other lengths": {{1, 2}, {3}}, "other names": {{1}}} {
		if DrawConfusion(io.Discard, c, []string{"a", "b"}) == nil {
			t.Errorf("%s: drawn", name)
		}
	}
}
