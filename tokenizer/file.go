package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sinterml/sinter/internal/jsonread"
)

// parse reads a tokenizer.json. The vocabulary, which is nearly all of it, is
// read in one pass; encoding/json would take several times as long.
func parse(data []byte) (*Tokenizer, error) {
	t := &Tokenizer{}
	var added []addedToken
	var post []byte
	seen := map[string]bool{}
	r := jsonread.New(string(data))
	err := r.Object(func(key string) error {
		if seen[key] {
			return r.Fail("%.40q appears twice", key)
		}
		seen[key] = true
		if key == "model" {
			return t.readModel(r)
		}
		text, err := r.Raw()
		if err != nil || text == "null" {
			return err
		}
		raw := []byte(text)
		switch key {
		case "version":
			if text != `"1.0"` {
				err = errors.New("only 1.0 is known")
			}
		case "added_tokens":
			err = json.Unmarshal(raw, &added)
		case "normalizer":
			t.normalizer, err = parseNormalizer(raw)
		case "pre_tokenizer":
			t.preTokenizer, err = parsePreTokenizer(raw)
		case "post_processor":
			post = raw // its ids can be checked at the end alone
		case "decoder":
			t.decoder, err = parseDecoder(raw)
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", key, err)
		}
		return err
	})
	if err == nil {
		err = r.End()
	}
	if err != nil {
		return nil, err
	}
	if t.model == nil {
		return nil, errors.New("the file has no model: is it a tokenizer.json?")
	}
	t.tokens = t.model.vocabulary()
	if err := t.addTokens(added); err != nil {
		return nil, err
	}
	t.fitBytes()
	if post != nil {
		if err := t.readPostProcessor(post); err != nil {
			return nil, fmt.Errorf("post_processor: %w", err)
		}
	}
	return t, nil
}

func (t *Tokenizer) readPostProcessor(raw []byte) error {
	post, err := postProcessorTypes().parse(raw)
	if err != nil {
		return err
	}
	if post.template != nil {
		if err := post.check(len(t.tokens)); err != nil {
			return err
		}
		t.postProcessor = post.template
	}
	if t.trims = post.trims; len(t.trims) > 0 {
		t.margins = make([]margins, len(t.tokens))
		for id, token := range t.tokens {
			t.margins[id] = marginsOf(token)
		}
	}
	return nil
}

// fitBytes has the model read bytes when the words would be bytes spelt as
// characters, and the pre-tokeniser spell them for a model that cannot.
func (t *Tokenizer) fitBytes() {
	m, isBPE := t.model.(*bpe)
	t.cutsRunes = isBPE
	if t.preTokenizer == nil || !t.preTokenizer.spellsBytes {
		return
	}
	if isBPE && m.readsBytes() {
		m.readBytes()
	} else {
		t.preTokenizer.spellBytes()
	}
}

// modelTypes are the parsers of models, which read the file as they go.
var modelTypes = map[string]func(*jsonread.Reader) (model, error){
	"BPE":       parseBPE,
	"Unigram":   parseUnigram,
	"WordPiece": parseWordPiece,
}

// readModel reads the model, whose type may be said anywhere in it.
func (t *Tokenizer) readModel(r *jsonread.Reader) error {
	name, err := typeAhead(*r)
	if err != nil {
		return err
	}
	parse, ok := modelTypes[name]
	if !ok {
		return fmt.Errorf("model: %w", unknownType(name, slices.Sorted(maps.Keys(modelTypes))))
	}
	if t.model, err = parse(r); err != nil {
		return fmt.Errorf("model: %w", err)
	}
	return nil
}

// typeAhead reads the field "type" of the object that r stands before. The
// reader is a copy, so that its owner stays where it is.
func typeAhead(r jsonread.Reader) (string, error) {
	var name string
	found := errors.New("found")
	err := r.Object(func(key string) error {
		if key != "type" {
			return r.Skip()
		}
		var err error
		if name, err = r.String(); err != nil {
			return err
		}
		return found
	})
	if err == found {
		err = nil
	}
	return name, err
}

// stageTypes is the table of the types that a stage of the file may have, with
// what reads their settings. Sequences contain the table that they are in, so
// that tables are made by functions.
type stageTypes[T any] map[string]func(raw []byte) (T, error)

// parse reads a stage. Its nesting is bounded by what jsonread lets pass.
func (types stageTypes[T]) parse(raw []byte) (stage T, err error) {
	var file struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		return stage, err
	}
	parse, ok := types[file.Type]
	if !ok {
		return stage, unknownType(file.Type, slices.Sorted(maps.Keys(types)))
	}
	if stage, err = parse(raw); err != nil {
		err = fmt.Errorf("%s: %w", file.Type, err)
	}
	return stage, err
}

// parseSequence reads the stages of a Sequence; parts are those that one of them
// stands for.
func parseSequence[T, S any](stages []json.RawMessage, types stageTypes[T], parts func(T) []S) ([]S, error) {
	var all []S
	for _, raw := range stages {
		stage, err := types.parse(raw)
		if err != nil {
			return nil, err
		}
		if all = append(all, parts(stage)...); len(all) > maxStages {
			return nil, errTooManyStages
		}
	}
	return all, nil
}

// unknownType is the error for a stage of a type that is not supported.
func unknownType(name string, known []string) error {
	return fmt.Errorf("the type %.40q is not supported, only %s", name, strings.Join(known, ", "))
}

// Stages may make a text longer, one on top of the other. A file may neither
// have more of them than published ones ever do nor make a text grow to more
// than the memory that it would take them.
const (
	maxStages        = 64
	maxGrowth        = 1024
	maxRewriteGrowth = 4  // of what a stage of the pre-tokeniser makes of a byte
	maxInserted      = 64 // bytes that a stage puts in somewhere
)

var (
	errTooManyStages = fmt.Errorf("more than %d stages", maxStages)
	errTooMuchGrowth = fmt.Errorf("the stages together could make a text more than %d times longer", maxGrowth)
)

// errInserted is the error for a text to be put in that is too long.
func errInserted(text string) error {
	return fmt.Errorf("the text %.20q... to be put in has %d bytes, more than %d", text, len(text), maxInserted)
}
