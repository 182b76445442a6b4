package model

import (
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
