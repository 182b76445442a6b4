package launch

import (
	"github.com/sinterml/sinter/internal/ir"
	"github.com/sinterml/sinter/internal/loop"
)

// extent is how a kernel runs at given sizes.
type extent struct {
	start, end, chunk int // of the Global loop, or of the tasks of a product
	rows              int // of a product, for a task
	workers, local    int // groups, and work-items in each
	// Scratch memory that is not near the workers: offsets by param, bytes from
	// worker to worker, and in all.
	offsets      map[int]int
	stride, slab int
}

const (
	// tasksPerUnit is how finely work is cut for each compute unit of a
	// processor where no strategy says: groups are not free there.
	tasksPerUnit = 8
	// slabWorkers is how many workers of each unit have scratch memory at once.
	slabWorkers = 8
)

// extent decides it.
func (d *Device) extent(f *function, env ir.Env) (extent, error) {
	x := extent{end: 1, local: 1, offsets: map[int]int{}}
	for i, p := range f.Work.Params {
		if p.Use != loop.Scratch || f.Near[i] {
			continue
		}
		n, err := p.Len.Eval(env)
		if err != nil {
			return x, err
		}
		x.offsets[i] = x.stride
		x.stride += (n*p.DType.Size() + 63) &^ 63
	}
	groups := f.Groups()
	x.local = d.Shape.GroupItems(f.Kernel)
	if f.Gemm != nil {
		err := d.tasks(f, env, &x)
		return x, err
	}
	if l, ok := f.Work.Body[0].(*loop.Loop); !ok || len(f.Work.Body) > 1 || l.Range != loop.Global {
		x.workers, x.chunk, x.slab = 1, 1, x.stride
		return x, nil
	}
	var err error
	if x.start, x.end, err = f.Work.Span(env); err != nil || x.end <= x.start {
		return x, err
	}
	n, most := x.end-x.start, d.mostGroups(f)
	if x.stride > 0 {
		most = min(most, d.Units*slabWorkers)
	}
	if !groups {
		most *= x.local
	}
	x.chunk = (n + most - 1) / most
	x.workers = (n + x.chunk - 1) / x.chunk
	if !groups {
		x.workers = (x.workers + x.local - 1) / x.local // in groups
	}
	x.slab = x.workers * x.local * x.stride
	return x, nil
}

// mostGroups is how many a launch of f is cut into at most.
func (d *Device) mostGroups(f *function) int {
	n := f.Strategy.Tasks
	if n == 0 && d.Shape.Items == 1 {
		n = tasksPerUnit
	}
	if n == 0 {
		return d.MaxGroups
	}
	return min(n*d.Units, d.MaxGroups)
}

// tasks cuts a product, for a processor so finely in rows that there are some
// tasks for each unit, as each brings its panel in order for itself.
func (d *Device) tasks(f *function, env ir.Env, x *extent) error {
	var n [3]int
	for i, dim := range []ir.Dim{f.Gemm.BatchSize, f.Gemm.Rows, f.Gemm.Cols} {
		var err error
		if n[i], err = dim.Eval(env); err != nil {
			return err
		}
	}
	if n[0]*n[1]*n[2] == 0 {
		return nil
	}
	if f.Groups() { // a group is a tile
		x.rows = f.Tile.Rows
		x.end = n[0] * ((n[1] + f.Tile.Rows - 1) / f.Tile.Rows) * ((n[2] + f.Tile.Cols - 1) / f.Tile.Cols)
		most := d.mostGroups(f)
		x.chunk = (x.end + most - 1) / most
		x.workers = (x.end + x.chunk - 1) / x.chunk
		return nil
	}
	panels := n[0] * ((n[2] + f.Tile.Cols - 1) / f.Tile.Cols)
	blocks := min((d.mostGroups(f)+panels-1)/panels, (n[1]+f.Tile.Rows-1)/f.Tile.Rows)
	x.rows = (n[1] + blocks - 1) / blocks
	x.rows = (x.rows + f.Tile.Rows - 1) / f.Tile.Rows * f.Tile.Rows
	x.end = panels * ((n[1] + x.rows - 1) / x.rows)
	most := x.end
	if x.stride > 0 {
		most = d.Units * slabWorkers
	}
	x.chunk = (x.end + most - 1) / most
	x.workers = (x.end + x.chunk - 1) / x.chunk
	x.slab = x.workers * x.stride
	return nil
}
