package rewrite

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"sync"

	"github.com/sinterml/sinter/internal/ir"
)

// rule is one local rewrite: apply gives what n can be replaced by, nil where
// the rule does not fit. Its operands are as simple as they get, and what it
// makes through the rewriter is simplified at once.
type rule struct {
	name   string
	ops    []ir.Op // what n may be
	reason string  // why the result is the same, or what is gained
	apply  func(r *rewriter, n *ir.Node) *ir.Node
}

// namedRule is a rule with the names that switch it off.
type namedRule struct {
	name, pass string
	rule
}

// rulesOf are the rules of a table, by operation.
func rulesOf(table []pass) map[ir.Op][]namedRule {
	all := map[ir.Op][]namedRule{}
	for _, p := range table {
		for _, r := range p.rules {
			named := namedRule{p.name + "/" + r.name, p.name, r}
			for _, op := range r.ops {
				all[op] = append(all[op], named)
			}
		}
	}
	return all
}

// rulesOfPasses are those of passes, which runs share.
var rulesOfPasses = sync.OnceValue(func() map[ir.Op][]namedRule { return rulesOf(passes) })

// setting is what a run is done with: the rules that are on, by operation.
type setting struct {
	rules   map[ir.Op][]namedRule
	applied map[string]int      // rewrites of the current step, by rule
	by      map[*ir.Node]string // the rule that made a node; nil: nobody asks
	bisect  func(rule string, hash uint64) bool
	check   bool
	off     map[string]bool

	precision ir.DType
}

func newSetting(table []pass, off map[string]bool, o Options) *setting {
	s := &setting{bisect: o.Bisect, check: o.Check, off: off, applied: map[string]int{}, precision: o.Precision}
	if s.rules = rulesOfPasses(); len(table) != len(passes) || &table[0] != &passes[0] {
		s.rules = rulesOf(table)
	}
	is := func(r namedRule) bool { return off[r.pass] || off[r.name] }
	without := map[ir.Op][]namedRule{}
	for op, rules := range s.rules {
		if slices.ContainsFunc(rules, is) {
			without[op] = slices.DeleteFunc(slices.Clone(rules), is)
		}
	}
	if len(without) > 0 {
		s.rules = maps.Clone(s.rules)
		maps.Copy(s.rules, without)
	}
	return s
}

// rewriter builds a graph whose every node is in normal form: no rule applies
// to it. As operands are made before their users, one walk is a fixed point.
type rewriter struct {
	*setting
	b      *ir.Builder
	normed []*ir.Node // by number in b: the normal form, nil if not known yet
	hashes []uint64   // by number in b, for bisecting; 0 if not known yet
	node   *ir.Node   // under rewriting; its region is that of all it turns into
	err    error      // of the first node that could not be made

	// depth counts rewrites within rewrites. Rules that undo each other would
	// nest without end; past maxDepth none applies any more.
	depth   int
	endless bool
	dry     bool // only to see whether a rule fits
}

const maxDepth = 1000

func newRewriter(s *setting, b *ir.Builder) *rewriter { return &rewriter{setting: s, b: b} }

// applyRules brings every node of g into normal form.
func applyRules(s *setting, g *ir.Graph) (*ir.Graph, error) {
	var r *rewriter
	next, err := ir.Rebuild(g, func(b *ir.Builder, n *ir.Node, in []*ir.Node) (*ir.Node, error) {
		if r == nil {
			r = newRewriter(s, b)
		}
		return r.rebuild(n, in)
	})
	if err == nil && r != nil && r.endless && s.check {
		err = fmt.Errorf("rules undo each other: %v", s.applied)
	}
	return next, err
}

// rebuild makes n anew over other operands, in normal form.
func (r *rewriter) rebuild(n *ir.Node, in []*ir.Node) (*ir.Node, error) {
	m, err := r.b.Add(n.Op, n.Attr, in...)
	if err != nil {
		return nil, err
	}
	m = r.normal(m)
	return m, r.err
}

// make makes a node in normal form, in the region of the node under rewriting.
func (r *rewriter) make(op ir.Op, a ir.Attr, in ...*ir.Node) *ir.Node {
	n := r.raw(op, a, in...)
	if r.err != nil || r.dry {
		return n
	}
	return r.normal(n)
}

// raw makes a node as it is. After an error it returns some node, so that
// rules need not look.
func (r *rewriter) raw(op ir.Op, a ir.Attr, in ...*ir.Node) *ir.Node {
	if r.err != nil {
		return r.node
	}
	if r.node != nil && op != ir.Const {
		a.Region = r.node.Attr.Region
	}
	n, err := r.b.Add(op, a, in...)
	if err != nil {
		r.err = err
		return r.node
	}
	return n
}

func (r *rewriter) normal(n *ir.Node) *ir.Node {
	for n.ID >= len(r.normed) {
		r.normed = append(r.normed, nil)
	}
	if m := r.normed[n.ID]; m != nil {
		return m
	}
	m := r.simplify(n)
	r.normed[n.ID] = m
	return m
}

// simplify applies the first rule that fits. What comes out was made by make
// or is an operand of n's, so it is in normal form already.
func (r *rewriter) simplify(n *ir.Node) *ir.Node {
	outer := r.node
	r.node = n
	r.depth++
	defer func() { r.node, r.depth = outer, r.depth-1 }()
	if r.depth > maxDepth {
		r.endless = true
	}
	for _, rule := range r.rules[n.Op] {
		if r.endless {
			return n
		}
		if !r.allowed(rule, n) {
			continue
		}
		m := rule.apply(r, n)
		switch {
		case r.err != nil:
			r.err = fmt.Errorf("rule %s on %v: %w", rule.name, n, r.err)
			return n
		case m == nil, m == n:
			continue
		case !m.Type.Equal(n.Type):
			r.err = fmt.Errorf("rule %s makes %v out of %v", rule.name, m, n)
			return n
		}
		r.applied[rule.name]++
		if r.by != nil {
			r.by[m] = rule.name
		}
		return m
	}
	return n
}

// allowed asks whoever bisects, if the rule fits at all.
func (r *rewriter) allowed(rule namedRule, n *ir.Node) bool {
	if r.bisect == nil {
		return true
	}
	r.dry = true
	m := rule.apply(r, n)
	r.dry = false
	return m != nil && m != n && r.err == nil && r.bisect(rule.name, r.hash(n))
}

// asked is allowed for passes that are no rules.
func (r *rewriter) asked(pass string, n *ir.Node) bool {
	return r.bisect == nil || r.bisect(pass, r.hash(n))
}

// hash identifies the expression of n among those of one graph, in every
// process and whatever else the graph holds.
func (r *rewriter) hash(n *ir.Node) uint64 {
	for n.ID >= len(r.hashes) {
		r.hashes = append(r.hashes, 0)
	}
	if h := r.hashes[n.ID]; h != 0 {
		return h
	}
	b := append([]byte(n.Op.String()), 0)
	for _, in := range n.In {
		b = binary.LittleEndian.AppendUint64(b, r.hash(in))
	}
	f := fnv.New64a()
	f.Write(n.Type.Append(n.Attr.Append(b)))
	h := f.Sum64() | 1
	r.hashes[n.ID] = h
	return h
}

// op makes a node without attributes.
func (r *rewriter) op(op ir.Op, in ...*ir.Node) *ir.Node { return r.make(op, ir.Attr{}, in...) }

// expand and reshape make nothing where the shape is right already.
func (r *rewriter) expand(x *ir.Node, s ir.Shape) *ir.Node { return r.reshaped(ir.Expand, x, s) }

func (r *rewriter) reshape(x *ir.Node, s ir.Shape) *ir.Node { return r.reshaped(ir.Reshape, x, s) }

func (r *rewriter) reshaped(op ir.Op, x *ir.Node, s ir.Shape) *ir.Node {
	if x.Shape.Equal(s) {
		return x
	}
	return r.make(op, ir.Attr{Shape: s}, x)
}
