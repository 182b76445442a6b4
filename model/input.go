package model

import (
	"encoding/json"
	"fmt"
)

// inputConfig is sentence_bert_config.json.
type inputConfig struct {
	Max       *float64 `json:"max_seq_length"`
	LowerCase bool     `json:"do_lower_case"`

	// What follows has been there since sentence-transformers 6 and, with the
	// settings that it passes on to transformers, 3.
	Task     string `json:"transformer_task"`
	Modality struct {
		Text struct {
			Output string `json:"method_output_name"`
		} `json:"text"`
	} `json:"modality_config"`
	Output       string                     `json:"module_output_name"`
	Query        *float64                   `json:"query_length"`
	Document     *float64                   `json:"document_length"`
	Expansion    json.RawMessage            `json:"query_expansion"`
	Processing   map[string]json.RawMessage `json:"processing_kwargs"`
	Tokenizer    map[string]json.RawMessage `json:"processor_kwargs"`
	Config       map[string]json.RawMessage `json:"config_kwargs"`
	OldTokenizer map[string]json.RawMessage `json:"tokenizer_args"`
	OldConfig    map[string]json.RawMessage `json:"config_args"`
}

// inputFiles are the names of that file, of which the first that is there
// counts: the first versions of sentence-transformers had one for each
// architecture.
var inputFiles = []string{"sentence_bert_config.json", "sentence_roberta_config.json", "sentence_distilbert_config.json", "sentence_xlm-roberta_config.json"}

// input reads it, and gives its name.
func (s *source) input() (name string, c inputConfig, err error) {
	for _, name = range inputFiles {
		if ok, err := s.config(name, &c); ok || err != nil {
			return name, c, err
		}
	}
	return name, c, nil
}

// use is what a network is there for, as sentence_bert_config.json says it.
type use struct{ task, state, output string }

var (
	encoding = use{"feature-extraction", "last_hidden_state", "token_embeddings"}
	scoring  = use{"sequence-classification", "logits", "scores"}
)

// readInput reads how texts come in, and refuses what would have the network read
// them otherwise, or give something else.
func (s *source) readInput(u use) (inputConfig, error) {
	name, c, err := s.input()
	if err != nil {
		return c, err
	}
	for _, x := range []struct{ key, is, want string }{
		{"transformer_task", c.Task, u.task}, {"modality_config: text: method_output_name", c.Modality.Text.Output, u.state}, {"module_output_name", c.Output, u.output},
	} {
		if x.is != "" && x.is != x.want {
			return c, fmt.Errorf("model: %s: %s %.80q is not supported: only %s", s.path(name), x.key, x.is, x.want)
		}
	}
	for _, x := range []struct {
		key string
		is  bool
	}{
		{"query_length", c.Query != nil}, {"document_length", c.Document != nil}, {"query_expansion", len(c.Expansion) > 0 && string(c.Expansion) != "null"},
		{"processing_kwargs", changes(c.Processing)}, {"processor_kwargs", changes(c.Tokenizer)}, {"config_kwargs", changes(c.Config)},
		{"tokenizer_args", changes(c.OldTokenizer)}, {"config_args", changes(c.OldConfig)},
	} {
		if x.is {
			return c, fmt.Errorf("model: %s: %s is not supported", s.path(name), x.key)
		}
	}
	return c, nil
}

// changes tells whether settings for transformers say more than whose code may run.
func changes(settings map[string]json.RawMessage) bool {
	for name := range settings {
		if name != "trust_remote_code" {
			return true
		}
	}
	return false
}
