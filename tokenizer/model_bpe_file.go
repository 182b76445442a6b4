package tokenizer

import (
	"fmt"
	"math"
	"strings"

	"github.com/sinterml/sinter/internal/jsonread"
)

// bpeFile is the model's object of a tokenizer.json.
type bpeFile struct {
	tokens       []string
	ids          map[string]int32
	merges       [][2]string
	merged       bool // the merges were read
	unknown      *string
	prefix       string
	suffix       string
	fuseUnknown  bool
	byteFallback bool
	ignoreMerges bool
}

func parseBPE(r *jsonread.Reader) (model, error) {
	var file bpeFile
	if err := r.Object(func(key string) error { return file.field(r, key) }); err != nil {
		return nil, err
	}
	if file.ids == nil || !file.merged {
		return nil, r.Fail("the model has no vocabulary or no merges")
	}
	m := &bpe{
		tokens: file.tokens, ids: file.ids,
		unknown: -1, fuseUnknown: file.fuseUnknown, ignoreMerges: file.ignoreMerges,
		prefix: file.prefix, suffix: file.suffix,
		cache: newWordCache(),
	}
	if file.byteFallback {
		m.fallback = byteTokens(m.ids)
	}
	if file.unknown != nil {
		if m.unknown = m.lookUp(*file.unknown); m.unknown < 0 {
			return nil, r.Fail("the vocabulary lacks the unknown token %.40q", *file.unknown)
		}
	}
	if err := m.setMerges(file.merges); err != nil {
		return nil, r.Fail("%v", err)
	}
	m.findCuts()
	return m, nil
}

func (f *bpeFile) field(r *jsonread.Reader, key string) (err error) {
	switch key {
	case "vocab":
		if f.ids != nil {
			return r.Fail("the vocabulary appears twice")
		}
		f.tokens, f.ids, err = readVocab(r)
	case "merges":
		if f.merged {
			return r.Fail("the merges appear twice")
		}
		f.merged = true
		f.merges, err = readMerges(r)
	case "dropout":
		var raw string
		if raw, err = r.Raw(); err == nil && strings.Trim(raw, "0.") != "" && raw != "null" {
			err = r.Fail("dropout %.40s is not supported: tokens would be random", raw)
		}
	case "unk_token":
		var token string
		var null bool
		if token, null, err = readStringOrNull(r); !null {
			f.unknown = &token
		}
	case "continuing_subword_prefix":
		f.prefix, _, err = readStringOrNull(r)
	case "end_of_word_suffix":
		f.suffix, _, err = readStringOrNull(r)
	case "fuse_unk":
		f.fuseUnknown, err = readBool(r)
	case "byte_fallback":
		f.byteFallback, err = readBool(r)
	case "ignore_merges":
		f.ignoreMerges, err = readBool(r)
	default:
		err = r.Skip()
	}
	if err == nil && len(f.prefix)+len(f.suffix) > maxAffix {
		err = r.Fail("a prefix and suffix of more than %d bytes", maxAffix)
	}
	return err
}

// maxAffix bounds what is joined to each character of a word.
const maxAffix = 64

// readMerges reads the list of pairs, each as "a b" or as ["a","b"].
func readMerges(r *jsonread.Reader) ([][2]string, error) {
	var merges [][2]string
	err := r.Array(func() error {
		var pair [2]string
		if r.Next() == '"' {
			text, err := r.String()
			if err != nil {
				return err
			}
			if strings.HasPrefix(text, "#version") {
				return nil
			}
			left, right, ok := strings.Cut(text, " ")
			if !ok || strings.Contains(right, " ") {
				return r.Fail("the merge %.80q is not of two tokens", text)
			}
			pair = [2]string{left, right}
		} else {
			n := 0
			err := r.Array(func() (err error) {
				if n == 2 {
					return r.Fail("a merge of more than two tokens")
				}
				pair[n], err = r.String()
				n++
				return err
			})
			if err != nil {
				return err
			}
			if n != 2 {
				return r.Fail("a merge of %d tokens", n)
			}
		}
		merges = append(merges, pair)
		return nil
	})
	if len(merges) >= math.MaxInt32 {
		return nil, r.Fail("%d merges", len(merges))
	}
	return merges, err
}

// setMerges looks up the tokens of the merges. Of a pair that comes twice the
// last counts.
func (m *bpe) setMerges(pairs [][2]string) error {
	m.merges = make(map[tokenPair]merge, len(pairs))
	var joined []byte
	for rank, pair := range pairs {
		left, okLeft := m.ids[pair[0]]
		right, okRight := m.ids[pair[1]]
		rest, okRest := strings.CutPrefix(pair[1], m.prefix)
		if !okLeft || !okRight || !okRest {
			return fmt.Errorf("the merge of %.40q and %.40q has a token that the vocabulary lacks", pair[0], pair[1])
		}
		joined = append(append(joined[:0], pair[0]...), rest...)
		id, ok := m.ids[string(joined)]
		if !ok {
			return fmt.Errorf("the vocabulary lacks %.80q, which a merge makes", joined)
		}
		m.merges[tokenPair{left, right}] = merge{int32(rank), id}
	}
	return nil
}

// byteTokens is the tokens <0x00> to <0xFF>, negative where there is none.
func byteTokens(ids map[string]int32) *[256]int32 {
	var tokens [256]int32
	for b := range tokens {
		tokens[b] = -1
		if id, ok := ids[fmt.Sprintf("<0x%02X>", b)]; ok {
			tokens[b] = id
		}
	}
	return &tokens
}

func readStringOrNull(r *jsonread.Reader) (s string, null bool, err error) {
	if r.Next() == 'n' {
		return "", true, r.Skip()
	}
	s, err = r.String()
	return s, false, err
}

// readBool reads true, false or, for false, null.
func readBool(r *jsonread.Reader) (bool, error) {
	raw, err := r.Raw()
	if err == nil && raw != "true" && raw != "false" && raw != "null" {
		err = r.Fail("true or false is wanted, not %.40s", raw)
	}
	return raw == "true", err
}
