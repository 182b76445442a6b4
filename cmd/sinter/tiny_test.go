package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/model/minilm"
	"github.com/sinterml/sinter/safetensors"
)

// The tiny model has the tokenizer of the one in the binary, and few random
// weights.
const (
	tinyVocab, tinyHidden, tinyInner, tinyPositions = 30522, 32, 64, 64
	tinyTokens                                      = 48
)

var tinyFiles = sync.OnceValues(func() (map[string][]byte, error) {
	tokens, err := fs.ReadFile(minilm.FS, "tokenizer.json")
	if err != nil {
		return nil, err
	}
	weights, err := tinyWeights()
	if err != nil {
		return nil, err
	}
	config := fmt.Sprintf(`{"model_type": "bert", "vocab_size": %d, "hidden_size": %d, "num_hidden_layers": 1, "num_attention_heads": 4,
		"intermediate_size": %d, "hidden_act": "gelu", "max_position_embeddings": %d, "type_vocab_size": 2, "layer_norm_eps": 1e-12}`,
		tinyVocab, tinyHidden, tinyInner, tinyPositions)
	return map[string][]byte{
		"tokenizer.json": tokens, "model.safetensors": weights, "config.json": []byte(config),
		"modules.json":              []byte(`[{"path":"","type":"sentence_transformers.models.Transformer"},{"path":"","type":"sentence_transformers.models.Pooling"}]`),
		"sentence_bert_config.json": fmt.Appendf(nil, `{"max_seq_length": %d}`, tinyTokens),
	}, nil
})

func tinyWeights() ([]byte, error) {
	r := rand.New(rand.NewPCG(1, 2))
	var all []safetensors.Tensor
	add := func(name string, shape ...int) {
		n := 1
		for _, s := range shape {
			n *= s
		}
		data := make([]byte, 0, 4*n)
		for range n {
			v := float32(r.NormFloat64()) / 8
			if strings.Contains(name, "LayerNorm.weight") {
				v++
			}
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
		}
		all = append(all, safetensors.Tensor{Name: name, DType: sinter.F32, Shape: shape, Data: data})
	}
	linear := func(name string, out, in int) {
		add(name+".weight", out, in)
		add(name+".bias", out)
	}
	norm := func(name string) {
		add(name+".LayerNorm.weight", tinyHidden)
		add(name+".LayerNorm.bias", tinyHidden)
	}
	add("embeddings.word_embeddings.weight", tinyVocab, tinyHidden)
	add("embeddings.position_embeddings.weight", tinyPositions, tinyHidden)
	add("embeddings.token_type_embeddings.weight", 2, tinyHidden)
	norm("embeddings")
	for _, p := range []string{"attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"} {
		linear("encoder.layer.0."+p, tinyHidden, tinyHidden)
	}
	norm("encoder.layer.0.attention.output")
	linear("encoder.layer.0.intermediate.dense", tinyInner, tinyHidden)
	linear("encoder.layer.0.output.dense", tinyHidden, tinyInner)
	norm("encoder.layer.0.output")
	var b bytes.Buffer
	err := safetensors.Write(&b, all, nil)
	return b.Bytes(), err
}

// tiny writes the tiny model into a new folder; change may spoil a file.
func tiny(t testing.TB, change func(name string, data []byte) []byte) string {
	t.Helper()
	files, err := tinyFiles()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, data := range files {
		if change != nil {
			data = change(name, data)
		}
		if data == nil {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
