package ranking

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

func terms(text string) string {
	var all []string
	eachTerm(text, func(term []byte) { all = append(all, string(term)) })
	return strings.Join(all, " ")
}

func TestTerms(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"... ___ --- \xff\xfe \ufffd", ""},
		{"The errors, wrapped!", "the error wrap"},
		{"running generalization", "run general"},
		{"it's don't users' O'Neil’s", "it don user o neil"},
		{"readFile ReadFile", "read file readfil read file readfil"},
		{"READ_FILE read_file _read __init__", "read file readfil read file readfil read init"},
		{"read-file a-b-c --max-filesize", "read file readfil a b c abc max files maxfiles"},
		{"read -file", "read file"},
		{"HTTPServer userIDs URLs", "http server httpserver user id userid url"},
		{"os.ReadFile std::vec a->b", "os read file readfil os.readfile std vec std.vec a b a.b"},
		{"end. Start e.g. end.", "end start e g e.g end"},
		{"int8 utf8x 3.14 x²", "int 8 int8 utf 8 x utf8x 3 14 3.14 x 2 x2"},
		{"Füße FÜSSE naı\u0308ve cafe\u0301", "füße füsse naı\u0308ve café"},
		{"Поиск файлов", "поиск файлов"},
		{"日本語 go言語", "日 日本 本 本語 語 go 言 言語 語"},
		{"ｆｕｌｌ", "full"},
		{"고양이", "고 고양 양 양이 이"},
	} {
		if got := terms(c.text); !sameTerms(got, c.want) {
			t.Errorf("%q: %s, want %s", c.text, got, c.want)
		}
	}
}

// sameTerms compares without order.
func sameTerms(a, b string) bool {
	count := map[string]int{}
	for _, s := range strings.Fields(a) {
		count[s]++
	}
	for _, s := range strings.Fields(b) {
		count[s]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}

// What is written in one way is found in another.
func TestIdentifiersMeet(t *testing.T) {
	for _, forms := range [][]string{
		{"readFile", "ReadFile", "read_file", "read-file", "READ_FILE"},
		{"HTTPServer", "http_server", "HttpServer"},
		{"utf8", "UTF-8", "utf_8", "Utf8"},
	} {
		for _, f := range forms[1:] {
			if a, b := terms(forms[0]), terms(f); !sameTerms(a, b) {
				t.Errorf("%s is %s, %s is %s", forms[0], a, f, b)
			}
		}
	}
}

// FuzzTerms: terms are text in lower case and never empty, and a record holds
// each with its count.
func FuzzTerms(f *testing.F) {
	for _, s := range []string{"readFile_2 a.b 日本", "\xff_a-\u0301b", "O'Neil's"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 10_000 {
			t.Skip()
		}
		r := parse(Terms(text))
		counts := map[uint32]int{}
		length := 0
		eachTerm(text, func(term []byte) {
			if len(term) == 0 || !utf8.Valid(term) || bytes.ContainsAny(term, " _ABCXYZ") {
				t.Fatalf("term %q", term)
			}
			counts[hash(term)]++
			length++
		})
		if int(r.length) != length || len(r.counts) != len(counts) {
			t.Fatalf("record of %v terms, %d different, of %d and %d", r.length, len(r.counts), length, len(counts))
		}
		for h, n := range counts {
			if got := r.count(h); got != float32(min(n, 255)) {
				t.Fatalf("%v times, not %d", got, n)
			}
			if _, ok := counts[h+1]; !ok && r.count(h+1) != 0 {
				t.Fatal("a term that is not there")
			}
		}
	})
}

// FuzzRecord: any bytes are a record or none.
func FuzzRecord(f *testing.F) {
	f.Add(Terms("some text"), uint32(7))
	f.Add([]byte{Format, 0xff, 0xff, 0xff, 0xff, 0x07, 0xff, 0xff, 0xff, 0xff, 0x07}, uint32(0))
	f.Fuzz(func(t *testing.T, data []byte, h uint32) {
		r := parse(data)
		if len(r.hashes) != 4*len(r.counts) || len(r.counts) > int(r.length) || r.count(h) > 255 {
			t.Fatalf("%+v", r)
		}
		BM25(Query{[]uint32{h}}, []string{"a"}, []Chunk{{Terms: data}})
	})
}

func TestQuery(t *testing.T) {
	for _, c := range []struct{ query, same string }{
		{"How are errors wrapped?", "error wrap"},
		{"what's the cache", "cache"},
		{"find errors Is", "find errors what is Is"},
		{"where is it", "where is it "},
		{"errors.Is(err) as", "errors.Is err"},
	} {
		a, b := ParseQuery(c.query), ParseQuery(c.same)
		if len(a.terms) == 0 || len(a.terms) != len(b.terms) {
			t.Errorf("%q: %v, want %v", c.query, a, b)
		}
	}
	if q := ParseQuery(" ?! "); !q.Empty() {
		t.Errorf("%v", q)
	}
}

func BenchmarkTerms(b *testing.B) {
	text := strings.Repeat("// ReadFile reads the named file and returns the contents.\nfunc ReadFile(name string) ([]byte, error) {\n\tf, err := Open(name)\n", 20)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Terms(text)
	}
}
