//go:build unix

package embed

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sinterml/sinter/internal/modeltest"
	"github.com/sinterml/sinter/internal/timetest"
)

// A file of a model that is something else, or lies elsewhere, or pretends to be
// huge, is refused by its name: at once, and without reading it.
func TestFilesThatAreNone(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte(`{"model_type":"secret"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	sparse := func(path string, head []byte) error {
		if err := os.WriteFile(path, head, 0o600); err != nil {
			return err
		}
		return os.Truncate(path, 1<<40)
	}
	for what, make := range map[string]func(path string) error{
		"a pipe":           func(path string) error { return unix.Mkfifo(path, 0o600) },
		"a folder":         func(path string) error { return os.Mkdir(path, 0o700) },
		"a link out":       func(path string) error { return os.Symlink(outside, path) },
		"a relative link":  func(path string) error { return os.Symlink("../../../../../../../../../../etc/passwd", path) },
		"a link to zeros":  func(path string) error { return os.Symlink("/dev/zero", path) },
		"a link to itself": func(path string) error { return os.Symlink(filepath.Base(path), path) },
		"a link to none":   func(path string) error { return os.Symlink("absent", path) },
		"nothing":          func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"a terabyte":       func(path string) error { return sparse(path, nil) },
		"a long header":    func(path string) error { return sparse(path, binary.LittleEndian.AppendUint64(nil, 99_000_000)) },
	} {
		for _, file := range []string{"config.json", "modules.json", "1_Pooling/config.json", "sentence_bert_config.json", "tokenizer.json", "model.safetensors"} {
			dir := modeltest.BERT().Write(t)
			path := filepath.Join(dir, filepath.FromSlash(file))
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if err := make(path); err != nil {
				t.Skip(err) // a file system without them
			}
			var e *Encoder
			var err error
			var bytes uint64
			timetest.Within(t, time.Second, fmt.Sprintf("%s is %s: it", file, what), func() {
				if e != nil {
					_ = e.Close()
				}
				before := allocated()
				e, err = New(t.Context(), Options{Model: dir})
				bytes = allocated() - before
			})
			limit := uint64(8 << 20)
			if what == "a long header" {
				limit += 100_000_000
			}
			if bytes > limit {
				t.Errorf("%s is %s: %d bytes allocated", file, what, bytes)
			}
			if err == nil {
				if what != "a link to none" || file != "modules.json" && file != "sentence_bert_config.json" { // as good as absent
					t.Errorf("%s is %s: opened", file, what)
				}
				_ = e.Close()
			} else if text := err.Error(); !strings.Contains(text, filepath.Base(file)) && what != "a link to none" || strings.Contains(text, `"secret"`) || len(text) > 2000 {
				t.Errorf("%s is %s: %.500s", file, what, text)
			}
		}
	}
}
