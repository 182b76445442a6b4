package inspect

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sinterml/sinter/internal/ir"
)

const (
	// leastPart is the least nodes of a group that repeats, and leastRepeated
	// that of all its parts together: less is no easier to read when folded.
	leastPart     = 4
	leastRepeated = 16
	// mostCompared bounds the comparisons of one search, and so the length of
	// parts in very large graphs.
	mostCompared = 1 << 27
	// mostGroups bounds the groups of one graph.
	mostGroups = 64
)

// repeatsOf finds nodes of g that come several times in the same form. What is
// made of constants alone is left aside: the first of several parts has it, and
// the others share it.
func repeatsOf(g *ir.Graph) []Repeat {
	numbers := map[string]int{}
	constant := make([]bool, len(g.Nodes))
	var tokens, at []int // of nodes, and their numbers
	for i, n := range g.Nodes {
		constant[i] = n.Op == ir.Const || n.Op == ir.Iota ||
			len(n.In) > 0 && n.Op != ir.Assign && !slices.ContainsFunc(n.In, func(x *ir.Node) bool { return !constant[x.ID] })
		if constant[i] {
			continue
		}
		attr := n.Attr
		attr.Leaf, attr.Region = 0, 0
		key := n.Op.String() + string(attr.Append(nil)) + typeText(n)
		if _, ok := numbers[key]; !ok {
			numbers[key] = len(numbers)
		}
		tokens, at = append(tokens, numbers[key]), append(at, i)
	}
	all := leafPrefixes(g)
	prefixes := make([]string, len(tokens))
	for i, node := range at {
		prefixes[i] = all[node]
	}
	repeats := findRepeats(tokens, prefixes)
	for _, r := range repeats {
		for k, s := range r.Starts {
			if s < len(at) {
				r.Starts[k] = at[s]
			} else {
				r.Starts[k] = len(g.Nodes)
			}
		}
	}
	return repeats
}

// leafPrefixes tells by the names of leaves what layer each node belongs to: one
// that reads a leaf, perhaps seen in another shape, to that leaf's.
func leafPrefixes(g *ir.Graph) []string {
	prefixes, view := make([]string, len(g.Nodes)), make([]bool, len(g.Nodes))
	for i, n := range g.Nodes {
		if n.Op.HasLeaf() {
			prefixes[i], view[i] = numbered(g.Leaves[n.Attr.Leaf].Name), true
			continue
		}
		for _, x := range n.In {
			if view[x.ID] && prefixes[i] == "" {
				prefixes[i] = prefixes[x.ID]
				view[i] = n.Op.Class() == ir.ClassMovement || n.Op == ir.Cast
			}
		}
	}
	return prefixes
}

// numbered is the beginning of a name up to its first number between dots or
// slashes: that of the layer which a weight belongs to. "": it has none.
func numbered(name string) string {
	end := 0
	for end < len(name) {
		part := name[end:]
		if i := strings.IndexAny(part, "./"); i >= 0 {
			part = part[:i]
		}
		if part != "" && strings.Trim(part, "0123456789") == "" {
			return shorten(name[:end+len(part)], maxName)
		}
		end += len(part) + 1
	}
	return ""
}

// findRepeats finds stretches of tokens in which the same come again and again,
// the longest first, and gives them in order. A token may have the prefix that
// its part is named after.
func findRepeats(tokens []int, prefixes []string) []Repeat {
	var all []Repeat
	work := []span{{0, len(tokens)}}
	for len(work) > 0 && len(all) < mostGroups {
		s := work[len(work)-1]
		work = work[:len(work)-1]
		period, found := longest(tokens[s.from:s.to])
		if period == 0 {
			continue
		}
		found = span{s.from + found.from, s.from + found.to}
		r := Repeat{Starts: alignParts(found, period, prefixes)}
		r.Names = namesOf(r.Starts, prefixes)
		all = append(all, r)
		work = append(work, span{s.from, r.Starts[0]}, span{r.Starts[len(r.Starts)-1], s.to})
	}
	slices.SortFunc(all, func(x, y Repeat) int { return cmp.Compare(x.Starts[0], y.Starts[0]) })
	return all
}

// span is tokens from one to another, the last not included.
type span struct{ from, to int }

// longest finds the stretch that has most tokens in whole parts, and the length
// of one, the shortest of several that would do; 0: there is none.
func longest(tokens []int) (period int, found span) {
	most := leastRepeated - 1
	for p := leastPart; p <= len(tokens)/2 && p*len(tokens) <= mostCompared; p++ {
		run := 0
		for i := 0; i+p <= len(tokens); i++ {
			if i+p < len(tokens) && tokens[i] == tokens[i+p] {
				run++
				continue
			}
			if whole := (run + p) / p * p; run >= p && whole > most {
				most, period, found = whole, p, span{i - run, i + p}
			}
			run = 0
		}
	}
	return period, found
}

// alignParts cuts a stretch into whole parts. Where it begins with a piece of
// another part, as a layer may end like what comes before the first one, parts
// begin where most prefixes within one are equal.
func alignParts(s span, period int, prefixes []string) []int {
	count := (s.to - s.from) / period
	best, most := s.from, -1
	for from := s.from; from+count*period <= s.to; from++ {
		agree := 0
		for k := range count {
			_, n := majority(prefixes[from+k*period : from+(k+1)*period])
			agree += n
		}
		if agree > most {
			best, most = from, agree
		}
	}
	starts := make([]int, count+1)
	for k := range starts {
		starts[k] = best + k*period
	}
	return starts
}

// majority is the prefix that most have, and how many.
func majority(prefixes []string) (prefix string, most int) {
	counts := map[string]int{}
	for _, p := range prefixes {
		if p == "" {
			continue
		}
		counts[p]++
		if n := counts[p]; n > most {
			prefix, most = p, n
		}
	}
	return prefix, most
}

// namesOf names parts after their prefixes, if these differ.
func namesOf(starts []int, prefixes []string) []string {
	names := make([]string, len(starts)-1)
	seen := map[string]bool{}
	for k := range names {
		names[k], _ = majority(prefixes[starts[k]:starts[k+1]])
		if names[k] == "" || seen[names[k]] {
			return nil
		}
		seen[names[k]] = true
	}
	return names
}

// kernelRepeats finds kernels that come several times, by their codes.
func (b *builder) kernelRepeats() []Repeat {
	prefixes := make([]string, len(b.c.CodeOf))
	for i, k := range b.c.Plan.Kernels {
		var of []string
		for _, n := range k.Nodes {
			for _, in := range append(slices.Clone(n.In), n) {
				if in.Op.HasLeaf() {
					of = append(of, numbered(b.c.Plan.Graph.Leaves[in.Attr.Leaf].Name))
				}
			}
		}
		prefixes[i], _ = majority(of)
	}
	return findRepeats(b.c.CodeOf, prefixes)
}
