package trial

import (
	"runtime/debug"
	"testing"
)

func TestVersionIn(t *testing.T) {
	other := debug.Module{Path: "example.org/program", Version: "v9.0.0"}
	of := func(version string) *debug.Module { return &debug.Module{Path: module, Version: version} }
	replaced := func(by debug.Module) []*debug.Module {
		m := of("v1.2.3")
		m.Replace = &by
		return []*debug.Module{m}
	}
	const released = module + " v1.2.3"
	for _, c := range []struct {
		what string
		info debug.BuildInfo
		want string
	}{
		{"the command", debug.BuildInfo{Main: *of("v1.2.3"), Deps: []*debug.Module{&other}}, released},
		{"a program that uses it", debug.BuildInfo{Main: other, Deps: []*debug.Module{{Path: module + "x", Version: "v7.0.0"}, of("v1.2.3")}}, released},
		{"the command in a checkout", debug.BuildInfo{Main: *of("(devel)")}, ""},
		{"of a commit with changes", debug.BuildInfo{Main: *of("v1.2.4-0.20260101000000-0123456789ab+dirty")}, ""},
		{"of a commit", debug.BuildInfo{Main: *of("v1.2.4-0.20260101000000-0123456789ab")}, module + " v1.2.4-0.20260101000000-0123456789ab"},
		{"without a version", debug.BuildInfo{Main: *of("")}, ""},
		{"a folder in its place", debug.BuildInfo{Main: other, Deps: replaced(debug.Module{Path: "../sinter"})}, ""},
		{"a fork in its place", debug.BuildInfo{Main: other, Deps: replaced(debug.Module{Path: "example.org/fork", Version: "v1.2.3"})}, "example.org/fork v1.2.3"},
		{"another program", debug.BuildInfo{Main: other}, ""},
	} {
		if got := versionIn(&c.info); got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
}
