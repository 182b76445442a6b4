// Package modeltest makes tiny models for tests: folders with all the files of
// a sentence encoder, its weights random.
package modeltest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/safetensors"
)

// Sizes of the tiny model.
const (
	Words     = 40 // in the vocabulary
	Hidden    = 16
	Inner     = 24
	Heads     = 2
	Positions = 32
)

// Folder is the files of a model by name.
type Folder map[string][]byte

// BERT is a sentence encoder of one block.
func BERT() Folder {
	vocab := []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]"}
	for c := 'a'; c <= 'z'; c++ {
		vocab = append(vocab, string(c))
	}
	for c := 'a'; len(vocab) < Words; c++ {
		vocab = append(vocab, "##"+string(c))
	}
	var ids strings.Builder
	for i, w := range vocab {
		fmt.Fprintf(&ids, ",%q:%d", w, i)
	}
	return Folder{
		"config.json": fmt.Appendf(nil, `{"model_type":"bert","architectures":["BertModel"],"vocab_size":%d,"hidden_size":%d,"num_hidden_layers":1,"num_attention_heads":%d,`+
			`"intermediate_size":%d,"hidden_act":"gelu","max_position_embeddings":%d,"type_vocab_size":2,"layer_norm_eps":1e-12,"pad_token_id":0}`,
			Words, Hidden, Heads, Inner, Positions),
		"modules.json": []byte(`[{"idx":0,"name":"0","path":"","type":"sentence_transformers.models.Transformer"},` +
			`{"idx":1,"name":"1","path":"1_Pooling","type":"sentence_transformers.models.Pooling"},` +
			`{"idx":2,"name":"2","path":"2_Normalize","type":"sentence_transformers.models.Normalize"}]`),
		"1_Pooling/config.json":     fmt.Appendf(nil, `{"word_embedding_dimension":%d,"pooling_mode_cls_token":false,"pooling_mode_mean_tokens":true,"pooling_mode_max_tokens":false,"pooling_mode_mean_sqrt_len_tokens":false}`, Hidden),
		"sentence_bert_config.json": []byte(`{"max_seq_length":24,"do_lower_case":false}`),
		"tokenizer.json": fmt.Appendf(nil, `{"version":"1.0","added_tokens":[{"id":2,"content":"[CLS]","special":true},{"id":3,"content":"[SEP]","special":true}],`+
			`"normalizer":{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,"strip_accents":null,"lowercase":true},`+
			`"pre_tokenizer":{"type":"BertPreTokenizer"},"post_processor":{"type":"BertProcessing","sep":["[SEP]",3],"cls":["[CLS]",2]},`+
			`"decoder":{"type":"WordPiece","prefix":"##","cleanup":true},`+
			`"model":{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##","max_input_chars_per_word":100,"vocab":{%s}}}`, ids.String()[1:]),
		"model.safetensors": Weights(bertTensors(), nil),
	}
}

// shape is a tensor to be made.
type shape struct {
	name string
	dims []int
}

func bertTensors() []shape {
	all := []shape{
		{"embeddings.word_embeddings.weight", []int{Words, Hidden}},
		{"embeddings.position_embeddings.weight", []int{Positions, Hidden}},
		{"embeddings.token_type_embeddings.weight", []int{2, Hidden}},
	}
	linear := func(name string, out, in int) {
		all = append(all, shape{name + ".weight", []int{out, in}}, shape{name + ".bias", []int{out}})
	}
	norm := func(name string) {
		all = append(all, shape{name + ".weight", []int{Hidden}}, shape{name + ".bias", []int{Hidden}})
	}
	norm("embeddings.LayerNorm")
	const layer = "encoder.layer.0."
	for _, p := range []string{"query", "key", "value"} {
		linear(layer+"attention.self."+p, Hidden, Hidden)
	}
	linear(layer+"attention.output.dense", Hidden, Hidden)
	norm(layer + "attention.output.LayerNorm")
	linear(layer+"intermediate.dense", Inner, Hidden)
	linear(layer+"output.dense", Hidden, Inner)
	norm(layer + "output.LayerNorm")
	return all
}

// Tensors are the names of the weights of BERT.
func Tensors() []string {
	var names []string
	for _, s := range bertTensors() {
		names = append(names, s.name)
	}
	return names
}

// Weights is a file of random tensors; change, if not nil, may alter each.
func Weights(shapes []shape, change func(t *safetensors.Tensor)) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var tensors []safetensors.Tensor
	for _, s := range shapes {
		n := 1
		for _, d := range s.dims {
			n *= d
		}
		t := safetensors.Tensor{Name: s.name, DType: sinter.F32, Shape: s.dims}
		for range n {
			v := float32(r.NormFloat64()) / 4
			if strings.HasSuffix(s.name, "LayerNorm.weight") {
				v++
			}
			t.Data = binary.LittleEndian.AppendUint32(t.Data, math.Float32bits(v))
		}
		if change != nil {
			change(&t)
		}
		if t.Name != "" { // "" leaves it out
			tensors = append(tensors, t)
		}
	}
	var b bytes.Buffer
	if err := safetensors.Write(&b, tensors, nil); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// BERTWeights is the weights of BERT, changed.
func BERTWeights(change func(t *safetensors.Tensor)) []byte { return Weights(bertTensors(), change) }

// With is the folder with a file replaced.
func (f Folder) With(name string, data []byte) Folder {
	f = maps.Clone(f)
	f[name] = data
	return f
}

// Without is the folder less a file.
func (f Folder) Without(name string) Folder {
	f = maps.Clone(f)
	delete(f, name)
	return f
}

// Write puts the files into a temporary folder.
func (f Folder) Write(t testing.TB) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, data := range f {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
