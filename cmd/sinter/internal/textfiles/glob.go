package textfiles

import (
	"fmt"
	"path"
	"strings"
)

// Globs choose files by path. The zero value chooses all.
type Globs struct {
	globs   []glob
	include bool // some glob is not negated
}

type glob struct {
	negated  bool
	anywhere bool     // no slash: it is about names, wherever they are
	parts    []string // between slashes
}

// ParseGlobs reads globs as path.Match has them, and ** for any number of
// folders. One without a slash is about names at any depth, others about paths
// from the root. A glob after ! leaves out what it matches, folders too. Of
// several that match the last decides; if there is one without !, files that
// none matches are left out.
func ParseGlobs(texts []string) (Globs, error) {
	var g Globs
	for _, text := range texts {
		pattern, negated := strings.CutPrefix(text, "!")
		pattern = strings.TrimSuffix(pattern, "/")
		if pattern == "" {
			return Globs{}, fmt.Errorf("glob %q is empty", text)
		}
		one := glob{negated: negated, anywhere: !strings.Contains(pattern, "/")}
		one.parts = strings.Split(strings.TrimPrefix(pattern, "/"), "/")
		for _, p := range one.parts {
			if _, err := path.Match(p, ""); err != nil {
				return Globs{}, fmt.Errorf("glob %q: %w", text, err)
			}
		}
		g.globs = append(g.globs, one)
		g.include = g.include || !negated
	}
	return g, nil
}

// Excludes reports whether the file or folder at a path from the root, with
// slashes, is left out.
func (g Globs) Excludes(rel string, dir bool) bool {
	for i := len(g.globs) - 1; i >= 0; i-- {
		if g.globs[i].match(rel) {
			return g.globs[i].negated
		}
	}
	return g.include && !dir
}

func (g glob) match(rel string) bool {
	if g.anywhere {
		rel = path.Base(rel)
	}
	return matchParts(g.parts, strings.Split(rel, "/"))
}

func matchParts(pattern, parts []string) bool {
	for i, p := range pattern {
		if p == "**" {
			for skip := i; skip <= len(parts); skip++ {
				if matchParts(pattern[i+1:], parts[skip:]) {
					return true
				}
			}
			return false
		}
		if i >= len(parts) {
			return false
		}
		if ok, _ := path.Match(p, parts[i]); !ok {
			return false
		}
	}
	return len(pattern) == len(parts)
}
