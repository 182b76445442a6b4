package tokenizer

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// TestVariants holds other settings than MiniLM's to the reference
// implementation.
func TestVariants(t *testing.T) {
	var variants []struct {
		Normalizer  json.RawMessage `json:"normalizer"`
		AddedTokens json.RawMessage `json:"added_tokens"`
		Cases       []struct {
			Text        string   `json:"text"`
			IDs         []int32  `json:"ids"`
			Offsets     [][2]int `json:"offsets"`
			Pair        *string  `json:"pair"`
			Max         int      `json:"max"`
			PairIDs     []int32  `json:"pair_ids"`
			PairTypeIDs []int32  `json:"pair_type_ids"`
			MaxIDs      []int32  `json:"max_ids"`
		} `json:"cases"`
	}
	readJSON(t, "testdata/variants.json", &variants)
	var file map[string]json.RawMessage
	readJSON(t, filepath.Join(minilmFolder, minilmFile), &file)
	for i, v := range variants {
		file["normalizer"], file["added_tokens"] = v.Normalizer, v.AddedTokens
		tok := parseFile(t, file)
		for _, c := range v.Cases {
			got := tok.Encode(c.Text)
			if offsets := codePoints(c.Text, got.Offsets); !slices.Equal(got.IDs, c.IDs) || !slices.Equal(offsets, c.Offsets) {
				t.Errorf("variant %d, %+q:\nids  %v\nwant %v\noffsets %v\nwant    %v", i, c.Text, got.IDs, c.IDs, offsets, c.Offsets)
			}
			if c.Pair == nil {
				continue
			}
			if got := tok.EncodeMax(c.Text, c.Max); !slices.Equal(got.IDs, c.MaxIDs) {
				t.Errorf("variant %d, %+q, at most %d:\nids  %v\nwant %v", i, c.Text, c.Max, got.IDs, c.MaxIDs)
			}
			if got := tok.EncodePairMax(c.Text, *c.Pair, c.Max); !slices.Equal(got.IDs, c.PairIDs) || !slices.Equal(got.TypeIDs, c.PairTypeIDs) {
				t.Errorf("variant %d, %+q and %+q, at most %d:\nids  %v\nwant %v\ntypes %v\nwant  %v",
					i, c.Text, *c.Pair, c.Max, got.IDs, c.PairIDs, got.TypeIDs, c.PairTypeIDs)
			}
		}
	}
}

func readJSON(t testing.TB, path string, v any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatal(err)
	}
}

func parseFile(t testing.TB, file any) *Tokenizer {
	t.Helper()
	data, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	tok, err := Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// small is a tokenizer.json of ten tokens, its parts to be replaced by tests.
func small() map[string]any {
	return map[string]any{
		"normalizer":    map[string]any{"type": "BertNormalizer"},
		"pre_tokenizer": map[string]any{"type": "BertPreTokenizer"},
		"model": map[string]any{"type": "WordPiece", "vocab": map[string]int{
			"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "un": 3, "##want": 4, "##ed": 5, "runn": 6, "##ing": 7, ",": 8, "##un": 9}},
		"post_processor": map[string]any{"type": "BertProcessing", "sep": []any{"[SEP]", 2}, "cls": []any{"[CLS]", 1}},
		"added_tokens":   []any{map[string]any{"id": 2, "content": "[SEP]", "special": true}},
	}
}

func TestEncode(t *testing.T) {
	tok := parseFile(t, small())
	for _, c := range []struct {
		text    string
		tokens  string
		offsets [][2]int
	}{
		{"", "[CLS] [SEP]", [][2]int{{0, 0}, {0, 0}}},
		{"UNwanted, running", "[CLS] un ##want ##ed , runn ##ing [SEP]", [][2]int{{0, 0}, {0, 2}, {2, 6}, {6, 8}, {8, 9}, {10, 14}, {14, 17}, {0, 0}}},
		{"unununx un", "[CLS] [UNK] un [SEP]", [][2]int{{0, 0}, {0, 7}, {8, 10}, {0, 0}}},
		{"un[SEP]un", "[CLS] un [SEP] un [SEP]", [][2]int{{0, 0}, {0, 2}, {2, 7}, {7, 9}, {0, 0}}},
		{"ün", "[CLS] un [SEP]", [][2]int{{0, 0}, {0, 3}, {0, 0}}},
		{"\xff\xfeun\xc3", "[CLS] un [SEP]", [][2]int{{0, 0}, {2, 4}, {0, 0}}},
		{strings.Repeat("u", 101) + " un", "[CLS] [UNK] un [SEP]", [][2]int{{0, 0}, {0, 101}, {102, 104}, {0, 0}}},
	} {
		e := tok.Encode(c.text)
		if got := strings.Join(e.Tokens(), " "); got != c.tokens {
			t.Errorf("%q: %s, want %s", c.text, got, c.tokens)
		}
		if !slices.Equal(e.Offsets, c.offsets) {
			t.Errorf("%q: offsets %v, want %v", c.text, e.Offsets, c.offsets)
		}
	}
}

func TestMaxIsNeverExceeded(t *testing.T) {
	tok := parseFile(t, small())
	for max := 1; max < 12; max++ {
		for _, e := range []Encoding{tok.EncodeMax("un un un un un", max), tok.EncodePairMax("un un un un", "un un un", max)} {
			if len(e.IDs) > max || len(e.TypeIDs) != len(e.IDs) || len(e.Offsets) != len(e.IDs) {
				t.Errorf("at most %d: %d ids, %d types, %d offsets", max, len(e.IDs), len(e.TypeIDs), len(e.Offsets))
			}
		}
	}
}

// TestStagesMayBeAbsent leaves out all but the model.
func TestStagesMayBeAbsent(t *testing.T) {
	file := small()
	for _, stage := range []string{"normalizer", "pre_tokenizer", "post_processor", "added_tokens"} {
		file[stage] = nil
	}
	tok := parseFile(t, file)
	if got := tok.EncodePair("running", "un\xff"); !slices.Equal(got.IDs, []int32{6, 7, 0}) || !slices.Equal(got.TypeIDs, []int32{0, 0, 1}) || got.Offsets[2] != [2]int{0, 3} {
		t.Errorf("%+v", got)
	}
	if got := tok.Decode([]int32{6, 7}); got != "runn ##ing" {
		t.Errorf("decoded %q", got)
	}
	var zero Tokenizer
	if got := zero.Encode("text"); len(got.IDs) != 0 || zero.Decode([]int32{1}) != "" || zero.VocabSize() != 0 {
		t.Errorf("the zero value encodes to %v", got.IDs)
	}
}

func TestVocabulary(t *testing.T) {
	tok := minilm(t)
	if n := tok.VocabSize(); n != 30522 {
		t.Errorf("%d tokens", n)
	}
	if id, ok := tok.ID("[SEP]"); id != 102 || !ok {
		t.Errorf("[SEP] has id %d, %t", id, ok)
	}
	if id, ok := tok.ID("no such token"); ok {
		t.Errorf("an unknown token has id %d", id)
	}
	for id, want := range map[int32]string{102: "[SEP]", 30521: "##～", -1: "", 30522: ""} {
		if got := tok.Token(id); got != want {
			t.Errorf("token %d is %q, want %q", id, got, want)
		}
	}
	const text = "It 's 3 unbelievable tokenizers , isn't it ? We do not know ..."
	const want = "it ' s 3 unbelievable tokenizers, isn ' t it? we do not know..." // as the reference implementation has it
	if got := tok.Decode(tok.Encode(text).IDs); got != want {
		t.Errorf("decoded %q, want %q", got, want)
	}
}

// trie is a precompiled_charsmap of the units and the replacements given, with
// a size of the trie that need not be true.
func trie(texts string, size uint32, units ...uint32) string {
	table := binary.LittleEndian.AppendUint32(nil, size)
	for _, u := range units {
		table = binary.LittleEndian.AppendUint32(table, u)
	}
	return base64.StdEncoding.EncodeToString(append(table, texts...))
}

// leafTrie is 100 units whose only key is a, with the offset to its value (of
// which the lowest ten bits are no part) and the value given.
func leafTrie(offset, value uint32) []uint32 {
	units := make([]uint32, 100)
	units['a'] = offset | 1<<8 | 'a'
	units['a'^offset>>10%100] = value
	return units
}

// TestBadFiles replaces one part of a good file.
func TestBadFiles(t *testing.T) {
	type object = map[string]any
	wordPiece := func(vocab any) object { return object{"type": "WordPiece", "vocab": vocab} }
	bpe := func(with object) object {
		model := object{"type": "BPE", "vocab": object{"a": 0, "b": 1, "c": 2, "ab": 3}, "merges": []any{"a b"}}
		maps.Copy(model, with)
		return model
	}
	unigram := func(unknown any, vocab ...any) object {
		return object{"type": "Unigram", "unk_id": unknown, "vocab": vocab}
	}
	charsmap := func(table string) object { return object{"type": "Precompiled", "precompiled_charsmap": table} }
	template := func(single, pair []any, ids ...int) object {
		return object{"type": "TemplateProcessing", "single": single, "pair": pair, "special_tokens": object{"x": object{"ids": ids}}}
	}
	a, b, x := object{"Sequence": object{"id": "A"}}, object{"Sequence": object{"id": "B"}}, object{"SpecialToken": object{"id": "x"}}
	for _, c := range []struct {
		part  string
		value any
		want  string
	}{
		{"model", nil, "object is wanted"},
		{"model", object{"type": "WordLevel"}, `"WordLevel" is not supported`},
		{"model", object{"vocab": object{}}, `"" is not supported`},
		{"model", object{"type": "WordPiece"}, "no vocabulary"},
		{"model", wordPiece([]int{}), "object is wanted"},
		{"model", wordPiece(object{"a": 0}), `lacks the unknown token "[UNK]"`},
		{"model", wordPiece(object{"[UNK]": -1}), "out of range"},
		{"model", wordPiece(object{"[UNK]": 0.5}), "not an integer"},
		{"model", wordPiece(object{"[UNK]": 2000000000}), "counted from 0"},
		{"model", wordPiece(object{"[UNK]": 0, "a": 0}), "same id"},
		{"model", wordPiece(json.RawMessage(`{"[UNK]":0,"a":1,"a":2}`)), "twice"},
		{"model", json.RawMessage(`{"type":"WordPiece","vocab":{"[UNK]":0},"vocab":{"[UNK]":0}}`), "twice"},
		{"model", object{"type": "WordPiece", "vocab": object{"[UNK]": 0}, "max_input_chars_per_word": -1}, "out of range"},
		{"model", bpe(object{"dropout": 0.1}), "dropout 0.1 is not supported"},
		{"model", bpe(object{"vocab": nil}), "object is wanted"},
		{"model", bpe(object{"merges": 1}), "array is wanted"},
		{"model", bpe(object{"merges": []any{"a"}}), "not of two tokens"},
		{"model", bpe(object{"merges": []any{"a b c"}}), "not of two tokens"},
		{"model", bpe(object{"merges": []any{[]any{"a"}}}), "a merge of 1 tokens"},
		{"model", bpe(object{"merges": []any{[]any{"a", "b", "c"}}}), "more than two tokens"},
		{"model", bpe(object{"merges": []any{"a z"}}), "a token that the vocabulary lacks"},
		{"model", bpe(object{"merges": []any{"b a"}}), `lacks "ba", which a merge makes`},
		{"model", bpe(object{"unk_token": "<unk>"}), `lacks the unknown token "<unk>"`},
		{"model", bpe(object{"fuse_unk": 1}), "true or false is wanted"},
		{"model", bpe(object{"continuing_subword_prefix": strings.Repeat("x", 65)}), "more than 64 bytes"},
		{"model", bpe(object{"vocab": object{"a": 0, "b": 0}}), "same id"},
		{"model", json.RawMessage(`{"type":"BPE","vocab":{"a":0},"merges":[],"merges":[]}`), "twice"},
		{"model", unigram(nil, []any{"a", 0}), "unk_id must be the id"},
		{"model", unigram(1, []any{"a", 0}), "unk_id must be the id"},
		{"model", unigram(0, []any{"a", 0}, []any{"a", 1}), "twice"},
		{"model", unigram(0, []any{"a"}), "without a score"},
		{"model", unigram(0, []any{"a", "b"}), "not a number"},
		{"model", unigram(0, []any{"a", 0, 0}), "more than a token and its score"},
		{"model", json.RawMessage(`{"type":"Unigram","unk_id":0,"vocab":[["a",1e999]]}`), "not a number"},
		{"normalizer", charsmap("!"), "illegal base64"},
		{"normalizer", charsmap("AAA="), "2 bytes"},
		{"normalizer", charsmap(trie("ab\x00", 1<<20)), "with a trie of"},
		{"normalizer", charsmap(trie("\xff", 4, 0)), "not UTF-8"},
		{"normalizer", charsmap(trie("ab\x00", 8, 1<<10, uint32('a'))), ""},
		{"normalizer", charsmap(trie("ab\x00", 4*100, leafTrie(1<<30, 0)...)), "points to"},
		{"normalizer", charsmap(trie("ab\x00", 4*100, leafTrie(1<<10, 3)...)), "of the replacements"},
		{"normalizer", charsmap(trie(strings.Repeat("a", 65), 4*100, leafTrie(1<<10, 0)...)), "more than 64"},
		{"normalizer", object{"type": "Precompiled"}, "missing"},
		{"normalizer", object{"type": "Prepend", "prepend": strings.Repeat("x", 65)}, "more than 64"},
		{"normalizer", object{"type": "Replace", "content": "x"}, "either String or Regex"},
		{"normalizer", object{"type": "Replace", "pattern": object{"String": ""}}, "empty"},
		{"normalizer", object{"type": "Replace", "pattern": object{"Regex": "x*"}}, "matches the empty text"},
		{"normalizer", object{"type": "Replace", "pattern": object{"Regex": "("}}, "not supported"},
		{"pre_tokenizer", object{"type": "Split", "behavior": "Isolated", "pattern": object{"Regex": `a(?=b)`}}, "look ahead"},
		{"pre_tokenizer", object{"type": "Split", "behavior": "Isolated", "pattern": object{"Regex": `\bx`}}, `the escape \b`},
		{"pre_tokenizer", object{"type": "Split", "behavior": "Isolated", "pattern": object{"Regex": `[a&&b]`}}, "intersection"},
		{"pre_tokenizer", object{"type": "Split", "behavior": "Isolated", "pattern": object{"Regex": `[[:alpha:]]`}}, "POSIX"},
		{"pre_tokenizer", object{"type": "Split", "behavior": "Isolated", "pattern": object{"Regex": `[a\S]`}}, "within a set"},
		{"pre_tokenizer", object{"type": "Split", "behavior": "Isolated", "pattern": object{"Regex": `x(?i)a|b`}}, "at the start"},
		{"pre_tokenizer", object{"type": "Split", "behavior": "Isolated", "pattern": object{"Regex": `a(?i:less|x)`}}, "one character"},
		{"pre_tokenizer", object{"type": "Split", "behavior": "Isolated", "pattern": object{"Regex": `(?i:[à-ÿ])`}}, "beyond ASCII"},
		{"pre_tokenizer", object{"type": "Split", "behavior": "Isolated", "pattern": object{"Regex": `less|(?i:'s|'ll|[sdmt])`}}, ""},
		{"pre_tokenizer", object{"type": "Split", "behavior": "Isolated", "pattern": object{"Regex": `a\`}}, "backslash"},
		{"pre_tokenizer", object{"type": "Split", "behavior": "isolated", "pattern": object{"String": "x"}}, "not known"},
		{"pre_tokenizer", object{"type": "Split", "pattern": object{"String": "x"}}, "behavior is missing"},
		{"pre_tokenizer", object{"type": "Metaspace", "replacement": "ab"}, "not one character"},
		{"pre_tokenizer", object{"type": "Metaspace", "replacement": "_", "prepend_scheme": "last"}, "not known"},
		{"pre_tokenizer", object{"type": "Metaspace", "replacement": "_", "prepend_scheme": "first", "add_prefix_space": false}, "do not agree"},
		{"pre_tokenizer", object{"type": "Sequence", "pretokenizers": slices.Repeat([]any{object{"type": "ByteLevel"}}, 8)}, "longer"},
		{"pre_tokenizer", object{"type": "Sequence", "pretokenizers": slices.Repeat([]any{object{"type": "Whitespace"}}, 65)}, "more than 64 stages"},
		{"post_processor", object{"type": "Sequence", "processors": slices.Repeat([]any{object{"type": "BertProcessing", "cls": []any{"[CLS]", 1}, "sep": []any{"[SEP]", 2}}}, 2)}, "more than one stage"},
		{"post_processor", object{"type": "RobertaProcessing", "cls": []any{"[CLS]", 100}, "sep": []any{"[SEP]", 2}}, "outside the vocabulary"},
		{"decoder", object{"type": "BPEDecoder", "suffix": ""}, "empty"},
		{"decoder", object{"type": "Strip", "content": "ab"}, "not one character"},
		{"decoder", object{"type": "Sequence", "decoders": slices.Repeat([]any{object{"type": "Replace", "pattern": object{"String": "a"}, "content": "aaaaaaaa"}}, 4)}, "longer"},
		{"normalizer", object{"type": "Shout"}, `normalizer: the type "Shout" is not supported`},
		{"normalizer", []int{1}, "normalizer"},
		{"pre_tokenizer", object{"type": "Shout"}, `pre_tokenizer: the type "Shout" is not supported`},
		{"post_processor", object{"type": "Shout"}, `post_processor: the type "Shout" is not supported`},
		{"post_processor", object{"type": "BertProcessing", "cls": []any{"[CLS]"}, "sep": []any{"[SEP]", 2}}, "token and its id"},
		{"post_processor", object{"type": "BertProcessing", "cls": []any{"[CLS]", 10}, "sep": []any{"[SEP]", 2}}, "outside the vocabulary"},
		{"post_processor", template([]any{x}, []any{a, b}, 1), "A 0 times"},
		{"post_processor", template([]any{a, b}, []any{a, b}, 1), "B 1 times"},
		{"post_processor", template([]any{a}, []any{a, a}, 1), "A 2 times"},
		{"post_processor", template([]any{a, x}, []any{a, b}, -1), "outside the vocabulary"},
		{"post_processor", template([]any{a, object{}}, []any{a, b}), "neither"},
		{"post_processor", template([]any{a, object{"SpecialToken": object{"id": "y"}}}, []any{a, b}), "not among"},
		{"post_processor", template([]any{a, x, x, x}, []any{a, b}, make([]int, 512)...), "more than 1024"},
		{"decoder", object{"type": "CTC"}, `decoder: the type "CTC" is not supported`},
		{"added_tokens", object{}, "added_tokens"},
		{"added_tokens", []object{{"id": 3, "content": "[SEP]"}}, "its id is 3, but 2"},
		{"added_tokens", []object{{"id": 3, "content": "new"}}, `is that of "un"`},
		{"added_tokens", []object{{"id": 2000000000, "content": "new"}}, "out of range"},
		{"added_tokens", []object{{"id": -1, "content": "new"}}, "out of range"},
		{"added_tokens", []object{{"id": 10, "content": "new"}, {"id": 11, "content": "new"}}, "twice"},
		{"added_tokens", []object{{"id": 10, "content": "new"}, {"id": 11, "content": "more"}}, ""},
		{"added_tokens", []object{{"id": 10, "content": "new"}, {"id": 12, "content": "more"}}, "its id is 12, but 11"},
		{"version", "2.0", "version: only 1.0"},
	} {
		file := small()
		file[c.part] = c.value
		data, err := json.Marshal(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Parse(data); c.want == "" && err == nil {
			continue
		} else if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %v: error %v, want one that says %s", c.part, c.value, err, c.want)
		}
	}
	for text, want := range map[string]string{"": "object is wanted", "{}": "no model", `{"a":1,"a":1}`: "twice", `{"model":`: "end of the text", "{} x": "after the end",
		`{"model":{"type":"Unigram","unk_id":0,"vocab":[["a",NaN]]}}`: "a value is wanted"} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one that says %s", text, err, want)
		}
	}
}

func TestLoadErrorsNameTheFile(t *testing.T) {
	fsys := fstest.MapFS{"tokenizer.json": {Data: []byte("{}")}}
	if _, err := Load(fsys, "tokenizer.json"); err == nil || !strings.HasPrefix(err.Error(), "tokenizer: tokenizer.json: ") {
		t.Errorf("error %v", err)
	}
	if _, err := Load(fsys, "absent"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

// TestClasses compares every code point with the reference implementation: a
// new Go, with a newer Unicode, must not change a token.
func TestClasses(t *testing.T) {
	var want map[string][][2]rune
	readJSON(t, "testdata/classes.json", &want)
	for name, is := range map[string]func(rune) bool{
		"dropped":     func(r rune) bool { return cleanRune(r) < 0 },
		"space":       func(r rune) bool { return cleanRune(r) == ' ' },
		"ideograph":   isIdeograph,
		"mark":        isMark,
		"punctuation": isPunct,
	} {
		ranges, ok := want[name]
		if !ok {
			t.Errorf("no ranges of %s", name)
		}
		// A character that decomposes to marks alone is stripped as well; the
		// reference can only be asked about whole characters.
		for r := rune(0); r <= utf8.MaxRune; r++ {
			in := len(ranges) > 0 && ranges[0][0] <= r
			if got := is(r); got != in && utf8.ValidRune(r) && !(name == "mark" && decomposesToMarks(r)) {
				t.Errorf("%U is %s: %t, want %t", r, name, got, in)
			}
			if in && r == ranges[0][1] {
				ranges = ranges[1:]
			}
		}
	}
}

func decomposesToMarks(r rune) bool {
	var d decomposition
	d.decompose(norm.NFD, []byte(string(r)), 0)
	return len(d.runes) > 1 && !slices.ContainsFunc(d.runes, func(r decomposedRune) bool { return !isMark(r.char) })
}

func TestConcurrentUse(t *testing.T) {
	tok := minilm(t)
	var wg sync.WaitGroup
	for i := range 8 {
		text := strings.Repeat(fmt.Sprintf("Text numéro %d, 中文. ", i), 20)
		want := tok.Encode(text)
		wg.Go(func() {
			for range 20 {
				if got := tok.Encode(text); !slices.Equal(got.IDs, want.IDs) || !slices.Equal(got.Offsets, want.Offsets) {
					t.Errorf("text %d: another result when used at once", i)
				}
			}
		})
	}
	wg.Wait()
}
