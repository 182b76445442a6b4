package tokenizer

import (
	"fmt"
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

// BenchmarkTrained encodes a Go file and prose of many languages with small
// tokenizers of each kind. Their vocabularies are small, so that words fall
// into more tokens than a published model's do.
func BenchmarkTrained(b *testing.B) {
	var texts []string
	readGzipJSON(b, "testdata/texts.json.gz", &texts)
	code, err := os.ReadFile("pretokenize_pattern.go")
	if err != nil {
		b.Fatal(err)
	}
	prose := strings.Join(texts, "\n")
	for _, name := range []string{"gpt2", "llama3", "o200k", "modernbert", "llama2", "gemma", "xlmr", "distilbert"} {
		tok := trained(b, name)
		for _, c := range []struct{ name, text string }{
			{"code", strings.Repeat(string(code), 1<<20/len(code))},
			{"languages", strings.Repeat(prose, 1<<20/len(prose))},
		} {
			b.Run(name+"/"+c.name, func(b *testing.B) {
				b.SetBytes(int64(len(c.text)))
				for b.Loop() {
					tok.Encode(c.text)
				}
			})
		}
	}
}

// BenchmarkOneLetter is one word of so many letters: time must grow about as
// the length does.
func BenchmarkOneLetter(b *testing.B) {
	for _, name := range []string{"gpt2", "llama2", "xlmr", "distilbert"} {
		tok := trained(b, name)
		for _, size := range []int{1 << 14, 1 << 20} {
			b.Run(fmt.Sprintf("%s/%d", name, size), func(b *testing.B) {
				text := strings.Repeat("a", size)
				b.SetBytes(int64(size))
				for b.Loop() {
					tok.Encode(text)
				}
			})
		}
	}
}
