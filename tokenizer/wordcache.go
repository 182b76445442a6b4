package tokenizer

import (
	"hash/maphash"
	"slices"
	"sync/atomic"
)

// wordCache remembers the tokens of words, as most words of a text come again.
// Each word has one place, where the last word to come there stays, so that its
// memory is bounded whatever the texts. The zero value is empty; it is safe for
// use by several goroutines at once.
type wordCache struct {
	seed  maphash.Seed
	slots []atomic.Pointer[cachedWord]
}

// Entries and the bytes of a word that is kept: some 5 MB in all.
const (
	cacheSlots    = 1 << 14
	maxCachedWord = 64
)

type cachedWord struct {
	word   string
	pieces []piece
}

func newWordCache() wordCache {
	return wordCache{maphash.MakeSeed(), make([]atomic.Pointer[cachedWord], cacheSlots)}
}

func (c *wordCache) slot(word []byte) *atomic.Pointer[cachedWord] {
	return &c.slots[maphash.Bytes(c.seed, word)%cacheSlots]
}

// get is what was put for a word, or nil.
func (c *wordCache) get(word []byte) *cachedWord {
	if len(c.slots) == 0 || len(word) > maxCachedWord {
		return nil
	}
	if found := c.slot(word).Load(); found != nil && found.word == string(word) {
		return found
	}
	return nil
}

func (c *wordCache) put(word []byte, pieces []piece) {
	if len(c.slots) > 0 && len(word) <= maxCachedWord {
		c.slot(word).Store(&cachedWord{string(word), slices.Clone(pieces)})
	}
}
