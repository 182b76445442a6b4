package tokenizer

import (
	"math"

	"github.com/sinterml/sinter/internal/jsonread"
)

// maxIDGap bounds how many ids may have no token. Models leave some room free;
// a file may not make the table of tokens huge.
const maxIDGap = 1 << 16

// maxToken bounds a token in bytes: the work at each place of a text grows with
// the longest. Published files have up to a few hundred.
const maxToken = 4096

// readVocab reads an object of tokens and their ids, each of which may stand
// there once.
func readVocab(r *jsonread.Reader) ([]string, map[string]int32, error) {
	type entry struct {
		token string
		id    int32
	}
	entries := make([]entry, 0, 1<<15)
	largest := int64(-1)
	err := r.Object(func(token string) error {
		id, err := r.Int()
		if err != nil {
			return err
		}
		if id < 0 || id > math.MaxInt32 {
			return r.Fail("token %.40q has the id %d, which is out of range", token, id)
		}
		if len(token) > maxToken {
			return r.Fail("token %.40q has %d bytes, more than %d", token, len(token), maxToken)
		}
		largest = max(largest, id)
		entries = append(entries, entry{token, int32(id)})
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	if largest > int64(len(entries))+maxIDGap {
		return nil, nil, r.Fail("the largest of %d ids is %d: ids must be counted from 0", len(entries), largest)
	}
	tokens := make([]string, largest+1)
	taken := make([]bool, largest+1)
	ids := make(map[string]int32, len(entries))
	for _, e := range entries {
		if taken[e.id] {
			return nil, nil, r.Fail("tokens %.40q and %.40q have the same id %d", tokens[e.id], e.token, e.id)
		}
		taken[e.id] = true
		tokens[e.id] = e.token
		ids[e.token] = e.id
	}
	if len(ids) < len(entries) {
		return nil, nil, r.Fail("a token appears twice in the vocabulary")
	}
	return tokens, ids, nil
}
