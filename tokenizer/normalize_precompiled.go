package tokenizer

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// precompiled is SentencePiece's table of replacements: a trie of what is
// replaced, as a double array (Aoe 1989, in the layout of Darts-clone), and
// the texts that come instead.
type precompiled struct {
	units []trieUnit
	texts string // each ends with a NUL

	ascii   [utf8.RuneSelf]*string // what single characters become, nil for themselves
	longest int                    // growth
}

// trieUnit is a place of the double array: the byte that leads to it, and how
// far its children are.
type trieUnit uint32

func (u trieUnit) hasLeaf() bool { return u>>8&1 == 1 }
func (u trieUnit) value() uint32 { return uint32(u & (1<<31 - 1)) }
func (u trieUnit) label() uint32 { return uint32(u & (1<<31 | 0xFF)) }
func (u trieUnit) offset() uint32 {
	return uint32(u>>10) << (u & (1 << 9) >> 6)
}

func parsePrecompiled(raw []byte) (normalizer, error) {
	var file struct {
		Table *string `json:"precompiled_charsmap"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		return nil, err
	}
	if file.Table == nil {
		return nil, errors.New("the precompiled_charsmap is missing")
	}
	table, err := base64.StdEncoding.DecodeString(*file.Table)
	if err != nil {
		return nil, fmt.Errorf("the precompiled_charsmap: %w", err)
	}
	return orNil[normalizer](newPrecompiled(table))
}

// newPrecompiled reads a table: the size of the trie in bytes, the trie, the
// texts.
func newPrecompiled(table []byte) (*precompiled, error) {
	if len(table) < 4 {
		return nil, fmt.Errorf("a precompiled_charsmap of %d bytes", len(table))
	}
	size := int64(binary.LittleEndian.Uint32(table))
	table = table[4:]
	if size == 0 || size%4 != 0 || size > int64(len(table)) {
		return nil, fmt.Errorf("a precompiled_charsmap of %d bytes with a trie of %d", len(table), size)
	}
	if !utf8.Valid(table[size:]) {
		return nil, errors.New("the replacements of the precompiled_charsmap are not UTF-8")
	}
	p := &precompiled{units: make([]trieUnit, size/4), texts: string(table[size:])}
	for i := range p.units {
		p.units[i] = trieUnit(binary.LittleEndian.Uint32(table[4*i:]))
	}
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("the precompiled_charsmap: %w", err)
	}
	for c := range p.ascii {
		if text, ok := p.lookUp([]byte{byte(c)}); ok {
			p.ascii[c] = &text
		}
	}
	return p, nil
}

// check goes through the trie, the shortest keys first, so that no look-up can
// leave it. It also finds how much longer texts may become.
func (p *precompiled) check() error {
	type state struct{ base, depth uint32 }
	seen := make([]bool, len(p.units))
	p.longest = 1
	for queue := []state{{p.units[0].offset(), 0}}; len(queue) > 0; queue = queue[1:] {
		s := queue[0]
		for b := uint32(1); b < 256; b++ {
			at := uint64(s.base ^ b)
			if at >= uint64(len(p.units)) || p.units[at].label() != b || seen[at] {
				continue
			}
			seen[at] = true
			unit := p.units[at]
			next := state{uint32(at) ^ unit.offset(), s.depth + 1}
			queue = append(queue, next)
			if !unit.hasLeaf() {
				continue
			}
			if uint64(next.base) >= uint64(len(p.units)) {
				return fmt.Errorf("unit %d of %d points to %d", at, len(p.units), next.base)
			}
			value := p.units[next.base].value()
			if uint64(value) >= uint64(len(p.texts)) || !utf8.RuneStart(p.texts[value]) {
				return fmt.Errorf("unit %d points to byte %d of %d of the replacements", at, value, len(p.texts))
			}
			text := p.text(value)
			if len(text) > maxInserted {
				return errInserted(text)
			}
			p.longest = max(p.longest, (len(text)+int(s.depth))/int(s.depth+1))
		}
	}
	return nil
}

func (p *precompiled) text(at uint32) string {
	text, _, _ := strings.Cut(p.texts[at:], "\x00")
	return text
}

// lookUp is what comes instead of the shortest key that text starts with; the
// library has it replace all of the text.
func (p *precompiled) lookUp(text []byte) (string, bool) {
	at := p.units[0].offset()
	for _, b := range text {
		at ^= uint32(b)
		if b == 0 || uint64(at) >= uint64(len(p.units)) || p.units[at].label() != uint32(b) {
			return "", false
		}
		unit := p.units[at]
		at ^= unit.offset()
		if unit.hasLeaf() {
			return p.text(p.units[at].value()), true
		}
	}
	return "", false
}

func (p *precompiled) growth() int { return p.longest }

func (p *precompiled) normalize(m *mapped) {
	start := p.unchanged(m.text)
	if start == len(m.text) {
		return
	}
	r := replacer{editor: m.edit()}
	for i := 0; i < len(m.text); {
		if c := m.text[i]; c < utf8.RuneSelf && c != '\r' && (i+1 == len(m.text) || m.text[i+1] < utf8.RuneSelf) {
			// The last of what stays may yet be what something after it
			// counts as taken by.
			if n := p.unchanged(m.text[i:]) - 1; n > 0 && r.keepFrom(i, n) {
				i += n
				continue
			}
			r.replace(1, p.ascii[c], rune(c))
			i++
			continue
		}
		end := clusterEnd(m.text, i)
		if end-i < maxCluster {
			if text, ok := p.lookUp(m.text[i:end]); ok {
				r.replace(utf8.RuneCount(m.text[i:end]), &text, 0)
				i = end
				continue
			}
		}
		for i < end {
			char, size := utf8.DecodeRune(m.text[i:])
			if text, ok := p.lookUp(m.text[i : i+size]); ok {
				r.replace(1, &text, 0)
			} else {
				r.replace(1, nil, char)
			}
			i += size
		}
	}
	r.flush()
	m.commit()
}

// unchanged is the length of a start of text that stays as it is: of most
// English text all.
func (p *precompiled) unchanged(text []byte) int {
	for i, c := range text {
		if c >= utf8.RuneSelf || p.ascii[c] != nil || c == '\r' { // \r\n is one
			return i
		}
	}
	return len(text)
}

// replacer edits by replacing some characters with a text. What is taken out
// counts as taken by the last character before it, if there is one.
type replacer struct {
	*editor
	last    change
	pending bool // last is not yet put
}

// replace puts a text in place of so many characters, or, without a text, the
// character itself.
func (r *replacer) replace(chars int, text *string, char rune) {
	if text == nil {
		r.add(char, 0)
		return
	}
	added := 0
	for _, c := range *text {
		if added++; added <= chars {
			r.add(c, 0)
		} else {
			r.add(c, 1)
		}
	}
	if added < chars && r.pending {
		r.last.n -= chars - added
	}
}

// keepFrom leaves the n bytes from i on as they are, unless the edit is no
// longer there.
func (r *replacer) keepFrom(i, n int) bool {
	r.flush()
	if r.at != i {
		return false
	}
	r.keep(n)
	return true
}

func (r *replacer) add(char rune, n int) {
	r.flush()
	r.last, r.pending = change{char: char, n: n}, true
}

func (r *replacer) flush() {
	if r.pending {
		r.put(r.last.char, r.last.n)
		r.pending = false
	}
}
