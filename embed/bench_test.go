package embed_test

import (
	"context"
	"encoding/json"
	"os/exec"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/embed"
)

// mixedTexts are those of bench/peers/mixed.py.
func mixedTexts(b *testing.B) (texts []string) {
	b.Helper()
	out, err := exec.Command("python3", "../bench/peers/corpus.py").Output()
	if err != nil {
		b.Skip("the texts need python3: ", err)
	}
	if err := json.Unmarshal(out, &texts); err != nil {
		b.Fatal(err)
	}
	return texts
}

// BenchmarkMixed embeds 1,000 texts of mixed lengths, tokenizing included, on
// GOMAXPROCS threads.
func BenchmarkMixed(b *testing.B) {
	texts := mixedTexts(b)
	for _, c := range []struct {
		name      string
		precision sinter.Precision
	}{{"f32", sinter.F32}, {"bf16", sinter.BF16}, {"int8", sinter.Int8}} {
		b.Run(c.name, func(b *testing.B) {
			d, err := sinter.OpenCPU(sinter.CPUOptions{})
			if err != nil {
				b.Fatal(err)
			}
			defer d.Close()
			e := open(b, embed.Options{Precision: c.precision, Device: d})
			defer e.Close()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := e.Encode(context.Background(), texts); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(texts)*b.N)/b.Elapsed().Seconds(), "texts/s")
		})
	}
}
