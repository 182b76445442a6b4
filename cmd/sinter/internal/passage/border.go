package passage

import (
	"path/filepath"
	"regexp"
	"strings"
)

// border is how strongly a line is set off from the one before, rising.
type border uint8

const (
	within    border = iota // of a paragraph
	paragraph               // after a blank line
	outermost               // after a blank line, not indented
	heading                 // of a section or a declaration
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
	switch strings.ToLower(filepath.Ext(name)) {
	case ".md", ".markdown", ".mdx":
		markdown(lines, b)
	case ".go":
		declarations(lines, b)
	}
	return b
}

func blank(line string) bool { return strings.TrimSpace(line) == "" }

var (
	atxHeading = regexp.MustCompile(`^ {0,3}#{1,6}([ \t]|\r?$)`)
	underline  = regexp.MustCompile(`^ {0,3}(=+|-+)[ \t]*\r?$`)
	fence      = regexp.MustCompile("^ {0,3}(```+|~~~+)")
)

// markdown marks headings as CommonMark has them, but in fenced code.
func markdown(lines []string, b []border) {
	open := ""
	for i, l := range lines {
		if m := fence.FindStringSubmatch(l); m != nil {
			switch {
			case open == "":
				open = m[1]
			case strings.HasPrefix(m[1], open):
				open = ""
			}
			continue
		}
		switch {
		case open != "":
		case atxHeading.MatchString(l):
			b[i] = heading
		case i > 0 && underline.MatchString(l) && b[i-1] >= paragraph:
			b[i-1] = heading // a single line and the rule below it
		}
	}
}

var goDeclaration = regexp.MustCompile(`^(func|type|var|const)\b`)

// declarations marks Go's at the outermost level, from their comments on.
func declarations(lines []string, b []border) {
	for i, l := range lines {
		if !goDeclaration.MatchString(l) {
			continue
		}
		at := i
		for at > 0 && strings.HasPrefix(lines[at-1], "//") {
			at--
		}
		b[at] = heading
	}
}
