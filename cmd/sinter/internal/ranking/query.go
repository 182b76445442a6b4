package ranking

import (
	"slices"
	"strings"
)

// Query is the terms of a question, rising, each once.
type Query struct{ terms []uint32 }

// ParseQuery finds the terms of a question. Words that only make a sentence of
// it say nothing of what is looked for, though in code they are rare; they
// count where there are no others.
func ParseQuery(text string) Query {
	words := strings.Fields(text)
	var telling []string
	for i, w := range words {
		bare, _, _ := strings.Cut(strings.Trim(w, `.,;:!?"()`), "'")
		if i == 0 {
			bare = strings.ToLower(bare) // elsewhere a capital may make a name of it
		}
		if !functionWords[bare] {
			telling = append(telling, w)
		}
	}
	if len(telling) == 0 {
		telling = words
	}
	var q Query
	eachTerm(strings.Join(telling, " "), func(term []byte) { q.terms = append(q.terms, hash(term)) })
	slices.Sort(q.terms)
	q.terms = slices.Compact(q.terms)
	return q
}

// Empty reports whether there is nothing that BM25 could look for.
func (q Query) Empty() bool { return len(q.terms) == 0 }

// functionWords are articles, pronouns, prepositions, conjunctions, auxiliary
// verbs and question words.
var functionWords = setOf(`
	a an the this that these those
	i I me my we us our you your he him his she her it its they them their one
	about above after against at below between by down during for from in into of off on onto out over through to under until up upon with without
	and but if nor or so than then because while as
	am are be been being can could did do does doing done had has have having is may might must shall should was were will would
	don doesn didn isn aren wasn won couldn wouldn shouldn
	how what when where which who whom whose why
	not no there here just only also any some such very
`)

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}
