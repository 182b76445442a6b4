// Package int4 puts matrices of weights into 4 bits each.
//
// A matrix [K, N] is cut into groups of Group values of K in one column. Each
// group has a scale of 5 significant bits, and each weight a code: the weight is
//
//	scale * (code - 8)
//
// The scale's sign is such that the largest weight of the group lies on the side
// where codes reach one step farther. Codes and scales of so few digits have
// products that bf16 holds: nothing is lost when they are multiplied.
package int4

import (
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// Group is how many weights share a scale.
const Group = 32

// Zero is the code of 0; most is how far codes reach below it.
const (
	Zero = 8
	most = 8
)

// tooLarge is the least magnitude that scales do not serve: their products
// could overflow. A group below tooSmall is all zeros: its scale would have no
// inverse that is a normal number.
const (
	tooLarge = 0x1p126
	tooSmall = 0x1p-120
)

// fractions are how many steps the largest weight of a group may be: which of
// them leaves the least squared error is tried. Below 8 steps the largest is
// within the codes, above it is cut off for the sake of all others.
var fractions = [...]float32{7, 7.5, 8, 8.5, 9}

// Panel is how many columns of codes a line of the cache holds. In the order
// Panels these lie side by side, and the next values of k behind them: who needs
// a few columns reads memory from one end to the other. In the order Rows all
// columns are side by side.
const Panel = 64

// Order is how codes lie.
type Order bool

const (
	Rows   Order = false
	Panels Order = true
)

// Shapes are those of the codes, u8, and the scales, bf16, of weights
// [..., K, N]: codes [..., K/2, N], or [..., N/Panel, K/2, Panel]. Two share a byte,
// that of the even k in the lower half; those behind the last k are Zero.
func Shapes(weights []int, order Order) (codes, scales []int) {
	axis := len(weights) - 2
	groups := (weights[axis] + Group - 1) / Group
	codes, scales = slices.Clone(weights), slices.Clone(weights)
	codes[axis], scales[axis] = groups*Group/2, groups
	if order == Panels {
		codes = append(codes[:axis], (weights[axis+1]+Panel-1)/Panel, groups*Group/2, Panel)
	}
	return codes, scales
}

// Pack makes codes and scales of their Shapes, in the byte order of this
// machine, of the weights w of a shape.
func Pack(codes, scales []byte, w []float32, shape []int, order Order) error {
	last := len(shape) - 2
	m := matrix{k: shape[last], n: shape[last+1], order: order}
	each := m.k * m.n
	if each == 0 || len(w) == 0 {
		return nil
	}
	count := len(w) / each
	for i := range count {
		part := func(b []byte) []byte { return b[i*len(b)/count : (i+1)*len(b)/count] }
		m.codes, m.scales = part(codes), part(scales)
		if err := m.pack(w[i*each : (i+1)*each]); err != nil {
			return err
		}
	}
	return nil
}

// matrix is weights [K, N] to be packed.
type matrix struct {
	k, n          int
	order         Order
	codes, scales []byte
}

// NotFinite is a weight that has no place among codes.
type NotFinite struct {
	K, N  int
	Value float32
}

func (e *NotFinite) Error() string {
	return fmt.Sprintf("%v at [%d, %d]: int4 holds numbers below 2^126 alone", e.Value, e.K, e.N)
}

// parallelTask is the least weights that are worth a goroutine.
const parallelTask = 1 << 16

// pack has each worker take the next group of rows.
func (m *matrix) pack(w []float32) error {
	tasks := (m.k + Group - 1) / Group
	var next atomic.Int64
	var all sync.WaitGroup
	errs := make([]error, tasks)
	workers := min(runtime.GOMAXPROCS(0), tasks, m.k*m.n/parallelTask+1)
	for range workers {
		all.Go(func() {
			for g := int(next.Add(1)) - 1; g < tasks; g = int(next.Add(1)) - 1 {
				errs[g] = m.packRow(w, g)
			}
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// packRow packs a group of all columns.
func (m *matrix) packRow(w []float32, group int) error {
	first := group * Group
	rows := min(Group, m.k-first)
	var x [Group]float32
	var codes [Group]uint8
	for n := range m.n {
		for i := range rows {
			x[i] = w[(first+i)*m.n+n]
			if !(abs(x[i]) < tooLarge) {
				return &NotFinite{first + i, n, x[i]}
			}
		}
		scale := quantise(&x, &codes)
		for i := 0; i < Group; i += 2 {
			m.codes[m.at((first+i)/2, n)] = codes[i] | codes[i+1]<<4
		}
		binary.NativeEndian.PutUint16(m.scales[2*(group*m.n+n):], uint16(math.Float32bits(scale)>>16))
	}
	return nil
}

// at is where the codes of two k of a column are.
func (m *matrix) at(pair, n int) int {
	if m.order == Rows {
		return pair*m.n + n
	}
	pairs := (m.k + Group - 1) / Group * Group / 2
	return (n/Panel*pairs+pair)*Panel + n%Panel
}

// quantise gives the scale of a group and its codes.
func quantise(x *[Group]float32, codes *[Group]uint8) float32 {
	top := float32(0)
	for _, v := range x {
		if abs(v) > abs(top) {
			top = v
		}
	}
	if abs(top) < tooSmall {
		*codes = zeros
		return 1
	}
	best, least := float32(0), float32(math.Inf(1))
	for _, f := range fractions {
		scale := fiveBits(-top / f)
		if e := lost(x, scale, top); e < least {
			best, least = scale, e
		}
	}
	inverse := 1 / best
	for i, v := range x {
		codes[i] = uint8(Zero + step(float32(v*inverse)))
	}
	return best
}

var zeros = func() (all [Group]uint8) {
	for i := range all {
		all[i] = Zero
	}
	return all
}()

// lost is the squared error of a group with a scale, in squares of its largest
// weight, so that it neither overflows nor vanishes.
func lost(x *[Group]float32, scale, top float32) float32 {
	inverse, sum := 1/scale, float32(0)
	unit := scale / top
	for _, v := range x {
		// Conversions forbid fusing, so that every machine makes the same codes.
		d := float32(v * inverse)
		d = float32((d - step(d)) * unit)
		sum += float32(d * d)
	}
	return sum
}

// step is the code nearest to v, less Zero.
func step(v float32) float32 {
	const whole = 3 << 22 // numbers beside it have no fraction
	v = float32(v+whole) - whole
	return max(-most, min(v, most-1))
}

// fiveBits rounds to 5 significant bits.
func fiveBits(v float32) float32 {
	const rest = 23 - 4
	return math.Float32frombits((math.Float32bits(v) + 1<<(rest-1)) &^ (1<<rest - 1))
}

func abs(v float32) float32 { return math.Float32frombits(math.Float32bits(v) &^ (1 << 31)) }
