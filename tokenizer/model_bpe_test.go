package tokenizer

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestMergeLong wants of the queue what looking at all pairs gives.
func TestMergeLong(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, name := range []string{"gpt2", "affixes", "llama2"} {
		m := trained(t, name).model.(*bpe)
		for range 500 {
			var word strings.Builder
			for word.Len() < 1+r.IntN(shortWord) {
				word.WriteString([]string{"a", "th", "e ", "in", "é", "ung", "  ", "字"}[r.IntN(8)])
			}
			start := m.start([]byte(word.String()), nil)
			if len(start) == 0 || len(start) > shortWord {
				continue
			}
			var s modelScratch
			want := m.mergeAll(slices.Clone(start), &s)
			if got := m.mergeLong(slices.Clone(start), &s); !slices.Equal(got, want) {
				t.Fatalf("%s, %q: %v, want %v", name, word.String(), got, want)
			}
		}
	}
}

// TestCacheIsBounded encodes more words than the cache has room for, and finds
// them again unchanged.
func TestCacheIsBounded(t *testing.T) {
	tok := trained(t, "gpt2")
	r := rand.New(rand.NewPCG(3, 4))
	var text strings.Builder
	for range 3 * cacheSlots {
		for range 1 + r.IntN(5) {
			text.WriteByte('a' + byte(r.IntN(26)))
		}
		text.WriteByte(' ')
	}
	want := tok.Encode(text.String())
	if got := tok.Encode(text.String()); !slices.Equal(got.IDs, want.IDs) || !slices.Equal(got.Offsets, want.Offsets) {
		t.Error("another result when the words are known")
	}
	if got := tok.Decode(want.IDs); got != text.String() {
		t.Error("the text did not come back")
	}
}

// TestSettingsWithoutTokens: without an unknown token characters that have none
// are left out, and those after them move up, as in the reference.
func TestSettingsWithoutTokens(t *testing.T) {
	file := small()
	for _, stage := range []string{"normalizer", "pre_tokenizer", "post_processor", "added_tokens"} {
		file[stage] = nil
	}
	file["model"] = map[string]any{"type": "BPE", "vocab": map[string]int{"a": 0, "b": 1, "ab": 2}, "merges": []any{"a b"}}
	e := parseFile(t, file).Encode("xaxb")
	if !slices.Equal(e.IDs, []int32{2}) || !slices.Equal(e.Offsets, [][2]int{{0, 2}}) {
		t.Errorf("%v %v", e.IDs, e.Offsets)
	}
}

// TestSpeltAffixes has characters spelt with the bytes of what the model joins
// to them, more than they have: the ids are the reference implementation's, the
// offsets stay within the text.
func TestSpeltAffixes(t *testing.T) {
	vocab := map[string]int{"<unk>": 0, "a": 1, "@@a": 2}
	for b := range 256 {
		vocab[fmt.Sprintf("<0x%02X>", b)] = 3 + b
	}
	model := map[string]any{"type": "BPE", "unk_token": "<unk>", "continuing_subword_prefix": "@@", "byte_fallback": true, "vocab": vocab, "merges": []any{}}
	for _, c := range []struct {
		suffix, normalizer string
		text               string
		ids                []int32
	}{
		{"", "null", "aéaa", []int32{1, 67, 67, 198, 172, 2, 2}},
		{"", `{"type":"NFC"}`, "ae\u0301aa", []int32{1, 67, 67, 198, 172, 2, 2}},
		{"$", "null", "é é", []int32{198, 172, 39, 198, 172, 39}},
	} {
		model["end_of_word_suffix"] = c.suffix
		tok := parseFile(t, map[string]any{"model": model, "normalizer": json.RawMessage(c.normalizer), "pre_tokenizer": map[string]any{"type": "WhitespaceSplit"}})
		for _, text := range []string{c.text, strings.Repeat(c.text+" ", 2)} {
			checkEncoding(t, tok, text)
		}
		if got := tok.Encode(c.text); !slices.Equal(got.IDs, c.ids) {
			t.Errorf("%+q: ids %v, want %v", c.text, got.IDs, c.ids)
		}
	}
}

// TestSpaceCharacterInBytes has the character for a space among the tokens of a
// model of bytes, for which it is three of them: words are not cut there.
func TestSpaceCharacterInBytes(t *testing.T) {
	for _, c := range []struct {
		vocab  []string
		merges []string
		ids    []int32
	}{
		{[]string{"<unk>", "a", "▁", "â", "ĸ", "ģ", "aâ", "aâĸ", "aâĸģ"}, []string{"a â", "aâ ĸ", "aâĸ ģ"}, []int32{1, 0, 3, 4, 5, 8}},
		{[]string{"<unk>", "a", "▁", "ģ"}, []string{}, []int32{1, 0, 3, 1, 0, 3}},
	} {
		vocab := map[string]int{}
		for id, token := range c.vocab {
			vocab[token] = id
		}
		tok := parseFile(t, map[string]any{
			"pre_tokenizer": map[string]any{"type": "ByteLevel", "add_prefix_space": false, "use_regex": false},
			"model":         map[string]any{"type": "BPE", "unk_token": "<unk>", "fuse_unk": true, "vocab": vocab, "merges": c.merges},
		})
		if got := tok.Encode("aé▁a▁"); !slices.Equal(got.IDs, c.ids) {
			t.Errorf("%q: ids %v, want %v", c.vocab, got.IDs, c.ids)
		}
	}
}
