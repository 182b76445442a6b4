package tokenizer

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/internal/timetest"
)

// allocated is the bytes that this process has ever allocated, to the byte:
// those of runtime/metrics come in spans.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// attempt parses a file that may be anything: within a second, in memory bounded
// by its size, and if it is refused with an error that a person can read.
func attempt(t *testing.T, what string, file []byte) *Tokenizer {
	t.Helper()
	var tok *Tokenizer
	var err error
	var bytes uint64
	timetest.Within(t, time.Second, fmt.Sprintf("%s: %d bytes", what, len(file)), func() {
		before := allocated()
		tok, err = Parse(file)
		bytes = allocated() - before
	})
	if limit := uint64(8<<20 + 60*len(file)); bytes > limit {
		t.Errorf("%s: %d bytes allocated for a file of %d", what, bytes, len(file))
	}
	if err == nil {
		return tok
	}
	if len(err.Error()) > 1000 {
		t.Errorf("%s: an error of %d bytes: %.200v", what, len(err.Error()), err)
	}
	return nil
}

// wordPieceFile is a tokenizer.json with what is given put in.
func wordPieceFile(stages, added, vocab string) string {
	return `{` + stages + `"added_tokens":[` + added + `],"model":{"type":"WordPiece","vocab":{"[UNK]":0` + vocab + `}}}`
}

// bombs are files that ask for more than they hold.
var bombs = map[string]struct {
	file string
	want string // in the error; "" where the file is no more than odd
}{
	"a token of 4 MB":            {wordPieceFile("", "", `,"`+strings.Repeat("x", 4<<20)+`":1`), "more than"},
	"an added token of 4 MB":     {wordPieceFile("", `{"id":1,"content":"`+strings.Repeat("x", 4<<20)+`"}`, ""), "more than"},
	"many long added tokens":     {wordPieceFile("", added(500, 4000), ""), ""},
	"many added tokens":          {wordPieceFile("", added(30_000, 8), ""), ""},
	"an id beyond":               {wordPieceFile("", "", `,"x":2000000000`), "counted from 0"},
	"an added id beyond":         {wordPieceFile("", `{"id":2000000000,"content":"x"}`, ""), "out of range"},
	"a long unknown token":       {`{"model":{"type":"BPE","unk_token":"` + strings.Repeat("x", 1<<20) + `","vocab":{},"merges":[]}}`, "lacks"},
	"a word without end":         {`{"model":{"type":"WordPiece","max_input_chars_per_word":2000000000,"vocab":{"[UNK]":0}}}`, "out of range"},
	"an expression that repeats": {wordPieceFile(`"pre_tokenizer":`+split(strings.Repeat("a{1000}", 1000))+`,`, "", ""), "repetitions"},
	"a nested expression":        {wordPieceFile(`"pre_tokenizer":`+split(strings.Repeat("(?:", 900)+"a"+strings.Repeat("{1,2})", 900))+`,`, "", ""), "not supported"},
	"expressions that repeat":    {wordPieceFile(`"pre_tokenizer":{"type":"Sequence","pretokenizers":[`+strings.Repeat(split("a{1000}")+",", 63)+split("a")+`]},`, "", ""), ""},
	"a long expression":          {wordPieceFile(`"pre_tokenizer":`+split(strings.Repeat("a", 1<<20))+`,`, "", ""), "more than"},
	"stages without end":         {wordPieceFile(`"normalizer":{"type":"Sequence","normalizers":[`+strings.Repeat(`{"type":"Lowercase"},`, 100_000)+`{"type":"NFC"}]},`, "", ""), "stages"},
	"deep stages":                {wordPieceFile(`"normalizer":`+strings.Repeat(`{"type":"Sequence","normalizers":[`, 1000)+strings.Repeat("]}", 1000)+`,`, "", ""), "deep"},
	"a text that grows":          {wordPieceFile(`"normalizer":{"type":"Sequence","normalizers":[`+strings.Repeat(`{"type":"Replace","pattern":{"String":"a"},"content":"aaaaaaaa"},`, 20)+`{"type":"NFC"}]},`, "", ""), "longer"},
	"deep nesting":               {`{"x":` + strings.Repeat("[", 1<<20), "deep"},
	"a number of 1 MB":           {`{"model":{"type":"WordPiece","vocab":{"[UNK]":` + strings.Repeat("1", 1<<20) + `}}}`, "not an integer"},
	"a type of 1 MB":             {`{"model":{"type":"` + strings.Repeat("x", 1<<20) + `"}}`, "not supported"},
	"a key of 1 MB":              {`{"` + strings.Repeat("x", 1<<20) + `" 1`, "colon"},
	"two vocabularies":           {`{"model":{"type":"WordPiece","vocab":{"[UNK]":0},"vocab":{"[UNK]":0}}}`, "twice"},
	"a token twice":              {wordPieceFile("", "", `,"x":1,"\u0078":2`), "twice"},
	"an id twice":                {wordPieceFile("", "", `,"x":0`), "same id"},
	"a key twice":                {`{"model":null,"model":null}`, ""},
	"scores that overflow":       {`{"model":{"type":"Unigram","unk_id":0,"vocab":[["<unk>",0],["a",-1e308],["aa",1e308],["b",1e308],["c",-1e-308]]}}`, ""},
	"a score beyond":             {`{"model":{"type":"Unigram","unk_id":0,"vocab":[["<unk>",1e999]]}}`, "not a number"},
	"a long piece":               {`{"model":{"type":"Unigram","unk_id":0,"vocab":[["<unk>",0],["` + strings.Repeat("x", 1000) + `",0]]}}`, "more than"},
	"special tokens without end": {wordPieceFile(`"post_processor":{"type":"TemplateProcessing","single":[`+strings.Repeat(`{"SpecialToken":{"id":"[UNK]","type_id":0}},`, 50_000)+`{"Sequence":{"id":"A","type_id":0}}],"pair":[],"special_tokens":{"[UNK]":{"id":"[UNK]","ids":[0],"tokens":["[UNK]"]}}},`, "", ""), ""},
	"a type id beyond":           {wordPieceFile(`"post_processor":{"type":"TemplateProcessing","single":[{"Sequence":{"id":"A","type_id":4294967296}}],"pair":[],"special_tokens":{}},`, "", ""), ""},
}

// split is a pre-tokenizer of a regular expression.
func split(pattern string) string {
	return `{"type":"Split","behavior":"Isolated","pattern":{"Regex":"` + pattern + `"}}`
}

// added is a list of tokens of so many bytes.
func added(tokens, size int) string {
	var b strings.Builder
	for i := range tokens {
		fmt.Fprintf(&b, `{"id":%d,"content":"%0*d","normalized":%t},`, i+1, size, i, i%2 == 0)
	}
	return strings.TrimSuffix(b.String(), ",")
}

func TestBombs(t *testing.T) {
	for name, bomb := range bombs {
		tok := attempt(t, name, []byte(bomb.file))
		_, err := Parse([]byte(bomb.file))
		switch {
		case bomb.want != "" && (err == nil || !strings.Contains(err.Error(), bomb.want)):
			t.Errorf("%s: error %.300v, want one that says %q", name, err, bomb.want)
		case tok != nil:
			checkEncoding(t, tok, "aaa bbb 000001 abc")
		}
	}
}

// Files of trained tokenizers of every kind, cut and with bits flipped.
func TestDamagedTokenizers(t *testing.T) {
	const text = "The quick brown föx, 中文 12345 don't  \n\t jumps <s> [MASK] over \xff\x00 the lazy dog."
	for _, name := range trainedNames(t) {
		file, _ := trainedFile(t, name)
		r := rand.New(rand.NewPCG(7, 8))
		for range effort.Of(30, 30, 120, 1000) {
			n := r.IntN(len(file))
			if attempt(t, fmt.Sprintf("%s cut to %d", name, n), file[:n]) != nil {
				t.Errorf("%s cut to %d of %d is read", name, n, len(file))
			}
			damaged := bytes.Clone(file)
			what := fmt.Sprintf("%s with flips at", name)
			for range 1 + r.IntN(3) {
				// Most of a file is its vocabulary; what is around it counts as much.
				at := r.IntN(min(len(file), 2000))
				if r.IntN(2) == 0 {
					at = r.IntN(len(file))
				}
				damaged[at] ^= 1 << r.IntN(8)
				what += fmt.Sprintf(" %d", at)
			}
			if tok := attempt(t, what, damaged); tok != nil {
				checkEncoding(t, tok, text)
			}
		}
	}
}

// Texts of one line without end, which a careless tokenizer takes quadratic time
// for: of each kind of character, for each kind of tokenizer.
func TestLongLines(t *testing.T) {
	size, each := 10_000, 10*time.Microsecond
	if effort.Now() >= effort.CI { // of what is quadratic as much comes to light as by 1 MB in 20 microseconds a byte
		size, each = 60_000, 4*time.Microsecond
	}
	limit := time.Duration(size) * each
	spaces := func(flags string) *Tokenizer {
		tok, err := Parse([]byte(wordPieceFile("", `{"id":1,"content":" ",`+flags+`}`, `,"a":2`)))
		if err != nil {
			t.Fatal(err)
		}
		return tok
	}
	toks := map[string]*Tokenizer{
		"minilm": minilm(t), "a token of white space": spaces(`"lstrip":true`), "one that takes it along": spaces(`"rstrip":true`), "one between words": spaces(`"single_word":true`),
	}
	for _, name := range trainedNames(t) {
		toks[name] = trained(t, name)
	}
	units := []string{"a", "A", " ", "\n", " \n", "a ", "'", "1", ".", "é", "e\u0301", "\u0301", "中", "각", "\u1100", "\xff", "\x00", "\u200d", "👩\u200d", "[CLS]", "<s>", "▁", "\ufdfa", "ａ", "aZ3+/", "'s", "🏽", "🇦"}
	for name, tok := range toks {
		for _, unit := range units {
			text := strings.Repeat(unit, size/len(unit))
			what := fmt.Sprintf("%s: %d bytes of %q", name, len(text), unit)
			var e Encoding
			timetest.BusyWithin(t, limit, what, func() { e = tok.Encode(text) })
			if n := len(e.IDs); n > 0 && e.Offsets[n-1][1] > len(text) {
				t.Errorf("%s: an offset beyond", what)
			}
			timetest.BusyWithin(t, limit, what+", the first tokens", func() { e = tok.EncodeMax(text, 16) })
			if len(e.IDs) > 16 {
				t.Errorf("%s: %d tokens", what, len(e.IDs))
			}
		}
	}
}
