package model

import (
	"testing"
	"testing/fstest"

	"github.com/sinterml/sinter/internal/modeltest"
)

// FuzzFolder changes any of a model's files. What opens has sizes that fit its
// weights, and a graph; what does not is an error.
func FuzzFolder(f *testing.F) {
	whole := modeltest.BERT()
	names := []string{"config.json", "modules.json", "1_Pooling/config.json", "sentence_bert_config.json", "config_sentence_transformers.json", "tokenizer.json", "model.safetensors", "model.safetensors.index.json"}
	for i, name := range names {
		f.Add(i, whole[name])
	}
	f.Add(0, []byte(`{"model_type":"modernbert","vocab_size":40,"hidden_size":16,"num_hidden_layers":1,"num_attention_heads":2,"layer_types":["full_attention"]}`))
	f.Add(4, []byte(`{"prompts":{"query":"q: "},"default_prompt_name":"query","truncate_dim":8}`))
	f.Add(7, []byte(`{"weight_map":{"embeddings.word_embeddings.weight":"../model.safetensors"}}`))
	f.Fuzz(func(t *testing.T, file int, data []byte) {
		if file < 0 || file >= len(names) {
			t.Skip()
		}
		folder := whole.With(names[file], data)
		if names[file] == "model.safetensors.index.json" {
			folder = folder.Without("model.safetensors").With("part.safetensors", whole["model.safetensors"])
		}
		files := fstest.MapFS{}
		for name, text := range folder {
			files[name] = &fstest.MapFile{Data: text, Mode: 0o600}
		}
		if m, err := OpenFS(files); err == nil {
			if m.Width() < 1 || m.MaxTokens < 1 {
				t.Errorf("vectors of %d numbers, texts of %d tokens", m.Width(), m.MaxTokens)
			}
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		}
		if m, err := OpenCrossEncoderFS(files); err == nil {
			_ = m.Close()
		}
	})
}
