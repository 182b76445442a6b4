package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func configFile(t testing.TB, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func settingsOf(t testing.TB, env environment, args ...string) settingList {
	t.Helper()
	status, stdout, stderr := runCommand(t, env, "", append([]string{"config", "--json"}, args...)...)
	var list settingList
	if err := json.Unmarshal([]byte(stdout), &list); err != nil || status != 0 {
		t.Fatalf("status %d, %v: %s%s", status, err, stdout, stderr)
	}
	return list
}

// A flag goes before its variable, and that before the file.
func TestConfigPrecedence(t *testing.T) {
	file := configFile(t, "threads = 3\ndevice = 'interp'\ndtype = 'int8'\n[search]\ntop = 7\nglob = ['!a', 'b c']\n[bench]\nisa = ['avx2']\n[bench.gemm]\ndraw = 5\n")
	env := environment{"SINTER_CONFIG": file, "SINTER_DEVICE": "cpu", "SINTER_CPU": "generic"}
	list := settingsOf(t, env, "--dtype", "bf16", "search")
	if list.File != file || !list.Read {
		t.Errorf("file %q, %v", list.File, list.Read)
	}
	for _, want := range []setting{
		{"", "threads", "3", "file"}, {"", "device", "cpu", "environment"}, {"", "dtype", "bf16", "flag"}, {"", "json", "true", "flag"},
		{"", "model", "", "default"}, {"", "SINTER_CPU", "generic", "environment"},
		{"search", "top", "7", "file"}, {"search", "glob", "!a, b c", "file"}, {"search", "no-ignore", "false", "default"}, {"bench gemm", "draw", "5", "file"}, {"bench", "isa", "avx2", "file"},
	} {
		if !slices.Contains(list.Settings, want) {
			t.Errorf("no %+v in %+v", want, list.Settings)
		}
	}
	if text := func() string { _, out, _ := runCommand(t, env, "", "config"); return out }(); strings.Contains(text, "no-ignore") || !strings.Contains(text, "bench gemm draw") {
		t.Errorf("%s", text)
	}
	if list := settingsOf(t, environment{"SINTER_CONFIG": ""}); list.Read {
		t.Errorf("%+v without a file", list)
	}
}

// What the file sets is in effect.
func TestConfigUsed(t *testing.T) {
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, "sinter"), 0o755); err != nil {
		t.Fatal(err)
	}
	text := "model = '" + tiny(t, nil) + "'\n[similarity]\ndedup = 1\n"
	if err := os.WriteFile(filepath.Join(home, "sinter", "config.toml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	env := environment{"XDG_CONFIG_HOME": home}
	status, stdout, stderr := runCommand(t, env, "a\na\nb\n", "similarity", "-")
	if status != 0 || stdout != "{\"texts\":3,\"unique\":2,\"groups\":[[0,1]]}\n" {
		t.Errorf("status %d: %s%s", status, stdout, stderr)
	}
	bench := environment{"SINTER_CONFIG": configFile(t, "[bench]\nisa = ['mmx']\n")}
	if status, _, stderr := runCommand(t, bench, "", "bench", "gemm"); status != statusUsage || !strings.Contains(stderr, "mmx") {
		t.Errorf("a flag that a command below has: status %d: %s", status, stderr)
	}
	if rows := parse[embedded](t, func() string { _, out, _ := runCommand(t, env, "", "embed", "x"); return out }()); len(rows[0].Embedding) != tinyHidden {
		t.Errorf("not the model of the file: %d numbers", len(rows[0].Embedding))
	}
}

// A setting of the file never makes a command line wrong: the flag goes before it.
func TestConfigExcluded(t *testing.T) {
	dir := t.TempDir()
	texts := filepath.Join(dir, "a.txt")
	if err := os.WriteFile(texts, []byte("a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	model := tiny(t, nil)
	png := filepath.Join(dir, "x.png")
	for text, args := range map[string][]string{
		"[search]\ntop = 5\nrank = 'words'\nmin-score = 0.1\ncontext = 1\nrerank = true": {"search", "--files", dir},
		"[search]\ncontext = 1":                {"search", "-l", "a", texts},
		"json = true\n[search]\ncontext = 1":   {"search", "--vimgrep", "a", texts},
		"[search]\nfiles-with-matches = true":  {"search", "-C", "1", "a", texts},
		"[search]\nindex = '/'":                {"search", "--no-index", "a", texts},
		"[search]\nno-index = true":            {"search", "--index", t.TempDir(), "a", texts},
		"[search]\nvimgrep = true":             {"search", "--json", "a", texts},
		"[embed]\nformat = 'npy'":              {"embed", "--json", "a"},
		"json = true":                          {"embed", "--format", "npy", "a"},
		"json = true\n[similarity]\ndedup = 1": {"similarity", "--png", png, texts},
		"[similarity]\npng = '/x.png'":         {"similarity", "--dedup", "1", texts},
		"model = 'nowhere'\njson = true":       {"graph", "--dot", model},
		"[graph]\nhtml = '/x.html'":            {"graph", "--stage", "trace", model},
	} {
		if args[0] != "graph" {
			args = append(args, "--model", model)
		}
		env := environment{"SINTER_CONFIG": configFile(t, text)}
		if status, stdout, stderr := runCommand(t, env, "", args...); status != 0 || stdout == "" && args[1] != "--png" {
			t.Errorf("%q and %v: status %d, %s", text, args, status, stderr)
		}
	}
	env := environment{"SINTER_CONFIG": configFile(t, "json = true\n[embed]\nformat = 'npy'")}
	if status, _, stderr := runCommand(t, env, "", "embed", "--model", model, "a"); status != statusUsage {
		t.Errorf("two settings that cannot be together: status %d, %s", status, stderr)
	}
	if status, _, stderr := runCommand(t, nil, "", "graph", ""); status != statusUsage || !strings.Contains(stderr, "the model is empty") {
		t.Errorf("status %d, %s", status, stderr)
	}
}

func TestConfigFaults(t *testing.T) {
	for text, want := range map[string]string{
		"threads = 1\nthread = 2":    `config.toml:2: no setting "thread": settings are the names of flags`,
		"top = 3":                    `:1: no setting "top": it belongs into [search]`,
		"[search]\ndevice = 'cpu'":   `:2: no setting "search.device": it stands above all tables`,
		"threads = 1\nthreads = 2":   ":2: key threads is already defined",
		"search = 3":                 ":1: search is a command: its settings stand below a line [search]",
		"[bench]\ngemm = 'x'":        ":2: bench.gemm is a command: its settings stand below a line [bench.gemm]",
		"[[search]]\ntop = 1":        ":1: search is a command",
		"[threads]\nn = 1":           ":1: threads wants a whole number",
		"threads = 'x'":              ":1: threads wants a whole number",
		"quiet = 1":                  ":1: quiet wants true or false",
		"[similarity]\ndedup = true": ":2: similarity.dedup wants a number",
		"[search]\nglob = 'x'":       ":2: search.glob wants a list",
		"model = 1":                  ":1: model wants a text",
		"[searching]\ntop = 1":       `no setting "searching"`,
		"threads = 0":                "config.toml: threads 0: use at least 1",
		"device = 'abacus'":          `config.toml: device: no device "abacus"`,
		"dtype = 'f9'":               `config.toml: dtype "f9": use f32`,
		"model = ''":                 "config.toml: model is empty",
		"x =":                        "config.toml:1: ",
		"[device]\nx = 1":            ":1: device wants a text",
	} {
		status, _, stderr := runCommand(t, environment{"SINTER_CONFIG": configFile(t, text)}, "", "embed", "x")
		if status != statusUsage || !strings.Contains(stderr, want) {
			t.Errorf("%q: status %d: %s, want %s", text, status, stderr, want)
		}
	}
	broken := environment{"SINTER_CONFIG": configFile(t, "x = ")}
	for _, args := range [][]string{{"version"}, {"help"}, {"embed", "-h"}, {"completion", "bash"}, {"__complete", "em"}} {
		if status, _, stderr := runCommand(t, broken, "", args...); status != 0 {
			t.Errorf("%v needs the configuration: status %d, %s", args, status, stderr)
		}
	}
	status, _, stderr := runCommand(t, environment{"SINTER_CONFIG": "nowhere.toml"}, "", "embed", "x")
	if status != statusFailed || !strings.Contains(stderr, "nowhere.toml") {
		t.Errorf("status %d: %s", status, stderr)
	}
	file := configFile(t, "[similarity]\ndedup = 9")
	status, _, stderr = runCommand(t, environment{"SINTER_CONFIG": file}, "", "similarity", "-")
	if status != statusUsage || !strings.Contains(stderr, file+" sets dedup.\n") {
		t.Errorf("status %d: %s", status, stderr)
	}
}
