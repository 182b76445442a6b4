package main

import (
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sinterml/sinter/cmd/sinter/internal/textfiles"
)

// links makes text a link to a file, by the control sequence OSC 8
// (gist.github.com/egmontkob/eb114294efbcd5adb1944c9f3cb5feda). The zero value
// leaves text as it is.
type links struct {
	on   bool
	host string // so that a terminal knows files of another machine
}

func (a *app) links(on bool) links {
	if !on {
		return links{}
	}
	host, err := os.Hostname()
	if err != nil {
		host = "" // the specification's word for this machine
	}
	return links{on, host}
}

func (l links) link(path, text string) string {
	if !l.on || path == textfiles.Stdin {
		return text
	}
	full, err := filepath.Abs(path)
	if err != nil {
		return text
	}
	full = filepath.ToSlash(full)
	if !strings.HasPrefix(full, "/") { // a drive's letter
		full = "/" + full
	}
	u := url.URL{Scheme: "file", Host: l.host, Path: full}
	return "\x1b]8;;" + u.String() + "\x1b\\" + text + "\x1b]8;;\x1b\\"
}

// followsLinks reports whether standard output is a terminal that is known to
// follow links. Others may write the address onto the screen. What runs within
// another, such as tmux, does not pass links on unless it is told to.
func (a *app) followsLinks() bool {
	kind := a.env("TERM")
	if !a.terminal || kind == "" && a.env("WT_SESSION") == "" {
		return false
	}
	for _, no := range []string{"dumb", "linux", "screen", "tmux"} {
		if strings.HasPrefix(kind, no) {
			return false
		}
	}
	for _, yes := range []string{"alacritty", "contour", "foot", "rio", "wezterm", "xterm-ghostty", "xterm-kitty"} {
		if strings.HasPrefix(kind, yes) {
			return true
		}
	}
	switch a.env("TERM_PROGRAM") {
	case "ghostty", "Hyper", "iTerm.app", "rio", "Tabby", "vscode", "WezTerm", "zed":
		return true
	}
	if vte, err := strconv.Atoi(a.env("VTE_VERSION")); err == nil && vte > 5000 { // 0.50.0 crashes
		return true
	}
	return a.env("WT_SESSION") != "" || a.env("KONSOLE_VERSION") != "" || a.env("DOMTERM") != ""
}
