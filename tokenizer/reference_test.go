package tokenizer

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/sinterml/sinter/internal/reftest"
)

// minilmFile is the tokenizer of the embedded model.
const minilmFolder, minilmFile = "../model/minilm/data", "tokenizer.json"

func minilm(t testing.TB) *Tokenizer {
	t.Helper()
	tok, err := Load(os.DirFS(minilmFolder), minilmFile)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// codePoints turns offsets in bytes of text into offsets in code points.
func codePoints(text string, offsets [][2]int) [][2]int {
	out := make([][2]int, len(offsets))
	for i, o := range offsets {
		out[i] = [2]int{utf8.RuneCountInString(text[:o[0]]), utf8.RuneCountInString(text[:o[1]])}
	}
	return out
}

// TestReferenceTokens wants what the reference implementation gives, to the
// id and the offset.
func TestReferenceTokens(t *testing.T) {
	tok := minilm(t)
	file, err := os.Open(filepath.Join(reftest.Dir(t, "minilm"), "tokenizer.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<24)
	cases := 0
	for ; lines.Scan(); cases++ {
		var c struct {
			Text    string   `json:"text"`
			Pair    *string  `json:"pair"`
			IDs     []int32  `json:"ids"`
			TypeIDs []int32  `json:"type_ids"`
			Offsets [][2]int `json:"offsets"`
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatalf("line %d: %v", cases+1, err)
		}
		if c.Pair != nil {
			got := tok.EncodePair(c.Text, *c.Pair)
			if !slices.Equal(got.IDs, c.IDs) || !slices.Equal(got.TypeIDs, c.TypeIDs) {
				t.Errorf("%q and %q:\nids  %v\nwant %v\ntypes %v\nwant  %v", c.Text, *c.Pair, got.IDs, c.IDs, got.TypeIDs, c.TypeIDs)
			}
			continue
		}
		got := tok.Encode(c.Text)
		if !slices.Equal(got.IDs, c.IDs) {
			t.Errorf("%q:\nids  %v\nwant %v", c.Text, got.IDs, c.IDs)
		} else if offsets := codePoints(c.Text, got.Offsets); !slices.Equal(offsets, c.Offsets) {
			t.Errorf("%q:\noffsets %v\nwant    %v", c.Text, offsets, c.Offsets)
		}
	}
	if err := lines.Err(); err != nil || cases == 0 {
		t.Fatalf("%d cases read, error %v", cases, err)
	}
}
