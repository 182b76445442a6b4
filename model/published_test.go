package model

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

// published are the configuration files of models on the hub, by model.
func published(t *testing.T) map[string]fstest.MapFS {
	t.Helper()
	data, err := os.ReadFile("testdata/published.txt")
	if err != nil {
		t.Fatal(err)
	}
	models := map[string]fstest.MapFS{}
	header := regexp.MustCompile(`(?m)^-- ([^/]+/[^/]+)/(.+) --\n(.*)\n`)
	for _, m := range header.FindAllSubmatch(data, -1) {
		name := string(m[1])
		if models[name] == nil {
			models[name] = fstest.MapFS{}
		}
		models[name][string(m[2])] = &fstest.MapFile{Data: m[3]}
	}
	return models
}

// describe puts what a network is into a line.
func describe(n network) string {
	d := n.dims()
	switch m := n.(type) {
	case *postNorm:
		return fmt.Sprintf("%d words, %d x %d, %d heads, %d inner, from position %d, types %v, eps %v", m.vocab, m.layers, m.hidden, m.heads, m.inner, m.first, d.types, m.eps)
	case *mpnet:
		return "bias, " + describe(m.postNorm)
	case *modernBert:
		global := 0
		for i := range m.config.Layers {
			if !m.config.local(i) {
				global++
			}
		}
		return fmt.Sprintf("%d words, %d x %d, %d heads, %d inner, %d global, window %d, theta %v and %v", d.vocab, m.config.Layers, d.hidden, m.config.Heads, m.config.Inner,
			global, *m.config.Window, m.config.GlobalTheta, m.config.LocalTheta)
	}
	return "unknown"
}

// Published models are read as what they are.
func TestPublished(t *testing.T) {
	const (
		bge       = "Represent this sentence for searching relevant passages: "
		bertSmall = "30522 words, 12 x 384, 12 heads, 1536 inner, from position 0, types true, eps 1e-12"
		bertBase  = "30522 words, 12 x 768, 12 heads, 3072 inner, from position 0, types true, eps 1e-12"
		bertLarge = "30522 words, 24 x 1024, 16 heads, 4096 inner, from position 0, types true, eps 1e-12"
		multi     = "250037 words, 12 x 384, 12 heads, 1536 inner, from position 0, types true, eps 1e-12"
		xlmBase   = "250002 words, 12 x 768, 12 heads, 3072 inner, from position 2, types false, eps 1e-05"
		xlmLarge  = "250002 words, 24 x 1024, 16 heads, 4096 inner, from position 2, types false, eps 1e-05"
		modern    = "50368 words, 22 x 768, 12 heads, 1152 inner, 8 global, window 128, theta 160000 and 10000"
	)
	files := published(t)
	for _, c := range []struct {
		name, network  string
		tokens         int
		pooling        Pooling
		unit           bool
		query, passage string
	}{
		{"sentence-transformers/all-MiniLM-L6-v2", "30522 words, 6 x 384, 12 heads, 1536 inner, from position 0, types true, eps 1e-12", 256, PoolMean, true, "", ""},
		{"sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2", multi, 128, PoolMean, false, "", ""},
		{"sentence-transformers/all-mpnet-base-v2", "bias, 30527 words, 12 x 768, 12 heads, 3072 inner, from position 2, types false, eps 1e-05", 384, PoolMean, true, "", ""},
		{"sentence-transformers/all-distilroberta-v1", "50265 words, 6 x 768, 12 heads, 3072 inner, from position 2, types false, eps 1e-05", 512, PoolMean, true, "", ""},
		{"BAAI/bge-small-en-v1.5", bertSmall, 512, PoolCLS, true, bge, ""},
		{"BAAI/bge-base-en-v1.5", bertBase, 512, PoolCLS, true, bge, ""},
		{"BAAI/bge-large-en-v1.5", bertLarge, 512, PoolCLS, true, bge, ""},
		{"intfloat/e5-small-v2", bertSmall, 512, PoolMean, true, "query: ", "passage: "},
		{"intfloat/e5-base-v2", bertBase, 512, PoolMean, true, "query: ", "passage: "},
		{"intfloat/multilingual-e5-small", multi, 512, PoolMean, true, "query: ", "passage: "},
		{"intfloat/multilingual-e5-base", xlmBase, 512, PoolMean, true, "query: ", "passage: "},
		{"intfloat/multilingual-e5-large", xlmLarge, 512, PoolMean, true, "query: ", "passage: "},
		{"thenlper/gte-small", bertSmall, 512, PoolMean, true, "", ""},
		{"thenlper/gte-base", bertBase, 512, PoolMean, true, "", ""},
		{"mixedbread-ai/mxbai-embed-large-v1", bertLarge, 512, PoolCLS, false, bge, ""},
		{"nomic-ai/modernbert-embed-base", modern, 8192, PoolMean, true, "search_query: ", "search_document: "},
		{"Alibaba-NLP/gte-modernbert-base", modern, 8192, PoolCLS, false, "", ""},
		{"google-bert/bert-base-uncased", bertBase, 512, PoolMean, false, "", ""},
		{"distilbert/distilbert-base-uncased", "30522 words, 6 x 768, 12 heads, 3072 inner, from position 0, types false, eps 1e-12", 512, PoolMean, false, "", ""},
		{"FacebookAI/roberta-base", "50265 words, 12 x 768, 12 heads, 3072 inner, from position 2, types false, eps 1e-05", 512, PoolMean, false, "", ""},
		{"FacebookAI/xlm-roberta-base", xlmBase, 512, PoolMean, false, "", ""},
		{"answerdotai/ModernBERT-base", modern, 8192, PoolMean, false, "", ""},
		{"answerdotai/ModernBERT-large", "50368 words, 28 x 1024, 16 heads, 2624 inner, 10 global, window 128, theta 160000 and 10000", 8192, PoolMean, false, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			// As the folder is called in the hub's cache.
			s := &source{name: "hub/models--" + strings.ReplaceAll(c.name, "/", "--") + "/snapshots/0123", fsys: files[c.name]}
			h, _, net, err := readConfig(s)
			if err != nil {
				t.Fatal(err)
			}
			e := &Encoder{net: net}
			if err := e.readAround(s, h); err != nil {
				t.Fatal(err)
			}
			if got := describe(net); got != c.network {
				t.Errorf("%s\nwant %s", got, c.network)
			}
			if e.MaxTokens != c.tokens || len(e.Pooling) != 1 || e.Pooling[0] != c.pooling || e.Normalize != c.unit || e.QueryPrompt() != c.query || e.PassagePrompt() != c.passage {
				t.Errorf("%d tokens, pooling %v, unit length %v, prompts %q and %q", e.MaxTokens, e.Pooling, e.Normalize, e.QueryPrompt(), e.PassagePrompt())
			}
		})
	}
	for _, c := range []struct {
		name, network string
		tokens        int
		sigmoid       bool
	}{
		{"cross-encoder/ms-marco-MiniLM-L6-v2", "30522 words, 6 x 384, 12 heads, 1536 inner, from position 0, types true, eps 1e-12", 512, false},
		{"cross-encoder/ms-marco-MiniLM-L12-v2", bertSmall, 512, false},
		{"BAAI/bge-reranker-base", xlmBase, 512, true},
		{"BAAI/bge-reranker-large", xlmLarge, 512, true},
		{"BAAI/bge-reranker-v2-m3", xlmLarge, 8192, true},
		{"Alibaba-NLP/gte-reranker-modernbert-base", modern, 8192, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := &CrossEncoder{}
			if err := x.readAround(&source{name: c.name, fsys: files[c.name]}); err != nil {
				t.Fatal(err)
			}
			if got := describe(x.net); got != c.network || x.MaxTokens != c.tokens || x.Sigmoid != c.sigmoid {
				t.Errorf("%s, %d tokens, sigmoid %v", got, x.MaxTokens, x.Sigmoid)
			}
		})
	}
}

// What cannot be read is refused by the file and the key, before any weights
// are looked for.
func TestRefused(t *testing.T) {
	const (
		bert    = `"model_type":"bert","vocab_size":30,"hidden_size":8,"num_hidden_layers":1,"num_attention_heads":2,"intermediate_size":9,"max_position_embeddings":16,"type_vocab_size":2`
		roberta = `"model_type":"roberta","vocab_size":30,"hidden_size":8,"num_hidden_layers":1,"num_attention_heads":2,"intermediate_size":9,"max_position_embeddings":16,"type_vocab_size":1`
		distil  = `"model_type":"distilbert","vocab_size":30,"dim":8,"n_layers":1,"n_heads":2,"hidden_dim":9,"max_position_embeddings":16`
		mpnet   = `"model_type":"mpnet","vocab_size":30,"hidden_size":8,"num_hidden_layers":1,"num_attention_heads":2,"intermediate_size":9,"max_position_embeddings":16`
		modern  = `"model_type":"modernbert","vocab_size":30,"hidden_size":8,"num_hidden_layers":2,"num_attention_heads":2,"intermediate_size":9,"max_position_embeddings":16`
		mods    = `[{"path":"","type":"sentence_transformers.models.Transformer"},{"path":"1_Pooling","type":"sentence_transformers.models.Pooling"}`
	)
	for _, c := range []struct{ config, file, data, want string }{
		{`"model_type":"nomic_bert"`, "", "", `"nomic_bert" is not supported: only bert, distilbert, modernbert, mpnet, roberta, xlm-roberta`},
		{`"model_type":"deberta-v2"`, "", "", `"deberta-v2"`}, {`"model_type":"new"`, "", "", `"new"`}, {``, "", "", `architecture "" is not supported`},
		{bert + `,"position_embedding_type":"alibi"`, "", "", "position_embedding_type"}, {bert + `,"is_decoder":true`, "", "", "is_decoder"},
		{bert + `,"hidden_size":0`, "", "", "hidden_size is 0"}, {bert + `,"vocab_size":1000000000`, "", "", "vocab_size"}, {bert + `,"hidden_size":"8"`, "", "", "hidden_size"},
		{bert + `,"num_attention_heads":3`, "", "", "num_attention_heads"}, {bert + `,"hidden_act":"swoosh"`, "", "", "hidden_act"}, {bert + `,"layer_norm_eps":-1`, "", "", "layer_norm_eps"},
		{roberta + `,"pad_token_id":15`, "", "", "pad_token_id"}, {roberta + `,"pad_token_id":-1`, "", "", "pad_token_id"},
		{distil + `,"n_heads":0`, "", "", "n_heads"}, {distil + `,"dim":9`, "", "", "dim 9"}, {distil + `,"activation":"x"`, "", "", "activation"},
		{mpnet + `,"relative_attention_num_buckets":64`, "", "", "relative_attention_num_buckets"}, {mpnet + `,"max_position_embeddings":100000`, "", "", "max_position_embeddings"},
		{modern + `,"local_attention":0`, "", "", "local_attention"}, {modern + `,"global_attn_every_n_layers":0`, "", "", "global_attn_every_n_layers"},
		{modern + `,"hidden_size":6`, "", "", "odd"}, {modern + `,"layer_types":["full_attention"]`, "", "", "layer_types"}, {modern + `,"layer_types":["x","y"]`, "", "", "layer_types"},
		{modern + `,"global_rope_theta":-1`, "", "", "global_rope_theta"}, {modern + `,"rope_parameters":{"full_attention":{"rope_theta":0}}`, "", "", "rope_parameters.full_attention: rope_theta"},
		{modern + `,"rope_parameters":{"sliding_attention":{"rope_type":"yarn"}}`, "", "", "yarn"}, {modern + `,"rope_scaling":{"factor":2}`, "", "", "rope_scaling"},
		{modern + `,"sliding_window":-1`, "", "", "sliding_window is -1"}, {modern + `,"sliding_window":64,"local_attention":64`, "", "", "sliding_window is 64 and local_attention 64"},
		{modern + `,"rope_parameters":{"full_attention":{"type":"linear"}}`, "", "", "linear"}, {modern + `,"rope_parameters":{"full_attention":{"partial_rotary_factor":0.5}}`, "", "", "partial_rotary_factor"},
		{modern + `,"rope_parameters":{"rope_type":"default","rope_theta":1000}`, "", "", "for all blocks alike"},
		{modern + `,"classifier_pooling":"max"`, "", "", "classifier_pooling"}, {modern + `,"norm_eps":2`, "", "", "norm_eps"}, {modern + `,"hidden_activation":"x"`, "", "", "hidden_activation"},
		{bert + `,"architectures":["BertForSequenceClassification"]`, "", "", "cross-encoder"},
		{bert + `,"architectures":["BertLMHeadModel"]`, "", "", "BertLMHeadModel generates text"}, {roberta + `,"architectures":["RobertaForCausalLM"]`, "", "", "no modules.json"},
		{bert, "modules.json", `[]`, "names no pooling"}, {bert, "modules.json", `[{"path":"x","type":"sentence_transformers.models.WeightedLayerPooling"}]`, "WeightedLayerPooling"},
		{bert, "modules.json", mods + `]`, "1_Pooling/config.json is missing"}, {bert, "modules.json", strings.ReplaceAll(mods, "1_Pooling", "../x") + `]`, "../x"},
		{bert, "sentence_bert_config.json", `{"max_seq_length":0}`, "max_seq_length"}, {bert, "sentence_bert_config.json", `{"max_seq_length":1.5}`, "max_seq_length"},
		{bert, "sentence_bert_config.json", `{"transformer_task":"fill-mask"}`, "transformer_task"}, {bert, "sentence_bert_config.json", `{"query_length":32}`, "query_length"},
		{bert, "sentence_bert_config.json", `{"modality_config":{"text":{"method_output_name":"pooler_output"}}}`, "pooler_output"}, {bert, "sentence_bert_config.json", `{"processing_kwargs":{"text":{"max_length":4}}}`, "processing_kwargs"},
		{bert, "sentence_bert_config.json", `{"config_args":{"trust_remote_code":true,"num_hidden_layers":1}}`, "config_args"}, {bert, "sentence_bert_config.json", `{"module_output_name":"scores"}`, "module_output_name"},
		{bert, "sentence_bert_config.json", `{"transformer_task":"feature-extraction","query_length":null,"query_expansion":null,"tokenizer_args":{"trust_remote_code":true},"module_output_name":"token_embeddings"}`, "model.safetensors"},
		{bert, "tokenizer_config.json", `{"model_max_length":-4}`, "model_max_length"}, {bert, "config_sentence_transformers.json", `{"default_prompt_name":"q"}`, "default_prompt_name"},
		{bert, "config_sentence_transformers.json", `{"truncate_dim":9}`, "truncate_dim"}, {bert, "config_sentence_transformers.json", `{"prompts":[]}`, "prompts"},
		{bert, "model.safetensors.index.json", `{"weight_map":{"a":"../model.safetensors"}}`, "../model.safetensors"}, {bert, "model.safetensors.index.json", `{"weight_map":{"a":"b"}}`, "b"},
		{bert, "", "", "model.safetensors"},
	} {
		fsys := fstest.MapFS{"config.json": lastOfEach(t, c.config)}
		if c.file != "" {
			fsys[c.file] = &fstest.MapFile{Data: []byte(c.data)}
		}
		_, err := OpenFS(fsys)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "model: ") {
			t.Errorf("%s %s %s:\n%v\nwant %q", c.config, c.file, c.data, err, c.want)
		}
	}
	for _, c := range []struct{ config, want string }{
		{bert, "architectures is missing"}, {bert + `,"architectures":["BertModel"]`, "no cross-encoder"}, {bert + `,"architectures":["BertForSequenceClassification"]`, "2 labels"},
		{bert + `,"architectures":["RobertaForSequenceClassification"],"num_labels":1`, "BertForSequenceClassification"},
		{bert + `,"architectures":["BertForSequenceClassification"],"num_labels":1,"sbert_ce_default_activation_function":"torch.nn.Softplus"`, "Softplus"},
		{bert + `,"architectures":["BertForSequenceClassification"],"num_labels":1`, "model.safetensors"},
	} {
		_, err := OpenCrossEncoderFS(fstest.MapFS{"config.json": lastOfEach(t, c.config)})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("cross-encoder %s:\n%v\nwant %q", c.config, err, c.want)
		}
	}
}

// Newer files of ModernBERT may give half of the window, by another name.
func TestModernBertWindow(t *testing.T) {
	for keys, want := range map[string]int{
		``: 128, `,"local_attention":64`: 64, `,"sliding_window":32`: 64, `,"sliding_window":32,"local_attention":65`: 65, `,"sliding_window":null`: 128,
		`,"sliding_window":0`: 1, // each token sees itself
	} {
		config := `"model_type":"modernbert","vocab_size":30,"hidden_size":8,"num_hidden_layers":2,"num_attention_heads":2,"intermediate_size":9,"max_position_embeddings":16`
		_, _, net, err := readConfig(&source{name: "x", fsys: fstest.MapFS{"config.json": lastOfEach(t, config+keys)}})
		if err != nil {
			t.Errorf("%s: %v", keys, err)
			continue
		}
		if got := *net.(*modernBert).config.Window; got != want {
			t.Errorf("%s: a window of %d, want %d", keys, got, want)
		}
	}
}

// A folder that does not say how vectors are made says so.
func TestAssumedPooling(t *testing.T) {
	config := lastOfEach(t, `"model_type":"bert","vocab_size":30,"hidden_size":8,"num_hidden_layers":1,"num_attention_heads":2,"intermediate_size":9,"max_position_embeddings":16,"type_vocab_size":2`)
	for modules, want := range map[string]bool{"": true, `[{"path":"","type":"sentence_transformers.models.Transformer"},{"path":"","type":"sentence_transformers.models.Pooling"}]`: false} {
		fsys := fstest.MapFS{"config.json": config}
		if modules != "" {
			fsys["modules.json"] = &fstest.MapFile{Data: []byte(modules)}
		}
		s := &source{name: "x", fsys: fsys}
		h, _, net, err := readConfig(s)
		if err != nil {
			t.Fatal(err)
		}
		e := &Encoder{net: net}
		if err := e.readAround(s, h); err != nil || e.AssumedPooling != want || e.Pooling[0] != PoolMean {
			t.Errorf("modules %q: assumed %v, pooling %v, %v", modules, e.AssumedPooling, e.Pooling, err)
		}
	}
}

// lastOfEach is a file with the last value of each key: what is wrong stands
// behind what it replaces.
func lastOfEach(t *testing.T, keys string) *fstest.MapFile {
	t.Helper()
	var all map[string]json.RawMessage
	if err := json.Unmarshal([]byte("{"+keys+"}"), &all); err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return &fstest.MapFile{Data: data}
}

// Both forms of 1_Pooling/config.json, and what neither may say.
func TestPoolingConfig(t *testing.T) {
	for _, c := range []struct{ data, want string }{
		{`{}`, "[0]"}, {`{"pooling_mode_cls_token":true,"pooling_mode_mean_tokens":false}`, "[1]"}, {`{"pooling_mode_mean_tokens":true,"pooling_mode_cls_token":true}`, "[1 0]"},
		{`{"pooling_mode":"lasttoken"}`, "[5]"}, {`{"pooling_mode":["mean","cls"]}`, "[0 1]"}, {`{"pooling_mode":"weightedmean","pooling_mode_cls_token":true}`, "[4]"},
		{`{"pooling_mode":"median"}`, "median"}, {`{"pooling_mode":[]}`, "0 names"}, {`{"pooling_mode":3}`, "pooling_mode"}, {`{"pooling_mode_cls_token":"yes"}`, "pooling_mode_cls_token"},
		{`{"include_prompt":1}`, "include_prompt"}, {`{"word_embedding_dimension":"x"}`, "word_embedding_dimension"}, {`[]`, "array"},
	} {
		var p poolingConfig
		err := p.UnmarshalJSON([]byte(c.data))
		if got := fmt.Sprint(p.poolings); err == nil && got != c.want || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %s, %v; want %s", c.data, got, err, c.want)
		}
	}
}
