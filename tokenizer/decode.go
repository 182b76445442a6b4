package tokenizer

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// decoderTypes lists the stages that a decoder may have.
func decoderTypes() stageTypes[decoder] {
	return stageTypes[decoder]{
		"BPEDecoder":   parseBPEDecoder,
		"ByteFallback": decoderType(byteFallbackDecoder{}),
		"ByteLevel":    decoderType(byteLevelDecoder{}),
		"Fuse":         decoderType(fuseDecoder{}),
		"Metaspace":    parseMetaspaceDecoder,
		"Replace":      parseReplaceDecoder,
		"Sequence":     parseDecoderSequence,
		"Strip":        parseStripDecoder,
		"WordPiece":    parseWordPieceDecoder,
	}
}

// decoderType is the parser of a decoder without settings.
func decoderType(d decoder) func([]byte) (decoder, error) {
	return func([]byte) (decoder, error) { return d, nil }
}

func parseDecoder(raw []byte) (decoder, error) {
	d, err := decoderTypes().parse(raw)
	if err != nil {
		return nil, err
	}
	if all, ok := d.(decoders); ok && all.growth() > maxGrowth {
		return nil, errTooMuchGrowth
	}
	return d, nil
}

// decoders is a Sequence.
type decoders []decoder

func parseDecoderSequence(raw []byte) (decoder, error) {
	var file struct {
		Stages []json.RawMessage `json:"decoders"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		return nil, err
	}
	all, err := parseSequence(file.Stages, decoderTypes(), func(d decoder) []decoder {
		if inner, ok := d.(decoders); ok {
			return inner
		}
		return []decoder{d}
	})
	return decoders(all), err
}

func (all decoders) decode(tokens []string) []string {
	for _, d := range all {
		tokens = d.decode(tokens)
	}
	return tokens
}

// growth is the most bytes that the replacements make of a byte.
func (all decoders) growth() int {
	product := 1
	for _, d := range all {
		if r, ok := d.(*replace); ok {
			product = min(product*r.growth(), maxGrowth+1)
		}
	}
	return product
}

// byteLevelDecoder turns the spelling of bytes back. A token that spells none,
// as added tokens may, stands for itself.
type byteLevelDecoder struct{}

func (byteLevelDecoder) decode(tokens []string) []string {
	var all []byte
	for _, token := range tokens {
		if bytes, ok := spelledBytes(token); ok {
			all = append(all, bytes...)
		} else {
			all = append(all, token...)
		}
	}
	return []string{lossyUTF8(all)}
}

// byteFallbackDecoder joins tokens like <0x0A> to the characters that their
// bytes spell, or, when they spell none, makes each U+FFFD.
type byteFallbackDecoder struct{}

func (byteFallbackDecoder) decode(tokens []string) []string {
	var out []string
	var held []byte
	flush := func() {
		if utf8.Valid(held) {
			out = append(out, string(held))
		} else {
			out = append(out, strings.Repeat(string(utf8.RuneError), len(held)))
		}
		held = held[:0]
	}
	for _, token := range tokens {
		if b, ok := byteOfToken(token); ok {
			held = append(held, b)
			continue
		}
		if len(held) > 0 {
			flush()
		}
		out = append(out, token)
	}
	if len(held) > 0 {
		flush()
	}
	return out
}

// byteOfToken is the byte that a token like <0x0A> stands for.
func byteOfToken(token string) (byte, bool) {
	if len(token) != len("<0x00>") || !strings.HasPrefix(token, "<0x") || token[5] != '>' {
		return 0, false
	}
	b, err := strconv.ParseUint(token[3:5], 16, 8)
	return byte(b), err == nil
}

// fuseDecoder makes all one.
type fuseDecoder struct{}

func (fuseDecoder) decode(tokens []string) []string { return []string{strings.Join(tokens, "")} }

// bpeDecoder makes the suffix of words a space, and at the end nothing.
type bpeDecoder struct{ suffix string }

func parseBPEDecoder(raw []byte) (decoder, error) {
	file := struct {
		Suffix string `json:"suffix"`
	}{"</w>"}
	if err := json.Unmarshal(raw, &file); err != nil {
		return nil, err
	}
	if file.Suffix == "" {
		return nil, fmt.Errorf("the suffix is empty")
	}
	return bpeDecoder{file.Suffix}, nil
}

func (d bpeDecoder) decode(tokens []string) []string {
	for i, token := range tokens {
		by := " "
		if i == len(tokens)-1 {
			by = ""
		}
		tokens[i] = strings.ReplaceAll(token, d.suffix, by)
	}
	return tokens
}

// stripDecoder takes up to so many of a character off the ends of each token.
type stripDecoder struct {
	content     string
	start, stop int
}

func parseStripDecoder(raw []byte) (decoder, error) {
	var file struct {
		Content string `json:"content"`
		Start   int    `json:"start"`
		Stop    int    `json:"stop"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		return nil, err
	}
	if utf8.RuneCountInString(file.Content) != 1 {
		return nil, fmt.Errorf("the content %.40q is not one character", file.Content)
	}
	return stripDecoder{file.Content, file.Start, file.Stop}, nil
}

func (d stripDecoder) decode(tokens []string) []string {
	for i, token := range tokens {
		for n := 0; n < d.start && strings.HasPrefix(token, d.content); n++ {
			token = token[len(d.content):]
		}
		for n := 0; n < d.stop && strings.HasSuffix(token, d.content); n++ {
			token = token[:len(token)-len(d.content)]
		}
		tokens[i] = token
	}
	return tokens
}

func parseReplaceDecoder(raw []byte) (decoder, error) { return orNil[decoder](parseReplace(raw)) }

func (r *replace) decode(tokens []string) []string {
	for i, token := range tokens {
		var b strings.Builder
		done := 0
		r.find([]byte(token), func(start, end int) bool {
			b.WriteString(token[done:start])
			b.WriteString(r.content)
			done = end
			return true
		})
		if b.Len() > 0 || done > 0 {
			b.WriteString(token[done:])
			tokens[i] = b.String()
		}
	}
	return tokens
}
