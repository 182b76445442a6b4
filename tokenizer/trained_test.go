package tokenizer

import (
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// trainedCase is what the reference implementation does with a text. Offsets
// are pairs in code points, one after the other.
type trainedCase struct {
	Text        int     `json:"i"`
	IDs         []int32 `json:"ids"`
	Offsets     []int   `json:"offsets"`
	Decoded     string  `json:"decoded"`
	Pair        *int    `json:"pair"`
	PairIDs     []int32 `json:"pair_ids"`
	PairTypes   []int32 `json:"pair_types"`
	PairOffsets []int   `json:"pair_offsets"`
	Max         int     `json:"max"`
	MaxIDs      []int32 `json:"max_ids"`
	MaxPairIDs  []int32 `json:"max_pair_ids"`
	MaxPairOffs []int   `json:"max_pair_offsets"`
}

func readGzip(t testing.TB, path string) []byte {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func readGzipJSON(t testing.TB, path string, v any) {
	t.Helper()
	if err := json.Unmarshal(readGzip(t, path), v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// withCharsmap puts the table of nmt_nfkc where the file only names it.
func withCharsmap(t testing.TB, file []byte) []byte {
	if !strings.Contains(string(file), "nmt_nfkc") {
		return file
	}
	table := base64.StdEncoding.EncodeToString(readGzip(t, "testdata/nmt_nfkc.bin.gz"))
	return []byte(strings.ReplaceAll(string(file), `"nmt_nfkc"`, `"`+table+`"`))
}

// trainedFile is the tokenizer.json and the cases of a small tokenizer that is
// configured as a published one.
func trainedFile(t testing.TB, name string) ([]byte, []trainedCase) {
	t.Helper()
	var file struct {
		Tokenizer json.RawMessage `json:"tokenizer"`
		Cases     []trainedCase   `json:"cases"`
	}
	readGzipJSON(t, filepath.Join("testdata/trained", name+".json.gz"), &file)
	return withCharsmap(t, file.Tokenizer), file.Cases
}

func trained(t testing.TB, name string) *Tokenizer {
	t.Helper()
	file, _ := trainedFile(t, name)
	tok, err := Parse(file)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return tok
}

// trainedNames are the tokenizers of testdata/trained.
func trainedNames(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/trained/*.json.gz")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no tokenizers, error %v", err)
	}
	for i, p := range paths {
		paths[i] = strings.TrimSuffix(filepath.Base(p), ".json.gz")
	}
	return paths
}

// flat is offsets as the cases have them.
func flat(text string, offsets [][2]int) []int {
	var out []int
	for _, o := range codePoints(text, offsets) {
		out = append(out, o[0], o[1])
	}
	return out
}

// TestTrained holds tokenizers of every kind to the reference implementation:
// ids, offsets, types, pairs, truncation and the way back.
func TestTrained(t *testing.T) {
	var texts []string
	readGzipJSON(t, "testdata/texts.json.gz", &texts)
	for _, name := range trainedNames(t) {
		t.Run(name, func(t *testing.T) {
			tok := trained(t, name)
			_, cases := trainedFile(t, name)
			for _, c := range cases {
				checkTrained(t, tok, texts, c)
			}
		})
	}
}

func checkTrained(t *testing.T, tok *Tokenizer, texts []string, c trainedCase) {
	text := texts[c.Text]
	got := tok.Encode(text)
	if !slices.Equal(got.IDs, c.IDs) {
		t.Errorf("%+q:\nids  %v\nwant %v\ntokens %q", text, got.IDs, c.IDs, got.Tokens())
		return
	}
	if offsets := flat(text, got.Offsets); !slices.Equal(offsets, c.Offsets) {
		t.Errorf("%+q:\noffsets %v\nwant    %v\ntokens %q", text, offsets, c.Offsets, got.Tokens())
	}
	if decoded := tok.Decode(got.IDs); decoded != c.Decoded {
		t.Errorf("%+q:\ndecoded %+q\nwant    %+q", text, decoded, c.Decoded)
	}
	if c.Pair == nil {
		return
	}
	second := texts[*c.Pair]
	pair := tok.EncodePair(text, second)
	if !slices.Equal(pair.IDs, c.PairIDs) || !slices.Equal(pair.TypeIDs, c.PairTypes) {
		t.Errorf("%+q and %+q:\nids  %v\nwant %v\ntypes %v\nwant  %v", text, second, pair.IDs, c.PairIDs, pair.TypeIDs, c.PairTypes)
	}
	if max := tok.EncodeMax(text, c.Max); !slices.Equal(max.IDs, c.MaxIDs) {
		t.Errorf("%+q, at most %d:\nids  %v\nwant %v", text, c.Max, max.IDs, c.MaxIDs)
	}
	if max := tok.EncodePairMax(text, second, c.Max); !slices.Equal(max.IDs, c.MaxPairIDs) {
		t.Errorf("%+q and %+q, at most %d:\nids  %v\nwant %v", text, second, c.Max, max.IDs, c.MaxPairIDs)
	}
}

// TestStages holds stages with other settings to the reference implementation,
// on a tokenizer whose tokens are characters.
func TestStages(t *testing.T) {
	var texts []string
	readGzipJSON(t, "testdata/texts.json.gz", &texts)
	var file struct {
		Tokenizer map[string]json.RawMessage `json:"tokenizer"`
		Stages    []struct {
			Normalizer   json.RawMessage `json:"normalizer"`
			PreTokenizer json.RawMessage `json:"pre_tokenizer"`
			Cases        []trainedCase   `json:"cases"`
		} `json:"stages"`
	}
	readGzipJSON(t, "testdata/stages.json.gz", &file)
	for _, s := range file.Stages {
		name := string(s.Normalizer) + string(s.PreTokenizer)
		file.Tokenizer["normalizer"], file.Tokenizer["pre_tokenizer"] = s.Normalizer, s.PreTokenizer
		tok := parseFile(t, file.Tokenizer)
		bad := 0
		for _, c := range s.Cases {
			text := texts[c.Text]
			got := tok.Encode(text)
			if offsets := flat(text, got.Offsets); !slices.Equal(got.IDs, c.IDs) || !slices.Equal(offsets, c.Offsets) {
				if bad++; bad <= 3 {
					t.Errorf("%s\n%+q:\nids  %v\nwant %v\noffsets %v\nwant    %v", name, text, got.IDs, c.IDs, offsets, c.Offsets)
				}
			}
		}
		if bad > 3 {
			t.Errorf("%s: %d of %d cases fail", name, bad, len(s.Cases))
		}
	}
}
