package tokenizer

import (
	"encoding/json"
	"unicode"
	"unicode/utf8"
)

// replace is Replace, as normaliser and as decoder: what the pattern matches
// becomes the content.
type replace struct {
	finder
	content  string
	minMatch int // bytes that a match has at least, or 1
}

func parseReplace(raw []byte) (*replace, error) {
	var file struct {
		Pattern jsonPattern `json:"pattern"`
		Content string      `json:"content"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		return nil, err
	}
	if len(file.Content) > maxInserted {
		return nil, errInserted(file.Content)
	}
	f, err := file.Pattern.finder()
	if err != nil {
		return nil, err
	}
	r := &replace{f, file.Content, 1}
	if l, ok := f.(literal); ok {
		r.minMatch = len(l)
	}
	return r, nil
}

func parseReplaceNormalizer(raw []byte) (normalizer, error) {
	return orNil[normalizer](parseReplace(raw))
}

// orNil keeps a nil pointer from becoming an interface that is not nil.
func orNil[I any, T any](stage T, err error) (I, error) {
	if err != nil {
		var none I
		return none, err
	}
	return any(stage).(I), nil
}

func (r *replace) growth() int { return max(1, (len(r.content)+r.minMatch-1)/r.minMatch) }

func (r *replace) normalize(m *mapped) {
	done := -1 // nothing is put yet
	r.find(m.text, func(start, end int) bool {
		if done < 0 {
			m.begin()
			done = 0
		}
		m.copyRange(done, start)
		for _, c := range r.content {
			m.put(c, end-1) // the offsets are those of the last character replaced
		}
		done = end
		return true
	})
	if done >= 0 {
		m.copyRange(done, len(m.text))
		m.commit()
	}
}

// prepend is Prepend: text put in front of each part between added tokens.
type prepend string

func parsePrepend(raw []byte) (normalizer, error) {
	var file struct {
		Prepend string `json:"prepend"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		return nil, err
	}
	if len(file.Prepend) > maxInserted {
		return nil, errInserted(file.Prepend)
	}
	return prepend(file.Prepend), nil
}

func (p prepend) growth() int { return 1 + len(p) }

func (p prepend) normalize(m *mapped) {
	if len(m.text) == 0 {
		return
	}
	m.begin()
	for _, r := range string(p) {
		m.put(r, 0)
	}
	m.copyRange(0, len(m.text))
	m.commit()
}

// strip is Strip: white space at the ends goes.
type strip struct{ left, right bool }

func parseStrip(raw []byte) (normalizer, error) {
	var file struct {
		Left  *bool `json:"strip_left"`
		Right *bool `json:"strip_right"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		return nil, err
	}
	return strip{orTrue(file.Left), orTrue(file.Right)}, nil
}

func (s strip) normalize(m *mapped) {
	start, end := 0, len(m.text)
	for s.left && start < end {
		r, size := utf8.DecodeRune(m.text[start:])
		if !unicode.IsSpace(r) {
			break
		}
		start += size
	}
	for s.right && end > start {
		r, size := utf8.DecodeLastRune(m.text[:end])
		if !unicode.IsSpace(r) {
			break
		}
		end -= size
	}
	if end-start < len(m.text) {
		m.begin()
		m.copyRange(start, end)
		m.commit()
	}
}
