package textfiles

import (
	"os"
	"path/filepath"
	"testing"
)

func TestGlobalExcludes(t *testing.T) {
	home := t.TempDir()
	env := func(pairs ...string) func(string) string {
		return func(key string) string {
			for i := 0; i < len(pairs); i += 2 {
				if pairs[i] == key {
					return pairs[i+1]
				}
			}
			return ""
		}
	}
	write := func(text string, name ...string) {
		path := filepath.Join(append([]string{home}, name...)...)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	check := func(want string, pairs ...string) {
		t.Helper()
		if got := GlobalExcludes(env(pairs...)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	xdg := filepath.Join(home, "xdg")
	check("")
	check(filepath.Join(home, ".config", "git", "ignore"), "HOME", home)
	check(filepath.Join(xdg, "git", "ignore"), "HOME", home, "XDG_CONFIG_HOME", xdg)
	check(filepath.Join(xdg, "git", "ignore"), "XDG_CONFIG_HOME", xdg)
	write("[core]\n  excludesFile=/x/y z\r\n", "xdg", "git", "config")
	check(filepath.FromSlash("/x/y z"), "HOME", home, "XDG_CONFIG_HOME", xdg)
	write("[user]\nname = x\n[core]\n\tEXCLUDESFILE = \"~/mine\"\n", ".gitconfig")
	check(filepath.Join(home, "mine"), "HOME", home, "XDG_CONFIG_HOME", xdg)
	check(filepath.Join(home, "mine"), "USERPROFILE", home)
	write("[core]\nexcludesfiles = /no\n", ".gitconfig")
	check(filepath.FromSlash("/x/y z"), "HOME", home, "XDG_CONFIG_HOME", xdg)
}
