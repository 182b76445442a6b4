package textfiles

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	const most = 1 << 20
	dir := t.TempDir()
	utf16 := func(s string) string {
		var b strings.Builder
		for _, c := range "\ufeff" + s {
			b.Write([]byte{byte(c), byte(c >> 8)})
		}
		return b.String()
	}
	large, full := strings.Repeat("x", most+1), strings.Repeat("x", most)
	late := strings.Repeat("x", sniffed) + "\x00"
	for name, c := range map[string]struct {
		data, text string
		err        error // of Read
		check      error
	}{
		"plain":     {"text\n", "text\n", nil, nil},
		"empty":     {"", "", nil, nil},
		"mark":      {"\ufefftext", "text", nil, nil},
		"little":    {utf16("\u00e9\u20ac"), "\u00e9\u20ac", nil, nil},
		"big":       {"\xfe\xff\x00a\x20\xac", "a\u20ac", nil, nil},
		"surrogate": {"\xfe\xff\xd8\x00\x00a", "\ufffda", nil, nil},
		"utf16zero": {utf16("a\x00"), "", ErrBinary, ErrBinary},
		"utf32":     {"\xff\xfe\x00\x00a\x00\x00\x00", "", ErrBinary, ErrBinary},
		"zero":      {"a\x00b", "", ErrBinary, ErrBinary},
		"zero-late": {late, late, nil, nil},
		"latin":     {"caf\xe9\xe9!", "caf\ufffd\ufffd!", nil, nil},
		"large":     {large, "", ErrTooLarge, nil},
		"full":      {full, full, nil, nil},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(c.data), 0o600); err != nil {
			t.Fatal(err)
		}
		f := File{Path: path}
		if text, err := f.Read(nil, most); !errors.Is(err, c.err) || err != nil && c.err == nil || text != c.text {
			t.Errorf("%s: %.20q, %v; want %.20q, %v", name, text, err, c.text, c.err)
		}
		if err := f.Check(); !errors.Is(err, c.check) || err != nil && c.check == nil {
			t.Errorf("check of %s: %v, want %v", name, err, c.check)
		}
	}
	named := File{Path: filepath.Join(dir, "large"), Named: true}
	if text, err := named.Read(nil, most); err != nil || text != large {
		t.Errorf("a large file asked for by name: %d bytes, %v", len(text), err)
	}
	in := File{Path: Stdin, Named: true}
	if text, err := in.Read(strings.NewReader("in"), most); err != nil || text != "in" || in.Check() != nil {
		t.Errorf("standard input: %q, %v", text, err)
	}
	gone := File{Path: filepath.Join(dir, "nowhere")}
	if _, err := gone.Read(nil, most); !errors.Is(err, os.ErrNotExist) || !errors.Is(gone.Check(), os.ErrNotExist) {
		t.Errorf("a file that does not exist: %v", err)
	}
}
