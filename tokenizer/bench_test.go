package tokenizer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func BenchmarkParse(b *testing.B) {
	data, err := os.ReadFile(filepath.Join(minilmFolder, minilmFile))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	tok := minilm(b)
	for _, c := range []struct{ name, text string }{
		{"english", "The quick brown fox jumps over the lazy dog; internationalisation (a 20-letter word) isn't short, is it? "},
		{"accented", "Les élèves étaient déjà là, “prêts” à naître — où ça? Größe überprüfen, señor. "},
		{"chinese", "今天的天气很好，我们一起去公园散步吧。机器学习模型。"},
		{"unknown", strings.Repeat("qzxjv", 19) + " "},
	} {
		text := strings.Repeat(c.text, 1<<20/len(c.text))
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				tok.Encode(text)
			}
		})
	}
	b.Run("short", func(b *testing.B) {
		const text = "How do I reset my password?"
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			tok.Encode(text)
		}
	})
}
