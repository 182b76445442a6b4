package main

import (
	"fmt"
	"strings"
)

// printFound shows results to people: the place, the score, the passage.
func (a *app) printFound(r searchResult) error {
	out := newLines(a.stdout)
	s := a.style()
	if len(r.Results) == 0 {
		a.warn("no text found in %d files", r.Files)
	}
	width := terminalWidth(a.stdout)
	for i, f := range r.Results {
		if i > 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintf(out, "%s:%s  %s\n", s.paint(magenta, printable(f.Path)), s.paint(green, fmt.Sprint(f.Line)), s.paint(dim, fmt.Sprintf("%.3f", f.Score)))
		for _, l := range excerpt(f.Text, width) {
			fmt.Fprintf(out, "    %s\n", l)
		}
	}
	if n := r.Skipped; a.terminal && n != (skipped{}) {
		a.warn("left out: %d binary, %d too large, %d unreadable", n.Binary, n.TooLarge, n.Unreadable)
	}
	return out.Flush()
}

// excerpt is the first lines of a passage, their common indentation taken
// away, cut to a width (0: a wide one).
func excerpt(text string, width int) []string {
	const shown, margin, wide, tab = 6, 4, 160, "    "
	limit := wide
	if width > 0 {
		limit = max(width-margin, 20)
	}
	lines := strings.Split(strings.ReplaceAll(text, "\t", tab), "\n")
	indent := -1
	for _, l := range lines {
		if rest := strings.TrimLeft(l, " "); rest != "" && (indent < 0 || len(l)-len(rest) < indent) {
			indent = len(l) - len(rest)
		}
	}
	var out []string
	for _, l := range lines {
		if strings.TrimSpace(l) == "" {
			continue
		}
		if len(out) == shown {
			return append(out, "...")
		}
		runes := []rune(printable(l[min(indent, len(l)):]))
		if len(runes) > limit {
			runes = append(runes[:limit-3], []rune("...")...)
		}
		out = append(out, strings.TrimRight(string(runes), " "))
	}
	return out
}
