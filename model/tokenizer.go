package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/sinterml/sinter/internal/jsonread"
	"github.com/sinterml/sinter/tokenizer"
)

func readTokenizer(s *source, vocab int) (*tokenizer.Tokenizer, error) {
	t, err := tokenizer.Load(s.fsys, tokenizerFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("model: %s: %w", s.name, err)
	}
	if t.VocabSize() > vocab {
		return nil, fmt.Errorf("model: %s: the tokenizer has ids up to %d, config.json a vocab_size of %d: they do not belong together", s.path(tokenizerFile), t.VocabSize()-1, vocab)
	}
	return t, s.checkTokenizer()
}

const (
	tokenizerFile   = "tokenizer.json"
	tokenizerConfig = "tokenizer_config.json"
)

// bertClasses are the tokenizers of the reference implementation that have
// BERT's normaliser as tokenizer_config.json says, whatever tokenizer.json does,
// less "Fast" at the end of their names. Where no class is named the
// architecture's is one of them, if tokenizer.json has that normaliser.
var bertClasses = []string{"BertTokenizer", "DistilBertTokenizer", "MPNetTokenizer"}

// checkTokenizer refuses what tokenizer_config.json makes of tokenizer.json:
// texts that lose their start where they are too long, and another normaliser.
func (s *source) checkTokenizer() error {
	var c struct {
		Class      *string `json:"tokenizer_class"`
		Side       *string `json:"truncation_side"`
		Lowercase  *bool   `json:"do_lower_case"`
		Accents    *bool   `json:"strip_accents"`
		Ideographs *bool   `json:"tokenize_chinese_chars"`
	}
	if _, err := s.config(tokenizerConfig, &c); err != nil {
		return err
	}
	var truncation struct {
		Direction string `json:"direction"`
	}
	n := struct {
		Type       string `json:"type"`
		Lowercase  bool   `json:"lowercase"`
		Accents    *bool  `json:"strip_accents"` // null: as lowercase
		Ideographs bool   `json:"handle_chinese_chars"`
	}{Lowercase: true, Ideographs: true}
	if err := s.readParts(tokenizerFile, map[string]any{"truncation": &truncation, "normalizer": &n}); err != nil {
		return err
	}
	switch {
	case c.Side != nil && *c.Side != "right":
		return fmt.Errorf("model: %s: truncation_side %.80q is not supported: only right", s.path(tokenizerConfig), *c.Side)
	case c.Side == nil && truncation.Direction == "Left":
		return fmt.Errorf("model: %s: truncation: direction Left is not supported: only Right", s.path(tokenizerFile))
	case n.Type != "BertNormalizer" || c.Class != nil && !slices.Contains(bertClasses, strings.TrimSuffix(*c.Class, "Fast")):
		return nil
	}
	if n.Accents == nil {
		n.Accents = &n.Lowercase
	}
	for _, x := range []struct {
		key  string
		said *bool
		is   bool
	}{
		{"do_lower_case", c.Lowercase, n.Lowercase}, {"strip_accents", c.Accents, *n.Accents}, {"tokenize_chinese_chars", c.Ideographs, n.Ideographs},
	} {
		if x.said != nil && *x.said != x.is {
			return fmt.Errorf("model: %s: %s is %v, but %v in the normalizer of %s: make one as the other", s.path(tokenizerConfig), x.key, *x.said, x.is, tokenizerFile)
		}
	}
	return nil
}

// readParts reads some values of the object that a large JSON file is.
func (s *source) readParts(name string, parts map[string]any) error {
	data, err := s.read(name, maxTokenizer)
	if err != nil {
		return fmt.Errorf("model: %s: %w", s.path(name), err)
	}
	r := jsonread.New(string(data))
	err = r.Object(func(key string) error {
		part, ok := parts[key]
		if !ok {
			return r.Skip()
		}
		raw, err := r.Raw()
		if err != nil {
			return err
		}
		return json.Unmarshal([]byte(raw), part)
	})
	if err != nil {
		return fmt.Errorf("model: %s: %w", s.path(name), err)
	}
	return nil
}

// maxTokenizer bounds a tokenizer.json, as package tokenizer does.
const maxTokenizer = 512 << 20
