package passage

import "strings"

// border is how strongly a line is set off from the one before, rising.
type border uint8

const (
	within    border = iota // of a paragraph
	paragraph               // after a blank line
	outermost               // after a blank line, not indented
	member                  // a declaration in another one, such as a method
	heading                 // of a section, or a declaration
)

// bordersOf finds the border before each line.
func bordersOf(name string, lines []string) []border {
	b := make([]border, len(lines))
	for i := 1; i < len(lines); i++ {
		if blank(lines[i-1]) && !blank(lines[i]) {
			b[i] = paragraph
			if lines[i][0] != ' ' && lines[i][0] != '\t' {
				b[i] = outermost
			}
		}
	}
	if l := languageOf(name); l != nil {
		l.mark(lines, b)
	}
	return b
}

func blank(line string) bool { return strings.TrimSpace(line) == "" }
