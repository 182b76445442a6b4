package accepted

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/effort"
)

// run has a test at a level ask for texts, of which all are accepted, and lists
// those that were not known.
func run(t *testing.T, file string, level effort.Level, update bool, texts ...string) (asked []string) {
	t.Helper()
	t.Run("run", func(t *testing.T) {
		a := open(t, file, level, update)
		for _, text := range texts {
			if !a.Has("version", text) {
				asked = append(asked, text)
				a.Add("version", text)
			}
		}
	})
	return asked
}

func TestTable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "of", "a", "test")
	first, changed := []string{"a", "b", "c"}, []string{"b", "C", "c"}
	for i, c := range []struct {
		level  effort.Level
		update bool
		texts  []string
		want   string
	}{
		{effort.CI, false, first, "abc"},
		{effort.CI, false, first, "abc"}, // nothing is written unless asked for
		{effort.Plain, true, first, "abc"},
		{effort.CI, true, first, "abc"},
		{effort.CI, false, first, ""},
		{effort.Plain, false, first, ""},
		{effort.Short, false, first, ""},
		{effort.Long, false, first, "abc"},
		{effort.CI, false, changed, "C"},
		{effort.CI, true, changed, "C"},
		{effort.CI, false, first, "a"}, // is no longer of the test
		{effort.CI, false, changed, ""},
	} {
		if got := strings.Join(run(t, file, c.level, c.update, c.texts...), ""); got != c.want {
			t.Errorf("%d: asked for %q, want %q", i, got, c.want)
		}
	}
	if err := os.WriteFile(file, make([]byte, 3*size-1), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := read(file); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("a file that was cut off: %v", err)
	}
}

// A text is known with the version and the options that it was accepted with alone, and of
// the known ones some are asked for.
func TestHas(t *testing.T) {
	file := filepath.Join(t.TempDir(), "table")
	var texts []string
	for i := range 2000 {
		texts = append(texts, fmt.Sprint("text ", i))
	}
	run(t, file, effort.CI, true, texts...)
	if n := len(run(t, file, effort.CI, false, texts...)); n < 15 || n > 60 {
		t.Errorf("%d of %d known texts are asked for", n, len(texts))
	}
	a := open(t, file, effort.CI, false)
	for _, parts := range [][]string{{"another version", texts[1]}, {texts[1]}, {"version" + texts[1]}, {"version", texts[1], ""}, {"version", texts[1] + " "}} {
		if a.Has(parts...) {
			t.Errorf("%q is known", parts)
		}
	}
	if !a.Has("version", texts[1]) {
		t.Error("what was accepted is not known")
	}
}
