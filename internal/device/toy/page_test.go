package toy_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPage compares the page with this package: each piece of code on it is
// here, word for word, and the whole stays small enough to be read.
func TestPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "new-device.md"))
	if err != nil {
		t.Fatal(err)
	}
	code, lines := "", 0
	for _, name := range []string{"toy.go", "program.go", "toy_test.go"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		code += string(text)
		lines += strings.Count(string(text), "\n")
	}
	if lines >= 300 {
		t.Errorf("the example has %d lines, and the page says under 300", lines)
	}
	pieces := strings.Split(string(page), "```go\n")[1:]
	if len(pieces) < 5 {
		t.Fatalf("the page has %d pieces of code", len(pieces))
	}
	for _, piece := range pieces {
		piece, _, _ = strings.Cut(piece, "```")
		if !strings.Contains(code, piece) {
			t.Errorf("not in the example:\n%s", piece)
		}
	}
}
