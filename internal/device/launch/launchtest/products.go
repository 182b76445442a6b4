package launchtest

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/sinterml/sinter/internal/device/launch"
	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/emit/flat/flattest"
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// Products compares products of matrices, whose groups compute tiles, with the
// sums that they mean, in the same order: bit for bit, whether one stage of them
// lies in shared memory at a time or as many as there is room for.
func Products(t *testing.T, b launch.Backend, s entry.Shape) {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, 0))
	for _, d := range []ir.DType{ir.F32, ir.BF16, ir.I32, ir.U8} {
		for i, size := range []flattest.Sizes{{Batch: 1, Rows: 65, Cols: 3, K: 17}, {Batch: 1, Rows: 1, Cols: 1, K: 0}, {Batch: 2, Rows: 3, Cols: 70, K: 529}} {
			g, a := flattest.Gemm(rng, d, size, i%2 == 0)
			k := s.Tiled("product", g)
			want := *a
			want.Buffers = append([][]byte(nil), a.Buffers...)
			want.Buffers[2] = bytes.Clone(a.Buffers[2])
			if err := loop.Interpret(k.Work, &want); err != nil {
				t.Fatal(err)
			}
			for _, k.OneStage = range []bool{true, k.OneStage} {
				clear(a.Buffers[2])
				if err := runProduct(b, k, size, a); err != nil {
					t.Fatalf("%v %v: %v", d, size, err)
				}
				if !bytes.Equal(a.Buffers[2], want.Buffers[2]) {
					t.Errorf("%v %v, tile %v, one stage %v: results differ", d, size, k.Tile, k.OneStage)
				}
			}
		}
	}
}

// runProduct has each group compute some tiles.
func runProduct(b launch.Backend, k *entry.Kernel, s flattest.Sizes, a *loop.Args) (err error) {
	code, err := b.Emit([]*entry.Kernel{k})
	if err != nil {
		return err
	}
	p, err := b.Build(code)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	const chunk = 3
	tasks := flattest.Tasks(s, k.Tile.Rows, k.Tile.Cols)
	r, err := p.Record([]launch.Launch{{Name: k.Work.Name, Kernel: k, Args: code.Args[0], Groups: (tasks + chunk - 1) / chunk, Items: k.Items}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	memory := make([]launch.Memory, len(a.Buffers))
	for i, data := range a.Buffers {
		if memory[i], err = b.Alloc(max(len(data), 64)); err != nil {
			return err
		}
		defer memory[i].Close()
		if err := b.Write(memory[i], 0, data); err != nil {
			return err
		}
	}
	for i, arg := range code.Args[0] {
		n := 0
		switch arg.Kind {
		case entry.ArgBuffer:
			err = errors.Join(err, r.SetMemory(0, i, memory[arg.Param]))
			continue
		case entry.ArgSize:
			if n, err = arg.Size.Eval(a.Sizes); err != nil {
				return err
			}
		case entry.ArgEnd:
			n = tasks
		case entry.ArgChunk:
			n = chunk
		case entry.ArgRows:
			n = k.Tile.Rows
		}
		err = errors.Join(err, r.SetInt(0, i, int64(n)))
	}
	return errors.Join(err, r.Run(), b.Read(a.Buffers[2], memory[2], 0))
}
