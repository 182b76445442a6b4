package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
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
	if post != nil {
		if t.postProcessor, err = parsePostProcessor(post, len(t.tokens)); err != nil {
			return nil, fmt.Errorf("post_processor: %w", err)
		}
	}
	return t, nil
}

// readModel reads the model, whose type may be said anywhere in it.
func (t *Tokenizer) readModel(r *jsonread.Reader) error {
	name, err := typeAhead(*r)
	if err != nil {
		return err
	}
	switch name {
	case "WordPiece":
		if t.model, err = parseWordPiece(r); err != nil {
			return fmt.Errorf("model: %w", err)
		}
		return nil
	}
	return fmt.Errorf("model: %w", unknownType(name, "WordPiece"))
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

// stageType is the type that a stage of the file has.
func stageType(raw []byte) (string, error) {
	var file struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		return "", err
	}
	return file.Type, nil
}

func parseNormalizer(raw []byte) (normalizer, error) {
	name, err := stageType(raw)
	if err != nil {
		return nil, err
	}
	switch name {
	case "BertNormalizer":
		file := struct {
			CleanText    bool  `json:"clean_text"`
			Ideographs   bool  `json:"handle_chinese_chars"`
			StripAccents *bool `json:"strip_accents"` // null: as lowercase
			Lowercase    bool  `json:"lowercase"`
		}{CleanText: true, Ideographs: true, Lowercase: true}
		if err := json.Unmarshal(raw, &file); err != nil {
			return nil, err
		}
		strip := file.Lowercase
		if file.StripAccents != nil {
			strip = *file.StripAccents
		}
		return newBertNormalizer(file.CleanText, file.Ideographs, strip, file.Lowercase), nil
	}
	return nil, unknownType(name, "BertNormalizer")
}

func parsePreTokenizer(raw []byte) (preTokenizer, error) {
	name, err := stageType(raw)
	if err != nil {
		return nil, err
	}
	switch name {
	case "BertPreTokenizer":
		return bertPreTokenizer{}, nil
	}
	return nil, unknownType(name, "BertPreTokenizer")
}

func parsePostProcessor(raw []byte, vocabSize int) (postProcessor, error) {
	name, err := stageType(raw)
	if err != nil {
		return nil, err
	}
	var t *template
	switch name {
	case "TemplateProcessing":
		t, err = parseTemplate(raw)
	case "BertProcessing":
		t, err = parseBertProcessing(raw)
	default:
		return nil, unknownType(name, "TemplateProcessing", "BertProcessing")
	}
	if err != nil {
		return nil, err
	}
	return t, t.check(vocabSize)
}

func parseDecoder(raw []byte) (decoder, error) {
	name, err := stageType(raw)
	if err != nil {
		return nil, err
	}
	switch name {
	case "WordPiece":
		file := struct {
			Prefix  string `json:"prefix"`
			Cleanup bool   `json:"cleanup"`
		}{"##", true}
		if err := json.Unmarshal(raw, &file); err != nil {
			return nil, err
		}
		return wordPieceDecoder{file.Prefix, file.Cleanup}, nil
	}
	return nil, unknownType(name, "WordPiece")
}

// unknownType is the error for a stage of a type that is not supported.
func unknownType(name string, known ...string) error {
	return fmt.Errorf("the type %.40q is not supported, only %s", name, strings.Join(known, " and "))
}
