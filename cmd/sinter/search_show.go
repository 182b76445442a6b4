package main

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// showFlags say what is printed of results. They mean what those of ripgrep do,
// where it has them.
type showFlags struct {
	whole            bool // --context is given
	context          int
	paths, vimgrep   bool
	color, hyperlink string
}

func (f *showFlags) register(set *pflag.FlagSet) {
	set.IntVarP(&f.context, "context", "C", 0, "show passages whole, with `N` lines before and after")
	set.BoolVarP(&f.paths, "files-with-matches", "l", false, "show the paths of the best files alone, at most --top")
	set.BoolVar(&f.vimgrep, "vimgrep", false, "show a line a passage, the one that says most, as path:line:column:text")
	set.StringVar(&f.color, "color", auto, "colours and marked words `WHEN`: auto (on terminals, unless $NO_COLOR is set), always or never")
	set.StringVar(&f.hyperlink, "hyperlink", auto, "paths as links `WHEN`: auto (on terminals known to follow them), always or never")
}

// show is what to print of results.
type show struct {
	paths, null bool // nothing but paths, with zero bytes after
	vimgrep     bool
	whole       bool // passages, with
	context     int  // lines around
	links       bool
}

// show checks flags that say what to print.
func (a *app) show(f showFlags, null bool) (show, error) {
	s := show{paths: f.paths, null: null, vimgrep: f.vimgrep, whole: f.whole, context: f.context}
	switch {
	case f.context < 0:
		return s, usagef("--context %d: use 0 or more", f.context)
	case f.paths && f.vimgrep:
		return s, usagef("-l and --vimgrep: give one")
	case f.whole && (f.paths || f.vimgrep):
		return s, usagef("-C is about passages, which -l and --vimgrep do not show: leave it out")
	case f.vimgrep && a.settings.json:
		return s, usagef("--vimgrep and --json: give one")
	case null && !f.paths:
		return s, usagef("-0 is about the paths that --files and -l print: give one of them")
	case null && a.settings.json:
		return s, usagef("-0 and --json: give one")
	case !slices.Contains(whens, f.color):
		return s, usagef("--color %q: use auto, always or never", f.color)
	case !slices.Contains(whens, f.hyperlink):
		return s, usagef("--hyperlink %q: use auto, always or never", f.hyperlink)
	}
	a.settings.color = f.color
	s.links = f.hyperlink == always || f.hyperlink == auto && a.followsLinks()
	return s, nil
}

// checkFilesAlone refuses what --files would leave without effect.
func checkFilesAlone(given func(flag string) bool) error {
	for _, name := range []string{"top", "rank", "min-score", "rerank", "rerank-model", "context", "files-with-matches", "vimgrep"} {
		if given(name) {
			return usagef("--files lists files and searches nothing: leave out --%s", name)
		}
	}
	return nil
}

// needsLines reports whether more is shown of a file than passages.
func (s show) needsLines() bool { return s.context > 0 || s.vimgrep }

// place finds a passage in the lines of its file, and those around it.
func (f *found) place(lines []string, around int) {
	if f.EndLine > len(lines) { // the file has changed
		return
	}
	first, _, _ := strings.Cut(f.Text, "\n")
	f.start = max(0, strings.Index(lines[f.Line-1], first))
	f.Before = lines[max(0, f.Line-1-around) : f.Line-1]
	f.After = lines[f.EndLine:min(len(lines), f.EndLine+around)]
}

// numbered is a line to show.
type numbered struct {
	number int
	text   string
	inside bool // of the passage
}

// lines are those of a passage, with those around it.
func (f *found) lines() []numbered {
	var all []numbered
	add := func(from int, lines []string, inside bool) {
		for i, l := range lines {
			all = append(all, numbered{from + i, l, inside})
		}
	}
	add(f.Line-len(f.Before), f.Before, false)
	add(f.Line, strings.Split(f.Text, "\n"), true)
	add(f.EndLine+1, f.After, false)
	return all
}
