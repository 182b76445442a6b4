package passage

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

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

// restructuredText marks titles: a line that is not indented over a rule at
// least as wide, perhaps with a rule above it too.
func restructuredText(lines []string, b []border) {
	for i := 1; i < len(lines); i++ {
		title := strings.TrimRight(lines[i-1], " \t\r")
		width := rule(lines[i])
		if width == 0 || title == "" || rule(title) > 0 || width < utf8.RuneCountInString(title) {
			continue
		}
		over := i > 1 && rule(lines[i-2]) >= width
		switch {
		case over:
			b[i-2] = heading
		case title[0] != ' ' && title[0] != '\t' && (i == 1 || blank(lines[i-2])):
			b[i-1] = heading
		}
	}
}

// rule is the width of a line that is one punctuation character again and
// again, else 0.
func rule(line string) int {
	line = strings.TrimRight(line, " \t\r")
	if line == "" || !strings.Contains("=-~^\"'`+*#<>:._", line[:1]) || strings.Trim(line, line[:1]) != "" {
		return 0
	}
	return len(line)
}

var asciiDocHeading = regexp.MustCompile(`^={1,6}[ \t]+\S`)

// asciiDoc marks section titles, but in blocks that are shown as they are, with
// the attributes and anchors in the lines above them.
func asciiDoc(lines []string, b []border) {
	const least = 4 // characters of a rule that opens or ends a block
	open := ""
	for i, l := range lines {
		l = strings.TrimRight(l, " \t\r")
		if rule(l) >= least && strings.Contains("-.+", l[:1]) {
			switch open {
			case "":
				open = l
			case l:
				open = ""
			}
			continue
		}
		if open == "" && asciiDocHeading.MatchString(l) {
			for i > 0 && strings.HasPrefix(lines[i-1], "[") {
				i--
			}
			b[i] = heading
		}
	}
}
