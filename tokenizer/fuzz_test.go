package tokenizer

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func FuzzParse(f *testing.F) {
	good, err := json.Marshal(small())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte(`{"model":{"vocab":{"[UNK]":0,"\u00e9":3},"type":"WordPiece"},"added_tokens":[{"id":9,"content":"É","normalized":true,"single_word":true}],"normalizer":{"type":"BertNormalizer","lowercase":false}}`))
	for _, model := range []string{
		`{"type":"BPE","unk_token":"u","fuse_unk":true,"byte_fallback":true,"vocab":{"u":0,"a":1,"b":2,"ab":3,"<0x41>":4,"▁":5,"▁a":6},"merges":["a b",["▁","a"]]}`,
		`{"type":"BPE","ignore_merges":true,"continuing_subword_prefix":"@","end_of_word_suffix":"$","vocab":{"a":0,"@b":1,"ab":2,"@b$":3},"merges":["a @b"]}`,
		`{"type":"Unigram","unk_id":0,"byte_fallback":true,"vocab":[["u",0],["▁",-1.5],["ab",-2e1],["b",-3]]}`,
		`{"type":"WordPiece","vocab":{"[UNK]":0,"a":1,"##b":2}}`,
	} {
		for _, stages := range []string{
			`"normalizer":{"type":"Sequence","normalizers":[{"type":"NFKC"},{"type":"Nmt"},{"type":"StripAccents"},{"type":"Lowercase"},{"type":"Strip","strip_left":true},{"type":"Prepend","prepend":"▁"},{"type":"Replace","pattern":{"Regex":" {2,}"},"content":"▁"}]},"pre_tokenizer":{"type":"Metaspace","replacement":"▁","prepend_scheme":"first"},"decoder":{"type":"Sequence","decoders":[{"type":"Replace","pattern":{"String":"▁"},"content":" "},{"type":"ByteFallback"},{"type":"Fuse"},{"type":"Strip","content":" ","start":1,"stop":0}]}`,
			`"normalizer":{"type":"Precompiled","precompiled_charsmap":"CAAAAAEAAAAAAAAAYWIA"},"pre_tokenizer":{"type":"ByteLevel"},"post_processor":{"type":"RobertaProcessing","cls":["a",1],"sep":["b",2]},"decoder":{"type":"ByteLevel"}`,
			`"pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"Regex":"\\s+|\\d"},"behavior":"MergedWithNext","invert":true},{"type":"Digits","individual_digits":true},{"type":"Punctuation"},{"type":"ByteLevel","use_regex":false}]},"decoder":{"type":"BPEDecoder"}`,
		} {
			f.Add([]byte(`{"model":` + model + `,` + stages + `}`))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		tok, err := Parse(data)
		if err != nil {
			return
		}
		if n := tok.VocabSize(); n > len(data)+2*maxIDGap {
			t.Errorf("a table of %d tokens from %d bytes", n, len(data))
		}
		checkEncoding(t, tok, string(data))
	})
}

func FuzzEncode(f *testing.F) {
	tok := minilm(f)
	for _, text := range []string{"", "a", "Ünïcödé 中文", "[SEP][MASK] [CLS", "\xff\x00\u200b", "e\u0301\u0327\u0f73\u0f71", "각\u1100\u1161\u11a8"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { checkEncoding(t, tok, text) })
}

// FuzzTrained encodes with small tokenizers of every kind. Those of bytes give
// back what they were given.
func FuzzTrained(f *testing.F) {
	var toks []*Tokenizer
	var lossless []bool
	for _, name := range trainedNames(f) {
		toks = append(toks, trained(f, name))
		lossless = append(lossless, slices.Contains([]string{"gpt2", "llama3", "cl100k", "o200k", "smollm2", "roberta"}, name))
	}
	var texts []string
	readGzipJSON(f, "testdata/texts.json.gz", &texts)
	for i, text := range texts {
		f.Add(uint8(i), text)
	}
	f.Fuzz(func(t *testing.T, which uint8, text string) {
		i := int(which) % len(toks)
		checkEncoding(t, toks[i], text)
		// Special tokens in the text are left out on the way back.
		if !lossless[i] || !utf8.ValidString(text) || strings.ContainsRune(text, '<') {
			return
		}
		e := toks[i].Encode(text)
		if back := toks[i].Decode(e.IDs); back != text {
			t.Errorf("%+q became %+q", text, back)
		}
		last := [2]int{}
		for _, o := range e.Offsets {
			if o == ([2]int{}) {
				continue // a special token
			}
			if o[0] < last[0] || o[1] < last[1] {
				t.Errorf("offsets %v come after %v", o, last)
			}
			last = o
		}
	})
}

// checkEncoding tests what holds of every encoding.
func checkEncoding(t *testing.T, tok *Tokenizer, text string) {
	t.Helper()
	e := tok.Encode(text)
	if len(e.TypeIDs) != len(e.IDs) || len(e.Offsets) != len(e.IDs) {
		t.Fatalf("%d ids, %d types, %d offsets", len(e.IDs), len(e.TypeIDs), len(e.Offsets))
	}
	for i, id := range e.IDs {
		if id < 0 || int(id) >= tok.VocabSize() {
			t.Errorf("id %d of %d", id, tok.VocabSize())
		}
		start, end := e.Offsets[i][0], e.Offsets[i][1]
		if start < 0 || end < start || end > len(text) {
			t.Fatalf("offsets %d, %d in a text of %d bytes", start, end, len(text))
		}
		if utf8.ValidString(text) && !utf8.ValidString(text[start:end]) {
			t.Errorf("offsets %d, %d cut a character", start, end)
		}
	}
	short := tok.EncodeMax(text, 8)
	if len(short.IDs) > 8 {
		t.Errorf("%d tokens, at most 8 were asked for", len(short.IDs))
	}
	tok.EncodePairMax(text, text, 9)
	tok.Decode(e.IDs)
}
