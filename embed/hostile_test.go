package embed

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"regexp"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/internal/modeltest"
	"github.com/sinterml/sinter/internal/timetest"
	"github.com/sinterml/sinter/model"
	"github.com/sinterml/sinter/safetensors"
)

// tinyConfigs are config.json of the smallest model of each architecture.
var tinyConfigs = map[string]string{
	"bert": `{"model_type":"bert","vocab_size":40,"hidden_size":16,"num_hidden_layers":1,"num_attention_heads":2,"intermediate_size":24,
		"hidden_act":"gelu","max_position_embeddings":32,"type_vocab_size":2,"layer_norm_eps":1e-12,"position_embedding_type":"absolute"}`,
	"distilbert": `{"model_type":"distilbert","vocab_size":40,"dim":16,"n_layers":1,"n_heads":2,"hidden_dim":24,"activation":"gelu","max_position_embeddings":32}`,
	"roberta": `{"model_type":"roberta","vocab_size":40,"hidden_size":16,"num_hidden_layers":1,"num_attention_heads":2,"intermediate_size":24,
		"hidden_act":"gelu","max_position_embeddings":34,"type_vocab_size":1,"layer_norm_eps":1e-5,"pad_token_id":1}`,
	"mpnet": `{"model_type":"mpnet","vocab_size":40,"hidden_size":16,"num_hidden_layers":1,"num_attention_heads":2,"intermediate_size":24,
		"hidden_act":"gelu","max_position_embeddings":34,"layer_norm_eps":1e-5,"pad_token_id":1,"relative_attention_num_buckets":32}`,
	"modernbert": `{"model_type":"modernbert","vocab_size":40,"hidden_size":16,"num_hidden_layers":2,"num_attention_heads":2,"intermediate_size":24,
		"hidden_activation":"gelu","max_position_embeddings":64,"norm_eps":1e-5,"norm_bias":false,"attention_bias":false,"mlp_bias":false,"local_attention":4,
		"global_attn_every_n_layers":3,"layer_types":["full_attention","sliding_attention"],"global_rope_theta":160000.0,"local_rope_theta":10000.0,
		"rope_parameters":{"full_attention":{"rope_type":"default","rope_theta":160000.0}},"classifier_pooling":"mean","classifier_bias":false,"classifier_activation":"gelu"}`,
}

// wanted finds in an error which tensor a model lacks, or the shape it must have.
var (
	wantedName  = regexp.MustCompile(`tensor "([^"]+)"`)
	wantedShape = regexp.MustCompile(`tensor "([^"]+)" has shape \[[0-9 ]*\], config.json says \[([0-9 ]*)\]`)
)

// tiny is a model of an architecture that opens.
func tiny(t testing.TB, architecture string) modeltest.Folder {
	t.Helper()
	return withWeights(t, modeltest.BERT().With("config.json", []byte(tinyConfigs[architecture])), func(fsys fs.FS) (io.Closer, error) { return model.OpenFS(fsys) })
}

// withWeights puts weights into a folder with which it opens: they are found by
// asking what is missing.
func withWeights(t testing.TB, folder modeltest.Folder, open func(fs.FS) (io.Closer, error)) modeltest.Folder {
	t.Helper()
	shapes := map[string][]int{}
	for range 200 {
		folder["model.safetensors"] = tinyWeights(t, shapes)
		m, err := open(mapFS(folder))
		if err == nil {
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}
			return folder
		}
		if found := wantedShape.FindStringSubmatch(err.Error()); found != nil {
			var shape []int
			for _, s := range strings.Fields(found[2]) {
				n, _ := strconv.Atoi(s)
				shape = append(shape, n)
			}
			shapes[found[1]] = shape
		} else if found := wantedName.FindStringSubmatch(err.Error()); found != nil {
			shapes[found[1]] = []int{0}
		} else {
			t.Fatalf("%s: %v", folder["config.json"], err)
		}
	}
	t.Fatalf("%s: no end of tensors", folder["config.json"])
	return nil
}

func tinyWeights(t testing.TB, shapes map[string][]int) []byte {
	r := rand.New(rand.NewPCG(3, 4))
	var tensors []safetensors.Tensor
	for _, name := range slices.Sorted(maps.Keys(shapes)) {
		n := 4
		for _, s := range shapes[name] {
			n *= s
		}
		x := safetensors.Tensor{Name: name, DType: sinter.F32, Shape: shapes[name], Data: make([]byte, n)}
		for i := 0; i < len(x.Data); i += 4 {
			binary.LittleEndian.PutUint32(x.Data[i:], math.Float32bits(float32(r.NormFloat64())/4))
		}
		tensors = append(tensors, x)
	}
	var b bytes.Buffer
	if err := safetensors.Write(&b, tensors, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func mapFS(f modeltest.Folder) fstest.MapFS {
	m := fstest.MapFS{}
	for name, data := range f {
		m[name] = &fstest.MapFile{Data: data, Mode: 0o600}
	}
	return m
}

// allocated is the bytes that this process has ever allocated.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// attempt opens a model that may be anything. If it is refused, that was within
// a second, in memory bounded by the files' size, with an error that names file
// and is no longer than a person reads. If not, it gives numbers, or an error.
func attempt(t *testing.T, what string, folder modeltest.Folder, file string) error {
	t.Helper()
	size := 0
	for _, data := range folder {
		size += len(data)
	}
	var err error
	var bytes uint64
	timetest.Within(t, time.Second, what, func() {
		before := allocated()
		var m *model.Encoder
		m, err = model.OpenFS(mapFS(folder))
		bytes = allocated() - before
		if err != nil {
			return
		}
		if err := m.Close(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	})
	if limit := uint64(8<<20 + 40*size); bytes > limit {
		t.Errorf("%s: %d bytes allocated for files of %d", what, bytes, size)
	}
	if err == nil {
		return useHostile(t, what, folder)
	}
	if text := err.Error(); file != "" && !strings.Contains(text, file) || len(text) > 2000 {
		t.Errorf("%s: the error does not name %s, or is too long: %.400s", what, file, text)
	}
	return err
}

// useHostile runs a model that was opened: it gives numbers, or an error.
func useHostile(t *testing.T, what string, folder modeltest.Folder) error {
	t.Helper()
	e, err := New(t.Context(), Options{FS: mapFS(folder)})
	if err != nil {
		return err
	}
	defer e.Close()
	vectors, err := e.Encode(t.Context(), []string{"abc", "", "the quick brown fox jumps over the lazy dog again and again and again and again", "\xff\x00"})
	if err != nil {
		return err
	}
	for _, v := range vectors {
		if len(v) != e.Dim() || notNumbers(v) {
			t.Errorf("%s: vector %v of length %d", what, v, e.Dim())
		}
	}
	return nil
}

// hostileValues are what a configuration may have in place of any value.
var hostileValues = []string{
	`0`, `-1`, `1`, `3`, `1000000000`, `9223372036854775807`, `18446744073709551616`, `-9223372036854775808`, `1e30`, `1e-300`, `1e999`, `0.5`, `16.0`, `null`, `true`,
	`"x"`, `""`, `"16"`, `[]`, `[16]`, `{}`, `{"x":{}}`, `[null,null]`, `["full_attention","x"]`, `"\ud800"`, "\"\xff\"", `"` + strings.Repeat("x", 20_000) + `"`,
	strings.Repeat("[", 20_000), strings.Repeat(`{"x":`, 5_000), strings.Repeat("9", 20_000), ``,
}

// Every value of every configuration file of every architecture, replaced.
func TestHostileConfigurations(t *testing.T) {
	for architecture := range tinyConfigs {
		t.Run(architecture, func(t *testing.T) {
			whole := tiny(t, architecture)
			if err := attempt(t, "the model as it is", whole, ""); err != nil {
				t.Fatal(err)
			}
			whole["config_sentence_transformers.json"] = []byte(`{"prompts":{"query":"q: "},"default_prompt_name":null,"similarity_fn_name":"cosine","truncate_dim":8}`)
			whole["tokenizer_config.json"] = []byte(`{"model_max_length":16}`)
			if err := attempt(t, "with all files", whole, ""); err != nil {
				t.Fatal(err)
			}
			for file := range whole {
				if file == "tokenizer.json" || file == "model.safetensors" {
					continue
				}
				if file != "config.json" && architecture != "bert" {
					continue // nothing of theirs depends on it
				}
				for _, changed := range replaceValues(t, whole[file]) {
					_ = attempt(t, fmt.Sprintf("%s: %.300s", file, changed), whole.With(file, changed), "")
				}
				for _, key := range []string{`"model_type"`, `"hidden_size"`, `"type"`, `"prompts"`, `"max_seq_length"`, `"pooling_mode_mean_tokens"`} {
					twice := bytes.Replace(whole[file], []byte(key), []byte(key+`:0,`+strings.ToUpper(key)), 1)
					if bytes.Contains(whole[file], []byte(key)) && key != `"type"` {
						if err := attempt(t, file+" with a key twice", whole.With(file, twice), file); err == nil || !strings.Contains(err.Error(), "twice") {
							t.Errorf("%s: %s", err, twice)
						}
					}
				}
			}
		})
	}
}

// replaceValues gives a JSON text with each of its values replaced by each of
// the hostile ones.
func replaceValues(t *testing.T, text []byte) (all [][]byte) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	var ends [][2]int // of values that are no objects or arrays
	for {
		start := int(d.InputOffset())
		token, err := d.Token()
		if err != nil {
			break
		}
		if _, delim := token.(json.Delim); delim {
			continue
		}
		for strings.ContainsRune(" \n\t,:", rune(text[start])) {
			start++
		}
		end := int(d.InputOffset())
		if rest := bytes.TrimLeft(text[end:], " \n\t"); len(rest) > 0 && rest[0] == ':' {
			continue // a key
		}
		ends = append(ends, [2]int{start, end})
	}
	for _, e := range ends {
		for _, v := range hostileValues {
			all = append(all, slices.Concat(text[:e[0]], []byte(v), text[e[1]:]))
		}
	}
	for _, v := range hostileValues {
		all = append(all, []byte(v))
	}
	return all
}

// Each file missing, empty, cut at every length up to a limit and at some beyond,
// and with a bit flipped in each of its bytes.
func TestDamagedFiles(t *testing.T) {
	for architecture := range tinyConfigs {
		t.Run(architecture, func(t *testing.T) {
			whole := tiny(t, architecture)
			r := rand.New(rand.NewPCG(5, 6))
			for _, file := range slices.Sorted(maps.Keys(whole)) { // the draws of r are the same each time
				data, named := whole[file], file
				if file == "model.safetensors" {
					named = "" // a flip may change a tensor's name: then config.json is in the error as well
				}
				if err := attempt(t, "no "+file, whole.Without(file), ""); err == nil && file != "modules.json" && file != "sentence_bert_config.json" {
					t.Errorf("without %s it opens", file)
				}
				step := effort.Of(97, 97, 31, 11) // primes, lest the same fields be hit
				if architecture == "bert" {
					step = effort.Of(11, 11, 3, 1)
				}
				for n := 0; n < len(data); n += step {
					if n > 4000 {
						n += r.IntN(500)
					}
					if err := attempt(t, fmt.Sprintf("%s cut to %d", file, n), whole.With(file, data[:min(n, len(data)-1)]), file); err == nil {
						t.Errorf("%s cut to %d of %d opens", file, n, len(data))
					}
				}
				for n := 0; n < len(data); n += step {
					if n > 4000 {
						n += r.IntN(500)
					}
					if n < len(data) {
						flipped := bytes.Clone(data)
						flipped[n] ^= 1 << r.IntN(8)
						_ = attempt(t, fmt.Sprintf("%s with byte %d flipped", file, n), whole.With(file, flipped), named)
					}
				}
				for _, junk := range [][]byte{make([]byte, 100_000), bytes.Repeat([]byte{0xff}, 100_000), []byte("\xef\xbb\xbf{}"), []byte("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 90868376\n"), []byte("<!DOCTYPE html>\n")} {
					if err := attempt(t, fmt.Sprintf("%s: %.40q", file, junk), whole.With(file, junk), file); err == nil {
						t.Errorf("%s opens as %.40q", file, junk)
					}
				}
			}
		})
	}
}

// A text without tokens has no state to take: it must not get that of its
// neighbour. A mean of none is 0.
func TestTextsWithoutTokens(t *testing.T) {
	for _, pooling := range []string{"mean", "cls", "max", "mean_sqrt_len_tokens", "weightedmean", "lasttoken"} {
		folder := modeltest.BERT().With("1_Pooling/config.json", []byte(`{"pooling_mode":"`+pooling+`"}`))
		e, err := New(t.Context(), Options{FS: mapFS(folder)})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		v, err := e.EncodeIDs(t.Context(), [][]int32{{2, 5, 3}, {}, {2, 6, 3}})
		if pooling == "mean" {
			if err != nil || !slices.Equal(v[1], make([]float32, e.Dim())) {
				t.Errorf("%s: %v, error %v", pooling, v, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), "text 1 has no tokens") {
			t.Errorf("%s: %v, error %v", pooling, v, err)
		}
	}
}

// A model that wants texts in lower case gets them as its tokenizer would make
// them: one letter becomes two runes.
func TestLowerCase(t *testing.T) {
	folder := modeltest.BERT().With("sentence_bert_config.json", []byte(`{"do_lower_case":true}`))
	folder["tokenizer.json"] = bytes.Replace(folder["tokenizer.json"], []byte(`"strip_accents":null,"lowercase":true`), []byte(`"strip_accents":false,"lowercase":false`), 1)
	e, err := New(t.Context(), Options{FS: mapFS(folder)})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for text, small := range map[string]string{"A B": "a b", "İ": "i\u0307"} {
		if got, want := e.Tokens(text, 0), e.Tokens(small, 0); !slices.Equal(got, want) {
			t.Errorf("%q: tokens %v, want %v", text, got, want)
		}
	}
}
