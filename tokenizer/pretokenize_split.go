package tokenizer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"unicode/utf8"
)

// finder finds the places that a pattern matches, as pairs of start and end
// that rise and do not overlap. It stops when yield returns false.
type finder interface {
	find(text []byte, yield func(start, end int) bool)
}

// behavior says what becomes of the matches of a splitting pattern.
type behavior int

const (
	isolated           behavior = iota // each is a word
	removed                            // they are left out
	mergedWithPrevious                 // each goes on the word before it
	mergedWithNext                     // each starts the word after it
	contiguous                         // as isolated, matches that touch in one word
)

func (b *behavior) UnmarshalJSON(raw []byte) error {
	var name string
	if err := json.Unmarshal(raw, &name); err != nil {
		return err
	}
	for i, known := range []string{"Isolated", "Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous"} {
		if name == known {
			*b = behavior(i)
			return nil
		}
	}
	return fmt.Errorf("the behavior %.40q is not known", name)
}

// patternSplitter cuts a text at what a pattern matches, or, inverted, at what
// it does not.
type patternSplitter struct {
	finder
	behavior
	invert bool
}

func (p patternSplitter) words(text []byte, yield func(start, end int) bool) {
	g := gatherer{behavior: p.behavior, yield: yield}
	done := 0 // all before is handed on
	stopped := false
	p.find(text, func(start, end int) bool {
		if done < start && !g.add(done, start, p.invert) || start < end && !g.add(start, end, !p.invert) {
			stopped = true
			return false
		}
		done = end
		return true
	})
	if stopped || done < len(text) && !g.add(done, len(text), p.invert) {
		return
	}
	g.end()
}

// gatherer makes words of stretches that come in order, each a match or not.
type gatherer struct {
	behavior
	yield func(start, end int) bool
	held  span // that the next stretch may join; empty for none
	match bool // the last stretch was a match
}

// add returns false when no more words are wanted.
func (g *gatherer) add(start, end int, match bool) bool {
	joins := false
	switch g.behavior {
	case isolated:
		return g.yield(start, end)
	case removed:
		return match || g.yield(start, end)
	case mergedWithPrevious:
		joins = match && !g.match
	case mergedWithNext:
		joins = !match && g.match
	case contiguous:
		joins = match == g.match
	}
	g.match = match
	if joins && g.held.start < g.held.end {
		g.held.end = end
		return true
	}
	more := g.end()
	g.held = span{start, end}
	return more
}

// end hands on what is held.
func (g *gatherer) end() bool {
	return g.held.start == g.held.end || g.yield(g.held.start, g.held.end)
}

// jsonPattern is a pattern of the file: one of the two.
type jsonPattern struct {
	String, Regex *string
}

// maxPattern bounds the length of a pattern in bytes. The longest known is of
// a few hundred.
const maxPattern = 1 << 13

func (p jsonPattern) finder() (finder, error) {
	switch {
	case p.String != nil && p.Regex == nil:
		if *p.String == "" {
			return nil, errors.New("the pattern is empty")
		}
		return literal(*p.String), nil
	case p.Regex != nil && p.String == nil:
		if len(*p.Regex) > maxPattern {
			return nil, fmt.Errorf("a regular expression of %d bytes, more than %d", len(*p.Regex), maxPattern)
		}
		if next, ok := knownPatterns[*p.Regex]; ok {
			return scanner(next), nil
		}
		re, err := compileRegex(*p.Regex)
		if err != nil {
			return nil, err
		}
		return regexFinder{re}, nil
	}
	return nil, errors.New("a pattern must be either String or Regex")
}

// parseSplit reads a Split.
func parseSplit(raw []byte) ([]preStage, error) {
	var file struct {
		Pattern  jsonPattern `json:"pattern"`
		Behavior *behavior   `json:"behavior"`
		Invert   bool        `json:"invert"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		return nil, err
	}
	if file.Behavior == nil {
		return nil, errors.New("the behavior is missing")
	}
	f, err := file.Pattern.finder()
	if err != nil {
		return nil, err
	}
	if all, ok := f.(scanner); ok && (*file.Behavior == isolated || *file.Behavior == removed && file.Invert) {
		return []preStage{{splitter: all}}, nil
	}
	return []preStage{{splitter: patternSplitter{f, *file.Behavior, file.Invert}}}, nil
}

// literal finds a text.
type literal string

func (l literal) find(text []byte, yield func(start, end int) bool) {
	for at := 0; ; {
		i := bytes.Index(text[at:], []byte(l))
		if i < 0 || !yield(at+i, at+i+len(l)) {
			return
		}
		at += i + len(l)
	}
}

// regexFinder finds what a regular expression matches.
type regexFinder struct{ *regexp.Regexp }

func (f regexFinder) find(text []byte, yield func(start, end int) bool) {
	// Some at first, as often no more are wanted, then ever more.
	done := 0
	for most := 64; ; most *= 4 {
		all := f.FindAllIndex(text, most)
		for _, m := range all[done:] {
			if !yield(m[0], m[1]) {
				return
			}
		}
		if done = len(all); done < most {
			return
		}
	}
}

// runeFinder finds characters.
type runeFinder func(rune) bool

func (is runeFinder) find(text []byte, yield func(start, end int) bool) {
	for i := 0; i < len(text); {
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(text[i:])
		}
		if is(r) && !yield(i, i+size) {
			return
		}
		i += size
	}
}

// splitAt cuts at characters.
func splitAt(is func(rune) bool, b behavior) splitter {
	return patternSplitter{finder: runeFinder(is), behavior: b}
}
