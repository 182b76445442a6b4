package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzConfig reads any configuration file: it is taken or refused.
func FuzzConfig(f *testing.F) {
	for _, text := range []string{"", "quiet = true\n", "[search]\ntop = 3\nglob = [\"a\", \"b\"]\n", "threads = -1", "[x", "top = 1e999", "a.b.c = {}", "\xff\x00"} {
		f.Add(text)
	}
	file := filepath.Join(f.TempDir(), "config.toml")
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		env := environment{"SINTER_CONFIG": file}
		a := &app{stdin: strings.NewReader(""), stdout: io.Discard, stderr: io.Discard, env: env.get}
		if _, err := a.readConfig(a.root()); err != nil && len(err.Error()) > len(text)+1000 {
			t.Errorf("an error of %d bytes", len(err.Error()))
		}
	})
}
