package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
)

// template is a post-processor: what stands before, between and after the
// texts.
type template struct {
	single, pair []templatePart
}

// templatePart is the place of a text, or a special token.
type templatePart struct {
	text   int   // 0 or 1, or specialToken
	id     int32 // of the special token
	typeID int32
}

const specialToken = -1

// maxTemplate bounds the parts of a template, which a file could else make
// grow with the square of its size.
const maxTemplate = 1024

func (t *template) parts(pair bool) []templatePart {
	if pair {
		return t.pair
	}
	return t.single
}

func (t *template) added(pair bool) int {
	n := 0
	for _, p := range t.parts(pair) {
		if p.text == specialToken {
			n++
		}
	}
	return n
}

func (t *template) assemble(e *Encoding, a, b []piece, pair bool) {
	for _, p := range t.parts(pair) {
		switch p.text {
		case 0:
			e.addText(a, p.typeID)
		case 1:
			e.addText(b, p.typeID)
		default:
			e.add(p.id, p.typeID)
		}
	}
}

// check requires that each text has its place once and that ids are within
// the vocabulary.
func (t *template) check(vocabSize int) error {
	for texts, parts := range [][]templatePart{1: t.single, 2: t.pair} {
		var places [2]int
		for _, p := range parts {
			switch {
			case p.typeID < 0:
				return fmt.Errorf("the type id %d is negative", p.typeID)
			case p.text >= 0:
				places[p.text]++
			case p.id < 0 || int(p.id) >= vocabSize:
				return fmt.Errorf("the id %d of a special token is outside the vocabulary of %d", p.id, vocabSize)
			}
		}
		if texts >= 1 && places[0] != 1 || places[1] != texts/2 {
			return fmt.Errorf("the template for %d of the texts A and B has A %d times and B %d times", texts, places[0], places[1])
		}
	}
	return nil
}

// parseTemplate reads a TemplateProcessing.
func parseTemplate(raw []byte) (postProcessing, error) {
	var file struct {
		Single        []jsonPart              `json:"single"`
		Pair          []jsonPart              `json:"pair"`
		SpecialTokens map[string]jsonTokenIDs `json:"special_tokens"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		return postProcessing{}, err
	}
	single, err := templateParts(file.Single, file.SpecialTokens)
	if err != nil {
		return postProcessing{}, err
	}
	pair, err := templateParts(file.Pair, file.SpecialTokens)
	return postProcessing{template: &template{single, pair}}, err
}

// jsonPart is one of the two.
type jsonPart struct {
	Sequence, SpecialToken *struct {
		ID     string `json:"id"`
		TypeID int32  `json:"type_id"`
	}
}

// jsonTokenIDs is what stands for a special token of a template: one id as a
// rule.
type jsonTokenIDs struct {
	IDs []int32 `json:"ids"`
}

func templateParts(file []jsonPart, tokens map[string]jsonTokenIDs) ([]templatePart, error) {
	var parts []templatePart
	for _, p := range file {
		switch {
		case p.Sequence != nil && p.Sequence.ID == "A":
			parts = append(parts, templatePart{text: 0, typeID: p.Sequence.TypeID})
		case p.Sequence != nil && p.Sequence.ID == "B":
			parts = append(parts, templatePart{text: 1, typeID: p.Sequence.TypeID})
		case p.SpecialToken != nil:
			token, ok := tokens[p.SpecialToken.ID]
			if !ok {
				return nil, fmt.Errorf("%q is not among special_tokens", p.SpecialToken.ID)
			}
			for _, id := range token.IDs {
				parts = append(parts, templatePart{specialToken, id, p.SpecialToken.TypeID})
			}
		default:
			return nil, errors.New("a part of a template is neither Sequence A, Sequence B nor SpecialToken")
		}
		if len(parts) > maxTemplate {
			return nil, fmt.Errorf("a template of more than %d parts", maxTemplate)
		}
	}
	return parts, nil
}

// parseBertProcessing reads a BertProcessing, an older way to say
// [CLS] A [SEP] B [SEP].
func parseBertProcessing(raw []byte) (postProcessing, error) {
	var file struct {
		Sep namedID `json:"sep"`
		Cls namedID `json:"cls"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		return postProcessing{}, err
	}
	cls, sep := int32(file.Cls), int32(file.Sep)
	single := []templatePart{{specialToken, cls, 0}, {text: 0}, {specialToken, sep, 0}}
	pair := append(single[:3:3], templatePart{text: 1, typeID: 1}, templatePart{specialToken, sep, 1})
	return postProcessing{template: &template{single, pair}}, nil
}

// namedID is the id of a [token, id] of JSON.
type namedID int32

func (n *namedID) UnmarshalJSON(raw []byte) error {
	var pair []json.RawMessage
	if err := json.Unmarshal(raw, &pair); err != nil {
		return err
	}
	if len(pair) != 2 {
		return fmt.Errorf("a token and its id are wanted, not %d values", len(pair))
	}
	return json.Unmarshal(pair[1], (*int32)(n))
}
