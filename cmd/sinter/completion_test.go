package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The tables name commands and flags that exist.
func TestCompletionTables(t *testing.T) {
	root := (&app{env: environment{}.get}).root()
	for command, flags := range completions {
		c, rest, err := root.Find(strings.Fields(command))
		if err != nil || len(rest) > 0 {
			t.Errorf("no command %q", command)
			continue
		}
		for name := range flags {
			if _, ok := c.GetFlagCompletionFunc(name); !ok {
				t.Errorf("%s has no flag --%s", command, name)
			}
		}
	}
	for command := range arguments {
		if c, _, err := root.Find([]string{command}); err != nil || c.ValidArgsFunction == nil {
			t.Errorf("no command %q", command)
		}
	}
}

// What the scripts ask for: a word a line, and how the shell is to go on.
func TestCompletion(t *testing.T) {
	cache := t.TempDir()
	if err := os.MkdirAll(filepath.Join(cache, "models--org--encoder"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HF_HUB_CACHE", cache)
	const noFiles, filter, folders = ":4\n", ":8\n", ":16\n"
	for _, c := range []struct {
		args        []string
		want, after string
	}{
		{[]string{"simi"}, "similarity", noFiles},
		{[]string{"search", "-t", "g"}, "\ngo\n", noFiles},
		{[]string{"search", "--rank", ""}, "\nvectors\n", noFiles},
		{[]string{"embed", "--device", ""}, "\ncpu\n", noFiles},
		{[]string{"embed", "--dtype", "b"}, "bf16\n", noFiles},
		{[]string{"embed", "--model", "org/"}, "org/encoder\n", ":0\n"},
		{[]string{"graph", "o"}, "org/encoder\n", ":0\n"},
		{[]string{"embed", ""}, "", noFiles},
		{[]string{"search", ""}, "", noFiles},
		{[]string{"search", "x", ""}, "", ":0\n"},
		{[]string{"search", "--files", ""}, "", ":0\n"},
		{[]string{"similarity", "--png", ""}, "png\n", filter},
		{[]string{"man", ""}, "", folders},
		{[]string{"bench", "gemm", "--isa", ""}, "\navx2\n", noFiles},
		{[]string{"config", "bench", ""}, "gemm\t", noFiles},
	} {
		status, stdout, _ := runCommand(t, nil, "", append([]string{"__complete"}, c.args...)...)
		if status != 0 || !strings.Contains("\n"+stdout, c.want) || !strings.HasSuffix(stdout, c.after) {
			t.Errorf("%q: status %d, %q; want %q and %q", c.args, status, stdout, c.want, c.after)
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if script := ok(t, "", "completion", shell); !strings.Contains(script, "__complete") {
			t.Errorf("%s: %.100s", shell, script)
		}
	}
}
