package loop

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

type tokenKind uint8

const (
	tokenEnd tokenKind = iota
	tokenWord
	tokenNumber
	tokenString   // text is the unquoted value
	tokenValue    // %3: text is 3
	tokenOperator // one of operators
)

type token struct {
	kind tokenKind
	text string
}

// operators, longer ones first.
var operators = []string{"==", "<", "=", "+", "-", "*", "/", "(", ")", "[", "]", "{", "}", ",", "?", "."}

// scanner cuts the text of a kernel into tokens. Space only separates.
type scanner struct {
	text string
	at   int
	line int // of the last token
}

func (s *scanner) next() (token, error) {
	for s.at < len(s.text) && strings.IndexByte(" \t\r\n", s.text[s.at]) >= 0 {
		if s.text[s.at] == '\n' {
			s.line++
		}
		s.at++
	}
	rest := s.text[s.at:]
	if rest == "" {
		return token{}, nil
	}
	switch r, _ := utf8.DecodeRuneInString(rest); {
	case r == '"':
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return token{}, fmt.Errorf("a string does not end: %w", err)
		}
		s.at += len(quoted)
		text, err := strconv.Unquote(quoted)
		return token{tokenString, text}, err
	case r == '%':
		n := span(rest[1:], isDigit)
		s.at += 1 + n
		return token{tokenValue, rest[1 : 1+n]}, nil
	case isDigit(r):
		n := number(rest)
		s.at += n
		return token{tokenNumber, rest[:n]}, nil
	case isLetter(r):
		n := span(rest, func(r rune) bool { return isLetter(r) || unicode.IsDigit(r) })
		s.at += n
		return token{tokenWord, rest[:n]}, nil
	default:
		for _, op := range operators {
			if strings.HasPrefix(rest, op) {
				s.at += len(op)
				return token{tokenOperator, op}, nil
			}
		}
		return token{}, fmt.Errorf("unexpected %q", r)
	}
}

// peekLetter tells whether a word follows the current token at once.
func (s *scanner) peekLetter() bool {
	r, _ := utf8.DecodeRuneInString(s.text[s.at:])
	return isLetter(r)
}

func isDigit(r rune) bool  { return r >= '0' && r <= '9' }
func isLetter(r rune) bool { return r == '_' || unicode.IsLetter(r) }

// span is the length of the runes at the start that are ok.
func span(s string, ok func(rune) bool) int {
	for i, r := range s {
		if !ok(r) {
			return i
		}
	}
	return len(s)
}

// number is the length of the number at the start: 12, 0xff, 1.5, 1e-07.
func number(s string) int {
	n := span(s, func(r rune) bool { return isDigit(r) || isLetter(r) || r == '.' })
	if n < len(s) && (s[n] == '-' || s[n] == '+') && s[n-1] == 'e' && !strings.HasPrefix(s, "0x") {
		n += 1 + span(s[n+1:], isDigit)
	}
	return n
}
