package tokenizer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// metaspace makes spaces visible, as SentencePiece does: each becomes a
// character of its own, and one may be put before the text.
type metaspace struct {
	char    string // that stands for a space
	prepend string // "always", "first" (before the start of the whole text) or "never"
}

type metaspaceFile struct {
	Replacement string  `json:"replacement"`
	PrefixSpace *bool   `json:"add_prefix_space"` // older files
	Prepend     *string `json:"prepend_scheme"`
	Split       *bool   `json:"split"`
}

func readMetaspace(raw []byte) (metaspace, metaspaceFile, error) {
	var file metaspaceFile
	if err := json.Unmarshal(raw, &file); err != nil {
		return metaspace{}, file, err
	}
	s := metaspace{file.Replacement, "always"}
	if file.Prepend != nil {
		s.prepend = *file.Prepend
	}
	switch {
	case utf8.RuneCountInString(s.char) != 1:
		return s, file, fmt.Errorf("the replacement %.40q is not one character", s.char)
	case s.prepend != "always" && s.prepend != "first" && s.prepend != "never":
		return s, file, fmt.Errorf("the prepend_scheme %.40q is not known", s.prepend)
	case file.PrefixSpace != nil && !*file.PrefixSpace:
		if s.prepend != "never" && file.Prepend != nil {
			return s, file, errors.New("add_prefix_space and prepend_scheme do not agree")
		}
		s.prepend = "never"
	}
	return s, file, nil
}

func parseMetaspace(raw []byte) ([]preStage, error) {
	s, file, err := readMetaspace(raw)
	if err != nil {
		return nil, err
	}
	stages := []preStage{{rewriter: s}}
	if orTrue(file.Split) {
		stages = append(stages, preStage{splitter: patternSplitter{finder: literal(s.char), behavior: mergedWithNext}})
	}
	return stages, nil
}

func (s metaspace) rewrite(m *mapped, start, end int) {
	char, _ := utf8.DecodeRuneInString(s.char)
	if s.prepend == "always" || s.prepend == "first" && m.atStart && m.sourceStart(start) == 0 {
		if m.text[start] != ' ' && !bytes.HasPrefix(m.text[start:end], []byte(s.char)) {
			m.put(char, start)
		}
	}
	for start < end {
		n := bytes.IndexByte(m.text[start:end], ' ')
		if n < 0 {
			n = end - start
		}
		m.copyRange(start, start+n)
		if start += n; start < end {
			m.put(char, start)
			start++
		}
	}
}

// metaspaceDecoder turns the character back into spaces, without the one that
// was put before the text.
type metaspaceDecoder struct{ metaspace }

func parseMetaspaceDecoder(raw []byte) (decoder, error) {
	s, _, err := readMetaspace(raw)
	return metaspaceDecoder{s}, err
}

func (d metaspaceDecoder) decode(tokens []string) []string {
	for i, token := range tokens {
		by := " "
		if i == 0 && d.prepend != "never" {
			by = ""
		}
		tokens[i] = strings.ReplaceAll(token, d.char, by)
	}
	return tokens
}
