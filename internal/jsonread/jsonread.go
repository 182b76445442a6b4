// Package jsonread reads JSON held in memory in one pass, value by value. The
// headers and vocabularies of model files are large or hostile, and need what
// encoding/json does not give: offsets in errors, repeated keys seen by the
// caller, a limit of depth, and strings that share the input's memory.
package jsonread

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth bounds nesting, and with it the stack that hostile input can use.
// Model files nest less than ten deep.
const maxDepth = 64

// Error is a fault in the text, at an offset in bytes from its start.
type Error struct {
	Offset int
	Reason string
}

func (e *Error) Error() string { return fmt.Sprintf("JSON at byte %d: %s", e.Offset, e.Reason) }

// Reader stands before a value of the text. Each method reads the next value
// and moves past it; after an error the position means nothing.
type Reader struct {
	text  string
	pos   int
	depth int
}

// New is a reader of text, which may hold one value of any kind.
func New(text string) *Reader { return &Reader{text: text} }

// Fail is an error at the position of the reader, for values that are JSON but
// not what the caller can use.
func (r *Reader) Fail(format string, args ...any) error {
	return &Error{Offset: r.pos, Reason: fmt.Sprintf(format, args...)}
}

// Next is the first byte of the value to come, which tells its kind, or 0 at
// the end of the text.
func (r *Reader) Next() byte {
	for r.pos < len(r.text) {
		switch c := r.text[r.pos]; c {
		case ' ', '\t', '\n', '\r':
			r.pos++
		default:
			return c
		}
	}
	return 0
}

// End requires that nothing but white space follows.
func (r *Reader) End() error {
	if r.Next() != 0 || r.pos < len(r.text) {
		return r.Fail("text after the end of the value")
	}
	return nil
}

// Object reads an object, calling field after each key; field must read the
// value. Repeated keys are passed on as they come.
func (r *Reader) Object(field func(key string) error) error {
	return r.members('{', '}', "an object", func() error {
		key, err := r.String()
		if err != nil {
			return err
		}
		if r.Next() != ':' {
			return r.Fail("no colon after the key %.40q", key)
		}
		r.pos++
		return field(key)
	})
}

// Array reads an array, calling element before each of its values, which
// element must read.
func (r *Reader) Array(element func() error) error {
	return r.members('[', ']', "an array", element)
}

func (r *Reader) members(open, end byte, kind string, member func() error) error {
	if r.Next() != open {
		return r.Fail("%s is wanted, not %s", kind, r.found())
	}
	r.pos++
	if r.depth++; r.depth > maxDepth {
		return r.Fail("nested more than %d deep", maxDepth)
	}
	for first := true; ; first = false {
		switch c := r.Next(); {
		case c == end:
			// A comma was followed by a member, so this is no trailing comma.
			r.pos++
			r.depth--
			return nil
		case first:
		case c == ',':
			r.pos++
			if r.Next() == end {
				return r.Fail("comma before %q", end)
			}
		default:
			return r.Fail("a comma or %q is wanted in %s, not %s", end, kind, r.found())
		}
		if err := member(); err != nil {
			return err
		}
	}
}

// String reads a string. Without escapes it shares the memory of the text.
func (r *Reader) String() (string, error) {
	if r.Next() != '"' {
		return "", r.Fail("a string is wanted, not %s", r.found())
	}
	start := r.pos + 1
	ascii := true
	for i := start; i < len(r.text); i++ {
		switch c := r.text[i]; {
		case c == '"':
			if !ascii && !utf8.ValidString(r.text[start:i]) {
				return "", r.Fail("string that is not UTF-8")
			}
			r.pos = i + 1
			return r.text[start:i], nil
		case c == '\\':
			return r.escaped(start, i)
		case c < ' ':
			r.pos = i
			return "", r.Fail("control character %#x in a string", c)
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	return "", r.Fail("string without end")
}

// escaped reads the rest of a string that starts at start and whose first
// backslash is at i.
func (r *Reader) escaped(start, i int) (string, error) {
	var b strings.Builder
	b.WriteString(r.text[start:i])
	for r.pos = i; r.pos < len(r.text); {
		c := r.text[r.pos]
		switch {
		case c == '"':
			r.pos++
			if !utf8.ValidString(b.String()) {
				return "", r.Fail("string that is not UTF-8")
			}
			return b.String(), nil
		case c < ' ':
			return "", r.Fail("control character %#x in a string", c)
		case c != '\\':
			b.WriteByte(c)
			r.pos++
		default:
			char, err := r.escape()
			if err != nil {
				return "", err
			}
			b.WriteRune(char)
		}
	}
	return "", r.Fail("string without end")
}

// escape reads one escape sequence, both halves of a surrogate pair.
func (r *Reader) escape() (rune, error) {
	if r.pos+1 >= len(r.text) {
		return 0, r.Fail("string without end")
	}
	c := r.text[r.pos+1]
	if c == 'u' {
		high, err := r.hex4()
		if err != nil || !utf16.IsSurrogate(high) {
			return high, err
		}
		if !strings.HasPrefix(r.text[r.pos:], `\u`) {
			return 0, r.Fail("half of a surrogate pair")
		}
		low, err := r.hex4()
		if err != nil {
			return 0, err
		}
		pair := utf16.DecodeRune(high, low)
		if pair == utf8.RuneError {
			return 0, r.Fail("half of a surrogate pair")
		}
		return pair, nil
	}
	const names, values = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	i := strings.IndexByte(names, c)
	if i < 0 {
		return 0, r.Fail("unknown escape \\%c", c)
	}
	r.pos += 2
	return rune(values[i]), nil
}

// hex4 reads the backslash, the u and the four digits of an escape.
func (r *Reader) hex4() (rune, error) {
	if len(r.text)-r.pos < 6 {
		return 0, r.Fail("string without end")
	}
	v, err := strconv.ParseUint(r.text[r.pos+2:r.pos+6], 16, 32)
	if err != nil {
		return 0, r.Fail("escape without four hexadecimal digits")
	}
	r.pos += 6
	return rune(v), nil
}

// Int reads a number that is written as an integer and fits an int64.
func (r *Reader) Int() (int64, error) {
	if c := r.Next(); c != '-' && (c < '0' || c > '9') {
		return 0, r.Fail("an integer is wanted, not %s", r.found())
	}
	start := r.pos
	if err := r.number(); err != nil {
		return 0, err
	}
	v, err := strconv.ParseInt(r.text[start:r.pos], 10, 64)
	if err != nil {
		return 0, &Error{start, fmt.Sprintf("the number %.40s is not an integer of 64 bits", r.text[start:r.pos])}
	}
	return v, nil
}

// Raw reads any value and returns its text.
func (r *Reader) Raw() (string, error) {
	r.Next()
	start := r.pos
	if err := r.Skip(); err != nil {
		return "", err
	}
	return r.text[start:r.pos], nil
}

// Skip reads any value.
func (r *Reader) Skip() error {
	switch c := r.Next(); {
	case c == '{':
		return r.Object(func(string) error { return r.Skip() })
	case c == '[':
		return r.Array(r.Skip)
	case c == '"':
		_, err := r.String()
		return err
	case c == '-' || '0' <= c && c <= '9':
		return r.number()
	}
	for _, word := range []string{"true", "false", "null"} {
		if strings.HasPrefix(r.text[r.pos:], word) {
			r.pos += len(word)
			return nil
		}
	}
	return r.Fail("a value is wanted, not %s", r.found())
}

// number moves past a number as JSON's grammar has it.
func (r *Reader) number() error {
	if r.text[r.pos] == '-' {
		r.pos++
	}
	whole := r.pos
	if err := r.digits(); err != nil {
		return err
	}
	if r.text[whole] == '0' && r.pos > whole+1 {
		return r.Fail("number with a leading zero")
	}
	if r.pos < len(r.text) && r.text[r.pos] == '.' {
		r.pos++
		if err := r.digits(); err != nil {
			return err
		}
	}
	if r.pos < len(r.text) && r.text[r.pos]|' ' == 'e' {
		r.pos++
		if r.pos < len(r.text) && (r.text[r.pos] == '+' || r.text[r.pos] == '-') {
			r.pos++
		}
		return r.digits()
	}
	return nil
}

// digits moves past one digit or more.
func (r *Reader) digits() error {
	start := r.pos
	for r.pos < len(r.text) && '0' <= r.text[r.pos] && r.text[r.pos] <= '9' {
		r.pos++
	}
	if r.pos == start {
		return r.Fail("a digit is wanted, not %s", r.found())
	}
	return nil
}

// found describes what stands at the position, for messages.
func (r *Reader) found() string {
	if r.pos >= len(r.text) {
		return "the end of the text"
	}
	if r.pos == 0 { // what is found most where a file of JSON should be
		switch {
		case strings.HasPrefix(r.text, "version https://git-lfs"):
			return "a pointer of Git LFS: fetch the file that it stands for with git lfs pull"
		case r.text[0] == '<':
			return "a web page: fetch the file itself"
		}
	}
	c, _ := utf8.DecodeRuneInString(r.text[r.pos:])
	return strconv.QuoteRune(c)
}
