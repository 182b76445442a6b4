package mtl

import (
	"errors"
	"runtime"
	"strings"
	"testing"
)

func TestSystem(t *testing.T) {
	for _, c := range []struct {
		known map[string]string
		want  string
	}{
		{map[string]string{"kern.osproductversion": "15.1", "kern.osversion": "24B83"}, "macOS 15.1 (24B83)"},
		{map[string]string{"kern.osproductversion": "15.1"}, "macOS 15.1"},
		{map[string]string{"kern.osversion": "17E199"}, "macOS of an unknown version (17E199)"},
	} {
		got := systemText(func(name string) (string, error) {
			if v, ok := c.known[name]; ok {
				return v, nil
			}
			return "", errors.New("no such file")
		})
		if got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	if got := system(); (runtime.GOOS == "darwin") != strings.HasPrefix(got, "macOS 1") {
		t.Errorf("here: %q", got)
	}
}
