package tokenizer

import (
	"encoding/json"
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
	f.Add([]byte(`{"model":{"type":"BPE"}}`))
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
