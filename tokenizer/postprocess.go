package tokenizer

import (
	"encoding/json"
	"errors"
	"unicode"
	"unicode/utf8"
)

// postProcessing is what the file's post_processor asks for.
type postProcessing struct {
	*template        // nil for none
	trims     []trim // of the offsets, one after the other
}

// postProcessorTypes lists the stages that a post_processor may have.
func postProcessorTypes() stageTypes[postProcessing] {
	return stageTypes[postProcessing]{
		"BertProcessing":     parseBertProcessing,
		"ByteLevel":          parseByteLevelTrim,
		"RobertaProcessing":  parseRobertaProcessing,
		"Sequence":           parsePostSequence,
		"TemplateProcessing": parseTemplate,
	}
}

func parsePostSequence(raw []byte) (postProcessing, error) {
	var file struct {
		Stages []json.RawMessage `json:"processors"`
	}
	var all postProcessing
	if err := json.Unmarshal(raw, &file); err != nil {
		return all, err
	}
	for _, raw := range file.Stages {
		stage, err := postProcessorTypes().parse(raw)
		if err != nil {
			return all, err
		}
		if stage.template != nil {
			if all.template != nil {
				return all, errors.New("more than one stage adds special tokens")
			}
			all.template = stage.template
		}
		if all.trims = append(all.trims, stage.trims...); len(all.trims) > maxStages {
			return all, errTooManyStages
		}
	}
	return all, nil
}

// trim takes white space off the offsets of tokens.
type trim struct {
	// prefixSpace leaves the one space alone that the pre-tokeniser may have
	// put before the text.
	prefixSpace bool
}

func parseByteLevelTrim(raw []byte) (postProcessing, error) {
	var file byteLevelFile
	if err := json.Unmarshal(raw, &file); err != nil || !orTrue(file.TrimOffsets) {
		return postProcessing{}, err
	}
	return postProcessing{trims: []trim{{orTrue(file.AddPrefixSpace)}}}, nil
}

// parseRobertaProcessing reads a RobertaProcessing: <s> A </s></s> B </s>, all
// of type 0.
func parseRobertaProcessing(raw []byte) (postProcessing, error) {
	var file struct {
		Sep         namedID `json:"sep"`
		Cls         namedID `json:"cls"`
		Trim        *bool   `json:"trim_offsets"`
		PrefixSpace *bool   `json:"add_prefix_space"`
	}
	var p postProcessing
	if err := json.Unmarshal(raw, &file); err != nil {
		return p, err
	}
	cls, sep := templatePart{specialToken, int32(file.Cls), 0}, templatePart{specialToken, int32(file.Sep), 0}
	p.template = &template{
		single: []templatePart{cls, {text: 0}, sep},
		pair:   []templatePart{cls, {text: 0}, sep, sep, {text: 1}, sep},
	}
	if orTrue(file.Trim) {
		p.trims = []trim{{orTrue(file.PrefixSpace)}}
	}
	return p, nil
}

// margins is how many characters of white space a token starts and ends with.
type margins struct{ leading, trailing int32 }

func marginsOf(token string) margins {
	var m margins
	for _, r := range token {
		if !isMargin(r) {
			break
		}
		m.leading++
	}
	for len(token) > 0 {
		r, size := utf8.DecodeLastRuneInString(token)
		if !isMargin(r) {
			break
		}
		m.trailing++
		token = token[:len(token)-size]
	}
	return m
}

func isMargin(r rune) bool { return r == charOfByte[' '] || unicode.IsSpace(r) }

// apply trims the offsets of a token of a text, which may be the first, by
// margins that stay the same whatever other trims have taken.
func (t trim) apply(text string, p *piece, m margins, first bool) {
	if m.leading == 1 && t.prefixSpace && (first || p.start == 0) {
		m.leading = 0
	}
	for ; m.leading > 0 && p.start < p.end; m.leading-- {
		_, size := utf8.DecodeRuneInString(text[p.start:])
		p.start += size
	}
	// Not where an earlier trim left the text up to here shorter than they are.
	if before := text[:p.end]; len(before) < utf8.UTFMax*int(m.trailing) && utf8.RuneCountInString(before) < int(m.trailing) {
		return
	}
	for ; m.trailing > 0 && p.end > p.start; m.trailing-- {
		_, size := utf8.DecodeLastRuneInString(text[:p.end])
		p.end -= size
	}
}
