package inspect

import (
	"slices"

	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/rewrite"
)

// Facts are what is known of a program beside its compilation.
type Facts struct {
	Title, Device, Precision string
	Off                      []string
	Missing                  []string
	// Values are the first ones of nodes of the first graph, where known. Nil, or as
	// long as its nodes.
	Values []string
	// Env is the sizes that memory and work are shown at; nil: none are.
	Env ir.Env
}

// New makes the document of what was compiled.
func New(c *Compilation, f Facts) *Document {
	b := &builder{c: c, f: f, texts: newTexts(), doc: &Document{Device: shorten(f.Device, maxName), Precision: f.Precision, Off: f.Off}}
	for _, m := range f.Missing {
		b.doc.Missing = append(b.doc.Missing, shorten(m, maxMissing))
	}
	b.doc.Title = shorten(f.Title, maxName)
	b.graphs()
	if c.Plan != nil {
		b.kernels()
		b.memory()
	}
	b.doc.Strings = b.texts.list
	return b.doc
}

// maxMissing bounds what is said of something that could not be shown.
const maxMissing = 2000

// builder makes one document.
type builder struct {
	c     *Compilation
	f     Facts
	doc   *Document
	texts *texts
	// packed is the bytes of weights in the order that products read.
	packed int64
}

// graphs makes the stages that are graphs, and what is in all of them.
func (b *builder) graphs() {
	first := b.c.Steps[0].Graph
	for _, s := range first.Symbols() {
		symbol := Symbol{Name: shorten(s.Name, maxName), Min: s.Min, Max: s.Max}
		if v, ok := b.f.Env[s.Name]; ok {
			symbol.At = &v
		}
		b.doc.Symbols = append(b.doc.Symbols, symbol)
	}
	b.doc.Leaves = []Leaf{}
	for _, l := range first.Leaves {
		bytes, _ := b.bytes(l.Type)
		b.doc.Leaves = append(b.doc.Leaves, Leaf{Kind: l.Kind.String(), Name: shorten(l.Name, maxName), Type: b.texts.number(l.Type.String()), Bytes: bytes})
	}
	var before *ir.Graph
	for _, s := range b.c.Steps {
		stage := Stage{Name: s.Name, Doc: s.Doc, Same: s.Same, Rules: rulesOf(s.Rules)}
		switch {
		case s.Same:
		case before == nil:
			b.firstGraph(&stage, s.Graph)
		default:
			b.nextGraph(&stage, s, before)
		}
		if !s.Same {
			before = s.Graph
			stage.Repeats = repeatsOf(s.Graph)
			for _, o := range s.Graph.Outputs {
				stage.Outputs = append(stage.Outputs, o.ID)
			}
		}
		b.doc.Stages = append(b.doc.Stages, stage)
	}
	for _, p := range rewrite.Passes() {
		if slices.Contains(b.f.Off, p.Name) {
			b.doc.Stages = append(b.doc.Stages, Stage{Name: p.Name, Doc: p.Doc, Same: true, Off: true})
		}
	}
}

// bytes is the size of a value at the sizes of the environment.
func (b *builder) bytes(t ir.Type) (int64, bool) {
	n, err := t.Shape.Numel().Eval(b.f.Env)
	if err != nil {
		return 0, false
	}
	return int64(n) * int64(t.DType.Size()), true
}
