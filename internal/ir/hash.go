package ir

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

// Hash identifies a program: equal for graphs that compile to the same code.
type Hash [16]byte

func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// Hash covers nodes, outputs, symbols with their bounds, and for each leaf its
// kind, type and which earlier leaf shares its storage. Names, identities and
// values of leaves are left out.
func (g *Graph) Hash() Hash {
	b := make([]byte, 0, 64*len(g.Nodes))
	for _, s := range g.Symbols() {
		b = append(append(b, s.Name...), ' ')
		b = strconv.AppendInt(append(strconv.AppendInt(b, s.Min, 10), ' '), s.Max, 10)
		b = append(b, '\n')
	}
	first := map[any]int{}
	for i, l := range g.Leaves {
		b = l.Type.Append(append(b, byte(l.Kind)))
		alias := i
		if l.Storage != nil {
			if at, ok := first[l.Storage]; ok {
				alias = at
			} else {
				first[l.Storage] = i
			}
		}
		b = append(strconv.AppendInt(append(b, '@'), int64(alias), 10), '\n')
	}
	for _, n := range g.Nodes {
		b = append(n.Append(b), '\n')
	}
	sum := sha256.Sum256(g.appendOutputs(b))
	return Hash(sum[:16])
}
