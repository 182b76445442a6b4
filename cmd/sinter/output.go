package main

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"runtime"
	"strings"

	"golang.org/x/term"
)

// isTerminal reports whether what is written to w, or read from it, is a
// person's.
func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// terminalWidth is the columns of the terminal that w is, else 0.
func terminalWidth(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// lines writes JSON values, one a line, or anything else, and is flushed when
// a reader may be waiting.
type lines struct {
	*bufio.Writer
	json *json.Encoder
}

func newLines(w io.Writer) *lines {
	b := bufio.NewWriterSize(w, 64<<10)
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	return &lines{b, e}
}

// printJSON writes one value that people may look at too.
func (a *app) printJSON(v any) error {
	l := newLines(a.stdout)
	l.json.SetIndent("", "  ")
	if err := l.json.Encode(v); err != nil {
		return err
	}
	return l.Flush()
}

// style paints text for a terminal. The zero style leaves it as it is.
type style struct{ on bool }

// style obeys --color, NO_COLOR (no-color.org) and terminals that say they are
// dumb. Windows consoles are known to understand where they name themselves.
func (a *app) style() style {
	if a.settings.color != "" && a.settings.color != auto {
		return style{a.settings.color == always}
	}
	on := a.terminal && a.env("NO_COLOR") == "" && a.env("TERM") != "dumb"
	if runtime.GOOS == "windows" {
		on = on && (a.env("WT_SESSION") != "" || a.env("TERM") != "")
	}
	return style{on}
}

// When something is done that is for terminals.
const (
	auto   = "auto" // on those known to understand it
	always = "always"
	never  = "never"
)

var whens = []string{auto, always, never}

// Codes of ECMA-48, select graphic rendition.
const (
	bold    = "1"
	boldRed = "1;31"
	dim     = "2"
	green   = "32"
	magenta = "35"
)

func (s style) paint(code, text string) string {
	if !s.on || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// printable replaces control characters, which a file could use to write
// anywhere on a terminal, and those that reorder text, with which a name could
// pass for another. Tabs become spaces.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069:
			return '\ufffd'
		}
		return r
	}, s)
}

// printableLines is printable for messages, which may have several lines.
func printableLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = printable(l)
	}
	return strings.Join(lines, "\n")
}
