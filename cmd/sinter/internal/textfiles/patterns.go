package textfiles

import (
	"errors"
	"fmt"
	"strings"
)

// ErrPattern is a line of a file of ignore rules that cannot be understood. It
// is as if it were not there.
var ErrPattern = errors.New("pattern left aside")

// verdict is what rules say of a file or folder.
type verdict int

const (
	silent  verdict = iota // no rule matches
	ignore                 // leave it out
	include                // take it, even if it is hidden
)

// pattern is a line of a file of ignore rules.
type pattern struct {
	glob
	negated bool
	folders bool // about folders alone
}

// newPattern reads a pattern that is neither empty nor a comment. One with a
// slash at its front or within is about paths from the folder of its file,
// others about names at any depth.
func newPattern(line string) (pattern, error) {
	var p pattern
	line, p.negated = strings.CutPrefix(line, "!")
	line, anchored := strings.CutPrefix(line, "/")
	line, p.folders = strings.CutSuffix(line, "/")
	if p.folders { // of an escaped slash the escape goes as well
		line = strings.TrimSuffix(line, `\`)
	}
	if line == "" {
		return pattern{}, errors.New("nothing to match")
	}
	var err error
	p.glob, err = newGlob(line, !anchored && !strings.Contains(line, "/"))
	return p, err
}

// patterns are those of a file, in its order.
type patterns []pattern

// parsePatterns reads a file as gitignore(5) has it. What cannot be understood
// is left out, and bad told of it.
func parsePatterns(text string, bad func(line int, err error)) patterns {
	var all patterns
	number := 0
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		number++
		line = strings.TrimRight(line, "\r\n")
		if !strings.HasSuffix(line, `\ `) {
			line = strings.TrimRight(line, " \t")
		}
		if line == "" || line[0] == '#' {
			continue
		}
		p, err := newPattern(line)
		if err != nil {
			bad(number, fmt.Errorf("%w: %.80q: %w", ErrPattern, line, err))
			continue
		}
		all = append(all, p)
	}
	return all
}

// judge asks the patterns about a path from their folder: the last that
// matches decides.
func (ps patterns) judge(path string, folder bool) verdict {
	for i := len(ps) - 1; i >= 0; i-- {
		p := &ps[i]
		switch {
		case p.folders && !folder || !p.match(path):
		case p.negated:
			return include
		default:
			return ignore
		}
	}
	return silent
}

// Globs choose files by path, before all other rules. The zero value chooses
// none.
type Globs struct {
	patterns patterns
	include  bool // some glob is not negated
}

// ParseGlobs reads globs written as patterns of a .gitignore file in the
// current folder, but with the opposite meaning: what matches is taken, even if
// it is hidden or ignored, and what matches a glob after ! is left out, folders
// too. Of several that match the last decides; if there is one without !,
// files that none matches are left out.
func ParseGlobs(texts []string) (Globs, error) {
	var g Globs
	for _, text := range texts {
		p, err := newPattern(text)
		if err != nil {
			return Globs{}, fmt.Errorf("glob %.80q: %w", text, err)
		}
		g.patterns = append(g.patterns, p)
		g.include = g.include || !p.negated
	}
	return g, nil
}

func (g Globs) judge(path string, folder bool) verdict {
	switch g.patterns.judge(path, folder) {
	case ignore:
		return include
	case include:
		return ignore
	}
	if g.include && !folder {
		return ignore
	}
	return silent
}
