package main

import (
	"fmt"
	"strings"

	"github.com/sinterml/sinter/cmd/sinter/internal/ranking"
)

// foundPrinter writes results as a query asks for them.
type foundPrinter struct {
	*lines
	style style
	links links
	width int // of the terminal, 0 if there is none
	query ranking.Query
}

// printFound writes results.
func (a *app) printFound(q query, r searchResult) error {
	if a.settings.json && !q.show.paths {
		return a.printJSON(r)
	}
	if len(r.Results) == 0 {
		a.warn("nothing found in %s", count(r.Files, "file"))
	}
	p := foundPrinter{newLines(a.stdout), a.style(), a.links(q.show.links), terminalWidth(a.stdout), ranking.ParseQuery(q.text)}
	for i, f := range r.Results {
		switch {
		case q.show.paths && (a.settings.json || q.show.null || !p.style.on && !p.links.on):
			if err := a.printPath(p.lines, f.Path, q.show.null); err != nil {
				return err
			}
		case q.show.paths:
			fmt.Fprintln(p, p.path(f.Path))
		case q.show.vimgrep:
			p.vimgrep(f)
		default:
			if i > 0 {
				fmt.Fprintln(p)
			}
			p.passage(f, q.show.whole)
		}
	}
	if n := r.Skipped; a.terminal && n != (skipped{}) {
		a.warn("left out: %d binary, %d too large, %d unreadable", n.Binary, n.TooLarge, n.Unreadable)
	}
	return p.Flush()
}

func (p *foundPrinter) path(path string) string {
	return p.links.link(path, p.style.paint(magenta, printable(path)))
}

// passage writes one for people: the place, the score, and its lines, all with
// their numbers or the best few.
func (p *foundPrinter) passage(f found, whole bool) {
	fmt.Fprintf(p, "%s:%s  %s\n", p.path(f.Path), p.style.paint(green, fmt.Sprint(f.Line)), p.style.paint(dim, fmt.Sprintf("%.3f", f.Score)))
	if !whole {
		best, _ := p.query.BestLine(strings.Split(f.Text, "\n"))
		for _, l := range excerpt(f.Text, p.width, best) {
			fmt.Fprintf(p, "    %s\n", p.marked(l))
		}
		return
	}
	for _, l := range f.lines() {
		if l.inside {
			fmt.Fprintf(p, "%s:%s\n", p.style.paint(green, fmt.Sprint(l.number)), p.marked(readable(l.text)))
		} else {
			fmt.Fprintf(p, "%s-%s\n", p.style.paint(green, fmt.Sprint(l.number)), readable(l.text))
		}
	}
}

// vimgrep writes the line of a passage that holds most of the query's words, in
// the form that editors read. Columns are bytes, from 1.
func (p *foundPrinter) vimgrep(f found) {
	lines := strings.Split(f.Text, "\n")
	best, at := p.query.BestLine(lines)
	column := at + 1
	if best == 0 {
		column += f.start
	}
	fmt.Fprintf(p, "%s:%s:%d:%s\n", p.path(f.Path), p.style.paint(green, fmt.Sprint(f.Line+best)), column, p.marked(printable(lines[best])))
}

// marked is a line with the query's words in colour.
func (p *foundPrinter) marked(line string) string {
	if !p.style.on {
		return line
	}
	var b strings.Builder
	last := 0
	for _, s := range p.query.Spans(line) {
		b.WriteString(line[last:s[0]])
		b.WriteString(p.style.paint(boldRed, line[s[0]:s[1]]))
		last = s[1]
	}
	return b.String() + line[last:]
}

const tab = "    "

// readable is a line as it may be shown, with its indentation.
func readable(line string) string { return printable(strings.ReplaceAll(line, "\t", tab)) }

// excerpt is a few lines of a passage, from its first on or else from just
// before the best, their common indentation taken away, cut to a width (0: a
// wide one).
func excerpt(text string, width, best int) []string {
	const shown, margin, wide = 6, 4, 160
	limit := wide
	if width > 0 {
		limit = max(width-margin, 20)
	}
	var lines []string // that are not blank
	at, indent := 0, -1
	for i, l := range strings.Split(text, "\n") {
		l = readable(l)
		rest := strings.TrimLeft(l, " ")
		if rest == "" {
			continue
		}
		if i <= best {
			at = len(lines)
		}
		if indent < 0 || len(l)-len(rest) < indent {
			indent = len(l) - len(rest)
		}
		lines = append(lines, l)
	}
	from := 0
	if at >= shown {
		from = min(at-1, len(lines)-shown)
	}
	to := min(from+shown, len(lines))
	var out []string
	if from > 0 {
		out = append(out, "...")
	}
	for _, l := range lines[from:to] {
		runes := []rune(l[indent:])
		if len(runes) > limit {
			runes = append(runes[:limit-3], []rune("...")...)
		}
		out = append(out, strings.TrimRight(string(runes), " "))
	}
	if to < len(lines) {
		out = append(out, "...")
	}
	return out
}
