package model

import (
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/internal/effort"
)

// TestReferencePrecision holds what number formats may cost the real model: the
// cosines of its embeddings with the reference, the mean of all texts and the
// least of any. Each text has the same bits alone and among others.
func TestReferencePrecision(t *testing.T) {
	for name, d := range devices(t) {
		for _, c := range formatCosts {
			if (name == "interp" || name == "generic") && c.precision != sinter.Int8 && effort.Less() {
				continue
			}
			t.Run(name+"/"+c.name, func(t *testing.T) { referencePrecision(t, name, d, c) })
		}
	}
}

// formatCost is what a number format may cost at most.
type formatCost struct {
	name        string
	precision   sinter.Precision
	mean, least float64
}

var (
	costOfF16   = formatCost{"f16", sinter.F16, 0.9999, 0.9999}
	formatCosts = []formatCost{{"bf16", sinter.BF16, 0.9998, 0.999}, costOfF16, {"int8", sinter.Int8, 0.997, 0.99}, {"int4", sinter.Int4, 0.95, 0.85}}
)

func referencePrecision(t *testing.T, device string, d *sinter.Device, c formatCost) {
	e, ids, want, width, _ := miniLM(t)
	p := program(t, e, sinter.Options{Device: d, Precision: c.precision})
	mean, least := 0.0, 1.0
	var batch [][]int32
	var alone [][][]float32
	count := testable(device, len(ids))
	if effort.Now() == effort.Plain && effort.Less() && c.precision != sinter.Int8 { // which costs most
		count = min(count, 4)
	}
	if count < len(ids) {
		c.mean, count = c.least, 2
	}
	chosen := shortest(ids, count)
	for _, i := range chosen {
		got := run(t, p, ids[i])
		same := cosine(got[0], want[i*width:(i+1)*width])
		mean += same / float64(len(chosen))
		least = math.Min(least, same)
		batch, alone = append(batch, ids[i]), append(alone, got)
	}
	t.Logf("cosine of %d texts to the reference: mean %.7f, least %.7f", len(chosen), mean, least)
	if !(mean >= c.mean && least >= c.least) {
		t.Errorf("cosine to the reference: mean %.5f, least %.5f, want %v and %v", mean, least, c.mean, c.least)
	}
	batchEqualsAlone(t, p, batch, alone)
}

// cosine is that of the angle between two vectors.
func cosine(a []float32, b []float64) float64 {
	var ab, aa, bb float64
	for i, x := range a {
		ab, aa, bb = ab+float64(x)*b[i], aa+float64(x)*float64(x), bb+b[i]*b[i]
	}
	return ab / math.Sqrt(aa*bb)
}

// TestReferencePrecisionEncoders does the same for a small model of every
// architecture and pipeline. They are random, and narrow, so that errors of
// rounding stand out more than in a real model.
func TestReferencePrecisionEncoders(t *testing.T) {
	for name, d := range devices(t) {
		if name == "interp" || name == "generic" { // slow, and as the others
			continue
		}
		for _, dir := range modelDirs(t, "encoders") {
			for _, c := range encoderCosts {
				if c.precision == sinter.TF32 {
					continue // which is f32 there
				}
				t.Run(fmt.Sprintf("%s/%s/%s", name, c.name, filepath.Base(dir)), func(t *testing.T) { encoderPrecision(t, dir, d, c) })
			}
		}
	}
}

// encoderCosts are what formats may cost these models.
var encoderCosts = []formatCost{
	{"tf32", sinter.TF32, 0.9999, 0.9999}, {"bf16", sinter.BF16, 0.9999, 0.9999}, {"f16", sinter.F16, 0.9999, 0.9999}, {"int8", sinter.Int8, 0.9995, 0.9995},
}

func encoderPrecision(t *testing.T, dir string, d *sinter.Device, c formatCost) {
	e, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	p, ref := program(t, e, sinter.Options{Device: d, Precision: c.precision}), openReference(t, filepath.Join(dir, "reference.safetensors"))
	least := 1.0
	var batch [][]int32
	var alone [][][]float32
	for i, text := range readTexts(t, dir) {
		want, _ := ref.floats(fmt.Sprintf("embedding.%d", i))
		got := run(t, p, text.IDs)
		least = math.Min(least, cosine(got[0], want))
		batch, alone = append(batch, text.IDs), append(alone, got)
	}
	t.Logf("least cosine to the reference %.6f", least)
	if !(least >= c.least) {
		t.Errorf("cosine to the reference %.5f, want %v", least, c.least)
	}
	batchEqualsAlone(t, p, batch, alone)
}
