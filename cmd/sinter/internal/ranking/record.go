package ranking

import (
	"encoding/binary"
	"math"
	"slices"
)

// Format is the version of what Terms makes. Another one means other terms or
// another layout, so that records kept must be made anew.
const Format = 1

// Terms makes the record of a passage that BM25 reads: the format, the number
// of terms with repetitions, the number of different terms n (both as varints),
// n hashes of terms, rising, of 4 bytes (little-endian), and n counts of one
// byte, the highest for all beyond.
//
// Names of files are no part of it: the record of a text stays as it is where
// the file is renamed.
func Terms(text string) []byte {
	counts := map[uint32]int{}
	length := 0
	eachTerm(text, func(term []byte) {
		counts[hash(term)]++
		length++
	})
	hashes := make([]uint32, 0, len(counts))
	for h := range counts {
		hashes = append(hashes, h)
	}
	slices.Sort(hashes)
	b := make([]byte, 0, 1+2*binary.MaxVarintLen32+5*len(hashes))
	b = append(b, Format)
	b = binary.AppendUvarint(b, uint64(length))
	b = binary.AppendUvarint(b, uint64(len(hashes)))
	for _, h := range hashes {
		b = binary.LittleEndian.AppendUint32(b, h)
	}
	for _, h := range hashes {
		b = append(b, byte(min(counts[h], math.MaxUint8)))
	}
	return b
}

// hash is even over all of its range, which count relies on: FNV-1a of 64 bits,
// mixed, for its high bits hardly change with the last letters.
func hash(term []byte) uint32 {
	h := uint64(14695981039346656037)
	for _, c := range term {
		h = (h ^ uint64(c)) * 1099511628211
	}
	h ^= h >> 32
	h *= 0x9e3779b97f4a7c15 // 2^64 over the golden ratio
	return uint32(h >> 32)
}

// record is one that Terms made, taken apart.
type record struct {
	length float32 // terms with repetitions
	hashes []byte
	counts []byte
}

// parse takes a record apart; what is none is empty. It does not look at the
// order of hashes: in others than Terms makes, count may miss some.
func parse(b []byte) record {
	if len(b) == 0 || b[0] != Format {
		return record{}
	}
	b = b[1:]
	length, size := binary.Uvarint(b)
	if size <= 0 || length > math.MaxInt32 {
		return record{}
	}
	b = b[size:]
	n, size := binary.Uvarint(b)
	if size <= 0 || n > length || n > uint64(len(b)) || uint64(len(b)-size) != 5*n {
		return record{}
	}
	b = b[size:]
	return record{float32(length), b[:4*n], b[4*n:]}
}

// count is how often a term is in the passage. The search begins where a hash
// would stand if all were evenly apart, which is a few steps off.
func (r record) count(h uint32) float32 {
	n := len(r.counts)
	if n == 0 {
		return 0
	}
	i := int(uint64(h) * uint64(n) >> 32)
	at := r.hash(i)
	for at < h && i+1 < n {
		i++
		at = r.hash(i)
	}
	for at > h && i > 0 {
		i--
		at = r.hash(i)
	}
	if at != h {
		return 0
	}
	return float32(r.counts[i])
}

func (r record) hash(i int) uint32 { return binary.LittleEndian.Uint32(r.hashes[4*i:]) }
