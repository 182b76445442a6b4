package schedule

import (
	"fmt"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// Kept says why a value has memory of its own rather than being computed by
// whatever reads it.
type Kept uint8

const (
	_             Kept = iota // it has none
	KeptOutput                // it is an output of the program
	KeptReduction             // it is known when all it reduces has been seen
	KeptAnchor                // a template or a loop nest of its own makes it
	KeptWritten               // scatter, contiguous, assign: memory is what they are about
	KeptApart                 // fusing is switched off
	KeptOperand               // an operation reads it in places of its own choosing
	KeptLarge                 // the expression of a kernel would be too large
	KeptShared                // several kernels need it, at more than what reading it takes
	KeptRepeated              // a kernel would compute it again and again along an axis
	KeptOnce                  // it is made of weights alone
	KeptBeside                // a product leaves it on its way to what it ends with
	KeptTail                  // a product ends with it
)

var keptTexts = [...]string{
	KeptOutput:    "it is an output of the program",
	KeptReduction: "a reduction is known when all of its row has been seen",
	KeptAnchor:    "it is the result of a kernel with loops of its own",
	KeptWritten:   "the operation is there to write it to memory",
	KeptApart:     "fuse is switched off",
	KeptOperand:   "%v reads its operand from memory",
	KeptLarge:     "an expression of more operations would not fit the registers",
	KeptShared:    "several kernels need it, and computing it again takes longer than reading it",
	KeptRepeated:  "expand repeats it: it would be computed again for each copy",
	KeptOnce:      "it depends on weights alone: computed once and kept with them",
	KeptBeside:    "others need it: the product stores it on the way to its last operation",
	KeptTail:      "the product's kernel ends with it",
}

// Apart says why a node is not computed by the kernel of a value that it reads.
type Apart uint8

const (
	_                Apart = iota // it is
	ApartFuse                     // switched off
	ApartRows                     // switched off
	ApartEpilogue                 // switched off
	ApartArg                      // an arg reduction shares its rows with nobody
	ApartWeights                  // one depends on weights alone
	ApartRegion                   // one is a Checkpoint's, computed again later
	ApartLoops                    // its loops run over something else
	ApartOtherRows                // it reads rows besides its own
	ApartOtherPlaces              // it reads elements besides its own
	ApartSplit                    // the reduction is done in parts
	ApartCombine                  // the parts of a reduction are combined behind all of them
	ApartNothing                  // it would save no reading
	ApartCycle                    // a third kernel lies between
	ApartLarge                    // the kernel would be too large
	ApartIndexed                  // it is neither elementwise nor a reduction
	ApartBehind                   // a product takes only elementwise work behind it
	ApartTemplate                 // the producer's kernel takes nothing behind it
	ApartLong                     // the product has taken as much as it can
	ApartOrder                    // its operands come in different orders
	ApartReaders                  // others read a value between
	ApartOutput                   // a value between is an output
	ApartStored                   // a value between has memory anyway
	ApartTaken                    // another product does some of it
	ApartAnchor                   // its own kernel has loops of its own
	ApartJoined                   // it is in a kernel with another thing that it reads
	ApartCopy                     // an output that no kernel stores is copied
)

var apartTexts = [...]string{
	ApartFuse:        "fuse is switched off",
	ApartRows:        "rows is switched off",
	ApartEpilogue:    "epilogue is switched off",
	ApartArg:         "the place of an extreme is looked for in a kernel of its own",
	ApartWeights:     "one of them depends on weights alone and runs once, the other in each run",
	ApartRegion:      "a Checkpoint computes it again, much later",
	ApartLoops:       "it runs over other loops",
	ApartOtherRows:   "it reads rows besides its own, so the reduction has to end first",
	ApartOtherPlaces: "it reads elements besides its own, so they have to be there first",
	ApartSplit:       "the reduction is split in parts, and only what comes of each row's result may follow",
	ApartCombine:     "the reduction is split in parts: a second kernel combines what they leave",
	ApartNothing:     "it would save reading nothing large",
	ApartCycle:       "it also reads a third kernel that waits for this one",
	ApartLarge:       "one kernel would do too many operations for the registers",
	ApartIndexed:     "it takes elements from places that are not its own",
	ApartBehind:      "behind a product only work element by element is done",
	ApartTemplate:    "the kernel takes no work behind it",
	ApartLong:        "the product has taken as many operations as registers allow",
	ApartOrder:       "it combines elements of the product in different orders",
	ApartReaders:     "others read a value between them too",
	ApartOutput:      "a value between them is an output",
	ApartStored:      "a value between them is in memory for another reason",
	ApartTaken:       "another product does a part of it",
	ApartAnchor:      "its kernel has loops of its own and takes no work before them",
	ApartJoined:      "it shares a kernel with something else that it reads",
	ApartCopy:        "an output that no kernel stores is copied",
}

func (a Apart) String() string { return apartTexts[a] }

// keptFor is why a node has memory.
type keptFor struct {
	why Kept
	by  ir.Op // that asks for it, for KeptOperand
}

func (k keptFor) String() string {
	if k.why == KeptOperand {
		return fmt.Sprintf(keptTexts[k.why], k.by)
	}
	return keptTexts[k.why]
}

// keep makes n a root, whose value is kept in memory or registers.
func (s *partition) keep(n *ir.Node, why Kept, by ir.Op) {
	if !s.root[n.ID] {
		s.root[n.ID], s.kept[n.ID] = true, keptFor{why, by}
	}
}

// refusal is a node that is not in the kernel of a group, by the group's first
// member.
type refusal struct{ node, head *ir.Node }

// refuse notes why n is not computed by the kernel of a group, if anyone wants
// to know.
func (s *partition) refuse(n, head *ir.Node, why Apart) {
	if s.refused != nil {
		s.refused[refusal{n, head}] = why
	}
}

// refuseReaders notes for all that read n why they are not in the kernel of an
// anchor.
func (s *partition) refuseReaders(n, anchor *ir.Node, why Apart) {
	if s.refused == nil {
		return
	}
	for _, u := range s.users[n.ID] {
		s.refuse(u, anchor, why)
		if u.Op == ir.Get {
			s.refuseReaders(u, anchor, why)
		}
	}
}

// Edge is a value that one kernel hands to another, and why the two are two.
type Edge struct {
	From, To, Buffer int
	Kept, Apart      string
}

// explain finds the edges of a plan.
func (s *partition) explain(p *Plan) {
	writer := make([]int, len(p.Buffers))
	for i := range writer {
		writer[i] = -1
	}
	for i, k := range p.Kernels {
		for j, prm := range k.Params() {
			a := k.Args[j]
			if a < 0 || prm.Use == loop.Write || writer[a] < 0 || writer[a] == i {
				continue
			}
			from, buf := p.Kernels[writer[a]], &p.Buffers[a]
			p.Edges = append(p.Edges, Edge{From: writer[a], To: i, Buffer: a,
				Kept: s.kept[buf.Node.ID].String(), Apart: s.apart(from.group, k.group, buf.Node).String()})
		}
		for j, prm := range k.Params() {
			if a := k.Args[j]; a >= 0 && prm.Use != loop.Read {
				writer[a] = i
			}
		}
	}
}

// apart tells why the kernel of a group that reads the value of n is not that
// of the group that makes it.
func (s *partition) apart(from, to *group, n *ir.Node) Apart {
	switch {
	case to == nil:
		return ApartCopy
	case from == to:
		return ApartCombine
	case to.anchor != nil && s.readsBefore(to.anchor, n):
		return ApartAnchor
	}
	for _, m := range to.members {
		if why := s.nearest(m, n, from.members[0]); why != 0 {
			return why
		}
	}
	return ApartJoined
}

// readsBefore tells whether an anchor, rather than what its kernel does behind
// it, reads the value of a root.
func (s *partition) readsBefore(anchor, root *ir.Node) bool {
	for _, r := range s.cone(anchor) {
		if r == root {
			return true
		}
	}
	return false
}

// nearest finds why n, or what it inlines on the way to a root, was not taken
// by the kernel that makes that: the refusal of the node that comes first
// behind the root.
func (s *partition) nearest(n, root, head *ir.Node) Apart {
	seen := map[*ir.Node]bool{}
	var walk func(m *ir.Node) (why Apart, reads bool)
	walk = func(m *ir.Node) (why Apart, reads bool) {
		if seen[m] {
			return 0, false
		}
		seen[m] = true
		for _, in := range m.In {
			if in.Op == ir.Get {
				in = in.In[0]
			}
			from, leads := Apart(0), in == root
			if !leads && !s.root[in.ID] {
				from, leads = walk(in)
			}
			reads = reads || leads
			if why == 0 {
				why = from
			}
		}
		if reads && why == 0 {
			why = s.refused[refusal{m, head}]
		}
		return why, reads
	}
	why, _ := walk(n)
	return why
}
