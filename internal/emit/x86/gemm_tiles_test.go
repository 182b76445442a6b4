package x86

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/sinterml/sinter/internal/jit"
)

// tileCase is one call of a tile kernel.
type tileCase struct {
	rows, cols, k     int // of a block; k in steps
	panels, rowPanels int
	columns           bool    // A by columns
	inPlace           bool    // B by rows, not packed
	places            bool    // these in an order that tables tell, panels from the last to the first
	again             bool    // adds to C
	part              int     // bytes of A in one more step
	finish            *finish // run a second time with it
	later, shared     bool    // rows are handed over later; C is that of one tile then
}

// tileRun is such a call with its operands, in memory between guards.
type tileRun struct {
	tileCase
	*GemmKernels
	name                 string
	vectors, lanes       int
	height, total, pitch int // rows and columns of all blocks, and lanes from row to row of C
	steps                int // of A, with that of which it has a part
	stepA, rowA          int // lanes of a step, bytes of a row
	scale                int // bytes behind each row of A, and each vector of B
	sizeB                int // lanes
	bAt                  func(k, j int) int
	rowsAt, starts       []uintptr // tables of places
	args                 GemmArgs
	mem                  [3]*jit.Guarded // A, B and C
	before               [3][]uint32     // their lanes
	want                 []uint32        // those of C
}

func (c tileCase) run(t *testing.T, rng *rand.Rand, g *GemmKernels, entry uintptr, vectors int) {
	t.Helper()
	c.panels, c.rowPanels = max(c.panels, 1), max(c.rowPanels, 1)
	r := &tileRun{
		tileCase: c, GemmKernels: g, name: fmt.Sprintf("%v %+v", g.Format, c), vectors: vectors, lanes: GemmLanes(g.ISA),
		height: c.rows * c.rowPanels, total: c.panels * c.cols, steps: c.k, stepA: g.Format.StepA() / 4, scale: g.Format.scaleBytes(),
	}
	r.layOut(rng)
	r.fill(t, rng)
	r.point()
	r.sum()
	r.call(t, entry)
	if g.Format.Linear() && g.Form != GemmPast {
		sums := r.want
		r.want = askLinear(t, rng, &r.args, sums, r.height, r.total)
		copy(r.mem[2].Bytes(), lanesAsBytes(r.before[2]))
		r.call(t, entry)
		r.args.askNothing()
		r.want = sums
	}
	if c.finish != nil {
		r.callFinished(t, entry)
	}
	for i, m := range r.mem {
		if err := m.Close(); err != nil {
			t.Errorf("%s: matrix %c: %v", r.name, 'A'+i, err)
		}
	}
}

// layOut says where operands lie, and sets the arguments but for their addresses.
func (r *tileRun) layOut(rng *rand.Rand) {
	if r.pitch = r.total; r.Form == GemmPast {
		r.pitch = (r.total + r.lanes - 1) / r.lanes * r.lanes
	}
	if r.part > 0 {
		r.steps++
	}
	depth := r.steps + r.scale/(4*r.lanes)
	r.bAt = func(k, j int) int {
		p, in := j/(r.vectors*r.lanes), j%(r.vectors*r.lanes)
		return ((p*r.vectors+in/r.lanes)*depth+k)*r.lanes + in%r.lanes
	}
	r.sizeB = r.panels * r.vectors * depth * r.lanes
	r.rowA = 4*r.stepA*r.k + r.part + r.scale
	a := &r.args
	a.LDA, a.LDC, a.LDAhead, a.Panels = uintptr(r.rowA), uintptr(4*r.pitch), uintptr(4*r.pitch), uintptr(r.panels)
	a.LDB, a.VectorB, a.PanelB = uintptr(4*r.lanes), uintptr(4*r.lanes*depth), uintptr(4*r.lanes*depth*r.vectors)
	a.RowPanels, a.StepC, a.RowsC = uintptr(r.rowPanels), uintptr(4*r.cols), uintptr(4*r.rows*r.pitch)
	switch {
	case r.places:
		r.tables(rng)
	case r.inPlace:
		r.bAt = func(k, j int) int { return k*r.total + j }
		r.sizeB = r.k * r.total
		a.LDB, a.VectorB, a.PanelB = uintptr(4*r.total), uintptr(4*r.lanes), uintptr(4*r.lanes*r.vectors)
	}
	if r.columns {
		a.LDA = uintptr(4 * r.height)
	}
	a.SetK(r.k)
	a.SetPart(r.part)
	a.Room = roomOf(r.Format, r.Tile)
	a.FetchRows(r.Format, uintptr(a.Room), 64) // what is fetched changes nothing
	a.SetMask(r.ISA, r.Format, r.cols-(r.vectors-1)*r.lanes)
	if r.again {
		a.Continue = 1
	}
}

// tables has rows of B lie in any order, and panels from the last to the first.
func (r *tileRun) tables(rng *rand.Rand) {
	for _, row := range rng.Perm(r.k) {
		r.rowsAt = append(r.rowsAt, uintptr(4*row*r.total))
	}
	for p := range r.panels {
		for v := range r.vectors {
			r.starts = append(r.starts, uintptr(4*((r.panels-1-p)*r.cols+v*r.lanes)))
		}
	}
	from := slices.Clone(r.starts)
	r.bAt = func(k, j int) int {
		p, in := j/(r.vectors*r.lanes), j%(r.vectors*r.lanes)
		return int(r.rowsAt[k]+from[p*r.vectors+in/r.lanes])/4 + in%r.lanes
	}
	r.sizeB = r.k * r.total
	r.rowsAt = append(r.rowsAt, 0) // so that there is a first
	r.args.LDB, r.args.VectorB, r.args.PanelB = uintptr(unsafe.Pointer(&r.rowsAt[0])), 0, uintptr(8*r.vectors)
}

// fill draws the operands.
func (r *tileRun) fill(t *testing.T, rng *rand.Rand) {
	t.Helper()
	for i, bytes := range []int{r.height * r.rowA, 4 * r.sizeB, 4 * r.height * r.pitch} {
		var err error
		if r.mem[i], err = jit.AllocGuarded(bytes, 1); err != nil {
			t.Fatal(err)
		}
		lanes := make([]uint32, (bytes+3)/4)
		for j := range lanes {
			lanes[j] = r.Format.element(rng, i)
		}
		if r.scale > 0 && i < 2 { // what belongs to rows and columns is positive
			for j := range max(r.height, r.total) {
				at := min(j, r.height-1)*r.rowA/4 + r.steps
				if i == 1 {
					at = r.bAt(r.steps, min(j, r.total-1))
				}
				lanes[at] &^= 1 << 31
			}
		}
		copy(r.mem[i].Bytes(), lanesAsBytes(lanes))
		r.before[i] = lanes
	}
}

// point sets the operands' addresses.
func (r *tileRun) point() {
	a := &r.args
	a.A, a.B, a.C, a.Ahead = r.mem[0].Pointer(), r.mem[1].Pointer(), r.mem[2].Pointer(), uintptr(r.mem[2].Pointer())
	if r.places {
		for i := range r.starts {
			r.starts[i] += uintptr(a.B)
		}
		a.B = unsafe.Pointer(&r.starts[0])
	}
	if r.again { // what is fetched beside changes nothing
		a.Beside, a.LDBeside = uintptr(a.C), a.LDC
	}
}

// lane is lane i of A's row: behind its end there are zeros.
func (r *tileRun) lane(row, i int) uint32 {
	var four [4]byte
	copy(four[:], r.mem[0].Bytes()[row*r.rowA:][:r.rowA][4*i:])
	return binary.LittleEndian.Uint32(four[:])
}

// sum is what the kernel is to store.
func (r *tileRun) sum() {
	r.want = slices.Clone(r.before[2])
	for row := range r.height {
		for j := range r.total {
			at := row*r.pitch + j
			if r.Format.Splits() {
				r.want[at] = r.splitSum(row, j)
			} else {
				r.want[at] = r.plainSum(row, j)
			}
		}
	}
}

func (r *tileRun) splitSum(row, j int) uint32 {
	at := func(k int) (a, b uint32) { return r.lane(row, k), r.before[1][r.bAt(k, j)] }
	have, ofRow, ofCol := uint32(0), math.Float32bits(1), math.Float32bits(1/ThirdsScale)
	if r.again {
		have = r.before[2][row*r.pitch+j]
	}
	if r.scale > 0 {
		ofRow, ofCol = at(r.steps)
	}
	return joined(r.Format.partsSums(r.steps, at), have, ofRow, ofCol, r.again)
}

func (r *tileRun) plainSum(row, j int) (sum uint32) {
	have := r.before[2][row*r.pitch+j]
	if r.again && r.Format.AMX() {
		sum = have
	}
	var chunk amxChunk
	a := make([]uint32, r.stepA)
	for k := range r.steps {
		for i := range a {
			a[i] = r.lane(row, k*r.stepA+i)
		}
		if r.columns {
			a[0] = r.before[0][k*r.height+row]
		}
		if b := r.before[1][r.bAt(k, j)]; r.Format == GemmAMXBF16 {
			sum = chunk.add(r.Format, sum, k, a[0], b)
		} else {
			sum = r.Format.accumulate(sum, a, b)
		}
	}
	if r.again && !r.Format.AMX() {
		sum = r.Format.sum(have, sum)
	}
	return sum
}

// call compares what the kernel stores in C.
func (r *tileRun) call(t *testing.T, entry uintptr) {
	t.Helper()
	r.callInto(t, entry, r.mem[2].Bytes())
}

func (r *tileRun) callInto(t *testing.T, entry uintptr, results []byte) {
	t.Helper()
	r.args.Fetch, r.args.FetchStep = uintptr(r.args.C), 24
	if err := jit.Protect(func() error { jit.Call(entry, unsafe.Pointer(&r.args)); return nil }); err != nil {
		t.Fatalf("%s: %v", r.name, err)
	}
	if want := uintptr(r.args.C) + uintptr(24*r.k*r.panels*r.rowPanels); r.Form == GemmFetching && r.args.Fetch != want {
		t.Errorf("%s: %d bytes are fetched, want %d", r.name, r.args.Fetch-uintptr(r.args.C), want-uintptr(r.args.C))
	}
	nan := func(v uint32) bool { return r.Format.Linear() && v&^(1<<31) > 0x7F800000 }
	for i, want := range r.want {
		got := binary.LittleEndian.Uint32(results[4*i:])
		if got != want && !(nan(got) && nan(want)) {
			t.Fatalf("%s: result %d is %#x, want %#x", r.name, i, got, want)
		}
	}
}

// callFinished has the kernel call what moves its results elsewhere.
func (r *tileRun) callFinished(t *testing.T, entry uintptr) {
	t.Helper()
	copy(r.mem[2].Bytes(), lanesAsBytes(r.before[2]))
	if r.shared {
		r.args.LDC, r.args.StepC, r.args.RowsC = uintptr(4*r.cols), 0, 0
	}
	results := make([]byte, len(r.mem[2].Bytes())+1) // there is a first one
	r.finish.place(&r.args, unsafe.Pointer(&results[0]), r.height, r.total, r.cols)
	if r.later {
		r.args.Finish.Later = 1
	}
	r.callInto(t, entry, results)
}
