package model

import (
	"strings"
	"testing"
	"testing/fstest"
)

// The length of a text is what the first file says that says something, and
// never more than the network has positions for.
func TestMaxTokens(t *testing.T) {
	for _, c := range []struct {
		own, tokenizer string
		want           int
	}{
		{"", "", 512}, {`{"max_seq_length": 128}`, `{"model_max_length": 64}`, 128}, {`{"max_seq_length": null}`, `{"model_max_length": 64}`, 64},
		{`{}`, `{"model_max_length": 1000000000000000019884624838656}`, 512}, {`{"max_seq_length": 9000}`, "", 512}, {"", `{"model_max_length": 1e30}`, 512}, {"", `{}`, 512},
	} {
		files := fstest.MapFS{}
		for name, data := range map[string]string{"sentence_bert_config.json": c.own, "tokenizer_config.json": c.tokenizer} {
			if data != "" {
				files[name] = &fstest.MapFile{Data: []byte(data)}
			}
		}
		if got, err := readMaxTokens(&source{name: "model", fsys: files}, 512); err != nil || got != c.want {
			t.Errorf("%s %s: %d, %v; want %d", c.own, c.tokenizer, got, err, c.want)
		}
	}
}

// Old folders have the settings of the network's input in a file named after the
// architecture; the newest name comes first.
func TestInputFile(t *testing.T) {
	for _, name := range []string{"sentence_roberta_config.json", "sentence_distilbert_config.json", "sentence_xlm-roberta_config.json"} {
		files := fstest.MapFS{
			name:                    {Data: []byte(`{"max_seq_length": 128, "do_lower_case": true}`)},
			"tokenizer_config.json": {Data: []byte(`{"model_max_length": 256}`)},
		}
		s := &source{name: "model", fsys: files}
		if got, err := readMaxTokens(s, 512); err != nil || got != 128 {
			t.Errorf("%s: %d tokens, error %v", name, got, err)
		}
		if _, c, err := s.input(); err != nil || !c.LowerCase {
			t.Errorf("%s: %+v, error %v", name, c, err)
		}
		files["sentence_bert_config.json"] = &fstest.MapFile{Data: []byte(`{"max_seq_length": 64}`)}
		if got, err := readMaxTokens(s, 512); err != nil || got != 64 {
			t.Errorf("%s beside the newest: %d tokens, error %v", name, got, err)
		}
	}
}

// A cross-encoder has type ids where the reference implementation gives it some:
// as its tokenizer's files say, and else by class or architecture.
func TestUntyped(t *testing.T) {
	for _, c := range []struct {
		architecture, tokenizer string
		want                    bool
	}{
		{"bert", "", false}, {"bert", `{}`, false}, {"roberta", "", true}, {"xlm-roberta", `{"tokenizer_class": null}`, true},
		{"bert", `{"tokenizer_class": "XLMRobertaTokenizer"}`, true}, {"bert", `{"tokenizer_class": "XLMRobertaTokenizerFast"}`, true},
		{"bert", `{"tokenizer_class": "BertTokenizerFast"}`, false}, {"xlm-roberta", `{"tokenizer_class": "BertTokenizer"}`, false},
		{"bert", `{"tokenizer_class": "TokenizersBackend"}`, true},
		{"bert", `{"tokenizer_class": "BertTokenizer", "model_input_names": ["input_ids", "attention_mask"]}`, true},
		{"xlm-roberta", `{"tokenizer_class": "XLMRobertaTokenizer", "model_input_names": ["input_ids", "token_type_ids", "attention_mask"]}`, false},
	} {
		files := fstest.MapFS{}
		if c.tokenizer != "" {
			files["tokenizer_config.json"] = &fstest.MapFile{Data: []byte(c.tokenizer)}
		}
		if got, err := readUntyped(&source{name: "model", fsys: files}, c.architecture); err != nil || got != c.want {
			t.Errorf("%s %s: %v, %v; want %v", c.architecture, c.tokenizer, got, err, c.want)
		}
	}
}

// What tokenizer_config.json makes another of tokenizer.json is refused: the
// reference implementation goes by the former.
func TestTokenizerFilesAgree(t *testing.T) {
	const lower, cased = `{"type":"BertNormalizer","lowercase":true}`, `{"type":"BertNormalizer","lowercase":false,"strip_accents":true}`
	for _, c := range []struct{ normalizer, truncation, config, want string }{
		{lower, "null", "", ""}, {lower, "null", `{"do_lower_case":true,"strip_accents":null,"tokenize_chinese_chars":true,"truncation_side":"right"}`, ""},
		{lower, "null", `{"do_lower_case":false}`, "do_lower_case is false, but true"}, {lower, "null", `{"do_lower_case":false,"tokenizer_class":"DistilBertTokenizerFast"}`, "do_lower_case"},
		{lower, "null", `{"do_lower_case":false,"tokenizer_class":"PreTrainedTokenizerFast"}`, ""}, {`{"type":"NFC"}`, "null", `{"do_lower_case":true}`, ""},
		{lower, "null", `{"strip_accents":false}`, "strip_accents"}, {lower, "null", `{"strip_accents":true}`, ""}, {cased, "null", `{"strip_accents":true,"do_lower_case":false}`, ""},
		{lower, "null", `{"tokenize_chinese_chars":false}`, "tokenize_chinese_chars"}, {cased, "null", `{"do_lower_case":true}`, "do_lower_case is true, but false"},
		{lower, "null", `{"truncation_side":"left"}`, "truncation_side"}, {"null", `{"direction":"Left","max_length":4}`, "", "direction Left"},
		{"null", `{"direction":"Left"}`, `{"truncation_side":"right"}`, ""}, {"null", `{"direction":"Right"}`, "", ""},
	} {
		files := fstest.MapFS{tokenizerFile: {Data: []byte(`{"truncation":` + c.truncation + `,"normalizer":` + c.normalizer + `,"model":{"type":"WordPiece","vocab":{"[UNK]":0}}}`)}}
		if c.config != "" {
			files[tokenizerConfig] = &fstest.MapFile{Data: []byte(c.config)}
		}
		_, err := readTokenizer(&source{name: "model", fsys: files}, 1)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s, %s, %s: %v, want %q", c.normalizer, c.truncation, c.config, err, c.want)
		}
	}
}
