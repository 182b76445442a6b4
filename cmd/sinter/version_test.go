package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

func TestVersion(t *testing.T) {
	text := ok(t, "", "version")
	if !strings.HasPrefix(text, "sinter ") || !strings.Contains(text, runtime.Version()+" "+runtime.GOOS+"/"+runtime.GOARCH) {
		t.Errorf("%s", text)
	}
	if flag := ok(t, "", "--version"); flag != text {
		t.Errorf("--version says %s", flag)
	}
	var v buildVersion
	if err := json.Unmarshal([]byte(ok(t, "", "version", "--json")), &v); err != nil || v.Version == "" || v.Go != runtime.Version() {
		t.Errorf("%+v, %v", v, err)
	}
	info := &debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}, Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.time", Value: "2026-01-02T03:04:05Z"}, {Key: "vcs.modified", Value: "true"},
	}}
	v = buildVersion{Go: "go1", Platform: "plan9/386", Model: "m"}.from(info)
	if want := "sinter v1.2.3\nrevision abc, 2026-01-02T03:04:05Z, with changes\ngo1 plan9/386\nmodel m\n"; v.String() != want || v.date().Day() != 2 {
		t.Errorf("%s, want %s", v, want)
	}
}

// Every command has a page.
func TestMan(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man1")
	ok(t, "", "man", dir)
	for _, name := range []string{"sinter", "sinter-search", "sinter-similarity", "sinter-bench-gemm", "sinter-completion-zsh"} {
		page, err := os.ReadFile(filepath.Join(dir, name+".1"))
		if err != nil || !strings.Contains(string(page), `.TH "`+strings.ToUpper(name)+`" "1"`) || !strings.Contains(string(page), ".SH SYNOPSIS") {
			t.Errorf("%s: %v: %.200s", name, err, page)
		}
	}
	file := filepath.Join(dir, "sinter.1")
	if status, _, stderr := runCommand(t, nil, "", "man", file); status != statusFailed || !strings.Contains(stderr, file) {
		t.Errorf("status %d: %s", status, stderr)
	}
}
