package inspect

import (
	"fmt"

	"github.com/sinterml/sinter/internal/loop"
	"github.com/sinterml/sinter/internal/schedule"
	"github.com/sinterml/sinter/internal/template"
)

// kernels makes the stages behind the graphs.
func (b *builder) kernels() {
	b.doc.Stages = append(b.doc.Stages,
		Stage{Name: "partition", Doc: "which operations each kernel does", Repeats: b.kernelRepeats()},
		Stage{Name: "plan", Doc: "kernels in their order, and the buffers between them"},
		Stage{Name: "loops", Doc: "each kernel as loops"},
		Stage{Name: "code", Doc: "the generated machine code"})
	for i, k := range b.c.Plan.Kernels {
		b.doc.Kernels = append(b.doc.Kernels, b.kernel(i, k))
	}
	symbols := b.c.Steps[0].Graph.Symbols()
	for _, c := range b.c.Codes {
		code := Code{Loops: cleanSymbols(c.Loops, symbols), Generic: c.Generic}
		for _, p := range c.Parts {
			code.Parts = append(code.Parts, b.part(p))
		}
		b.doc.Codes = append(b.doc.Codes, code)
	}
	b.products()
	for _, e := range b.c.Plan.Edges {
		b.doc.Edges = append(b.doc.Edges, Edge{From: e.From, To: e.To, Buffer: e.Buffer, Kept: b.texts.number(e.Kept), Apart: b.texts.number(e.Apart)})
	}
	for i := range b.c.Plan.Buffers {
		b.doc.Buffers = append(b.doc.Buffers, b.buffer(&b.c.Plan.Buffers[i]))
	}
}

func (b *builder) kernel(i int, k *schedule.Kernel) Kernel {
	out := Kernel{Name: b.texts.number(k.Name), Kind: kindOf(k.Work), Nodes: []int{}, Constant: k.Constant, Again: k.Again, Code: b.c.CodeOf[i]}
	for _, n := range k.Nodes {
		out.Nodes = append(out.Nodes, n.ID)
	}
	for j, p := range k.Params() {
		if k.Args[j] < 0 {
			continue
		}
		if p.Use != loop.Write {
			out.Reads = append(out.Reads, k.Args[j])
		}
		if p.Use != loop.Read {
			out.Writes = append(out.Writes, k.Args[j])
			buf := b.c.Plan.Buffers[k.Args[j]]
			out.InPlace = out.InPlace || buf.Kind == schedule.OutputBuffer && b.c.Plan.Overwrites(buf.Number) >= 0
		}
	}
	if b.f.Env != nil {
		if c, err := k.Cost(b.f.Env); err == nil {
			out.Products, out.Operations, out.Format, out.Read, out.Written = c.Products, c.Operations, c.Format, c.Read, c.Written
		}
	}
	return out
}

// products fills in how matrix products run, and notes what is kept of weights
// for them.
func (b *builder) products() {
	if b.c.Product == nil || b.f.Env == nil {
		return
	}
	kept := map[string]bool{}
	for i, k := range b.c.Plan.Kernels {
		p, ok := b.c.Product(i, b.f.Env)
		if !ok {
			continue
		}
		if code := &b.doc.Codes[b.c.CodeOf[i]]; code.Tile == "" {
			code.Tile = p.Tile
			code.Parts = append([]Part{b.part(p.Main)}, code.Parts...)
		}
		key := p.Layout
		for _, param := range p.From {
			key += fmt.Sprintf(" b%d", k.Args[param])
		}
		if !kept[key] {
			kept[key] = true
			b.packed += p.Packed
		}
	}
}

func (b *builder) part(p CompiledPart) Part {
	return Part{Name: b.texts.number(p.Name), Bytes: p.Bytes, Text: p.Text}
}

func kindOf(w schedule.Work) string {
	switch w.(type) {
	case *template.Gemm:
		return "gemm"
	case *template.Attention:
		return "attention"
	case *template.AttentionGrad:
		return "attention gradient"
	case *schedule.Host:
		return "host"
	}
	return "loops"
}

var kinds = map[schedule.BufferKind]string{
	schedule.LeafBuffer: "leaf", schedule.OutputBuffer: "output", schedule.TempBuffer: "temp",
	schedule.ConstantBuffer: "constant", schedule.InterimBuffer: "interim",
}

func (b *builder) buffer(buf *schedule.Buffer) Buffer {
	out := Buffer{Kind: kinds[buf.Kind], Node: -1, Type: b.texts.number(fmt.Sprintf("%v[%v]", buf.DType, buf.Len))}
	if buf.Node != nil {
		out.Node = buf.Node.ID
	}
	switch buf.Kind {
	case schedule.LeafBuffer:
		out.Leaf = 1 + b.c.Plan.Graph.Leaves[buf.Number].Number
	case schedule.OutputBuffer:
		out.Output = 1 + buf.Number
	case schedule.TempBuffer:
		out.First, out.Last = buf.First, buf.Last
	}
	if n, err := buf.Len.Eval(b.f.Env); err == nil {
		out.Bytes = int64(n) * int64(buf.DType.Size())
	}
	return out
}
