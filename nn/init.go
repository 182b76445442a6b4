package nn

import (
	"errors"
	"fmt"
	"hash/fnv"
	"reflect"

	"github.com/sinterml/sinter"
)

// Options say how a net begins. The zero value is PyTorch's defaults, in F32,
// from seed 0.
type Options struct {
	// Seed decides all first values. That of a variable depends on the seed and
	// its name alone: other layers do not change it.
	Seed  int64
	DType sinter.DType // F32 or F64; 0: F32
	// Initializer chooses, by name and sizes, what a variable begins with; nil, or
	// a result of nil: what the layer chose.
	Initializer func(name string, sizes []int) Initializer
}

// Maker is a struct with variables of its own, or with parts whose sizes follow
// from its own: Init calls Make before it looks at the fields.
type Maker interface {
	Make(b *Builder) error
}

// Builder makes the variables of one struct. The zero Builder is an error when
// used.
type Builder struct {
	path    string
	of      reflect.Value
	options Options
	err     error
}

// Init fills a net, a pointer to a struct, with variables. Their names follow
// the tags of the fields that lead to them. Fields that hold a variable
// already are left alone.
func Init(net any, o Options) error {
	switch o.DType {
	case 0:
		o.DType = sinter.F32
	case sinter.F32, sinter.F64:
	default:
		return fmt.Errorf("nn: parameters of %v: use F32 or F64, and Cast in the graph", o.DType)
	}
	w := walker{
		enter: func(path string, s reflect.Value) error { return makeOwn(path, s, o) },
		visit: func(s slot) error {
			if *s.at == nil {
				return nil
			}
			if err := (*s.at).Err(); err != nil {
				return fmt.Errorf("nn: variable %s: %w", s.name, err)
			}
			return nil
		},
	}
	return w.walk(net)
}

// makeOwn makes the variables of one struct. A Maker may leave some out; of
// another struct all must be there.
func makeOwn(path string, s reflect.Value, o Options) error {
	var m Maker
	if s.CanInterface() { // a method of an embedded type that is not exported is that of the struct around it
		m, _ = s.Addr().Interface().(Maker)
	}
	if m == nil {
		return eachField(path, s, func(name string, _ bool, v reflect.Value) error {
			if v.Type() == variableType && v.IsNil() {
				return fmt.Errorf("nn: variable %s was not made: give %v a method Make, or set it before Init", name, s.Type())
			}
			return nil
		})
	}
	b := &Builder{path: path, of: s, options: o}
	err := m.Make(b)
	if err == nil {
		err = b.err
	}
	if err != nil {
		return &Error{Path: path, Kind: s.Type().Name(), Err: err}
	}
	return nil
}

// Path is the name of the struct in the net, such as blocks.3.mlp.
func (b *Builder) Path() string {
	if b == nil {
		return ""
	}
	return b.path
}

// Variable makes the variable of a tagged field, given as &s.Field or
// &s.Slice[i], with first values by an initializer.
func (b *Builder) Variable(at **sinter.Variable, init Initializer, sizes ...int) {
	if b != nil {
		b.VariableOf(at, b.options.DType, init, sizes...)
	}
}

// optional is Variable for a field that is only used on a condition.
func (b *Builder) optional(has bool, at **sinter.Variable, init Initializer, sizes ...int) {
	if has {
		b.Variable(at, init, sizes...)
	}
}

// VariableOf is Variable of another dtype than that of the net.
func (b *Builder) VariableOf(at **sinter.Variable, dt sinter.DType, init Initializer, sizes ...int) {
	if b == nil || b.err != nil {
		return
	}
	name, err := b.name(at)
	if err == nil && *at == nil {
		*at, err = b.make(name, dt, init, sizes)
	} else if err == nil {
		err = checkMade(*at, name, sizes)
	}
	b.err = err
}

// name finds the field that a variable is for.
func (b *Builder) name(at **sinter.Variable) (name string, err error) {
	if b.of.Kind() != reflect.Struct {
		return "", errors.New("the zero Builder makes nothing: Init calls Make with one")
	}
	var look func(n string, _ bool, v reflect.Value) error
	look = func(n string, _ bool, v reflect.Value) error {
		if v.Kind() == reflect.Struct && n == b.path { // embedded: its fields count as the struct's own
			return eachField(n, v, look)
		}
		if v.Type() == variableType && v.Addr().Interface().(**sinter.Variable) == at {
			name = n
		}
		return nil
	}
	err = eachField(b.path, b.of, look)
	if err == nil && name == "" {
		err = fmt.Errorf("a variable is made for no tagged field of %v: give the address of one", b.of.Type())
	}
	return name, err
}

func (b *Builder) make(name string, dt sinter.DType, init Initializer, sizes []int) (*sinter.Variable, error) {
	if o := b.options.Initializer; o != nil && dt.IsFloat() {
		if chosen := o(name, append([]int{}, sizes...)); chosen != nil {
			init = chosen
		}
	}
	if init == nil {
		return nil, fmt.Errorf("variable %s has no initializer", name)
	}
	for _, n := range sizes {
		if n < 0 || n > maxSize*8 {
			return nil, fmt.Errorf("variable %s has sizes %v", name, sizes)
		}
	}
	x := init(sinter.NewRand(sinter.Of([]int64{seedOf(b.options.Seed, name)})), sizes)
	if x.Err() == nil && x.DType() != dt {
		x = x.Cast(dt)
	}
	v := sinter.NewVariable(name, x)
	if err := v.Err(); err != nil {
		return nil, fmt.Errorf("variable %s: %w", name, err)
	}
	return v, checkMade(v, name, sizes)
}

// checkMade makes sure of the shape of a variable that was there before, or of
// what an initializer gave.
func checkMade(v *sinter.Variable, name string, sizes []int) error {
	if err := v.Err(); err != nil {
		return fmt.Errorf("variable %s: %w", name, err)
	}
	if got := sizesOf(v); !equalSizes(got, sizes) {
		return fmt.Errorf("variable %s has shape %v, want %v", name, got, sizes)
	}
	return nil
}

// seedOf mixes a seed with a name, so that no two variables draw alike.
func seedOf(seed int64, name string) int64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	// The finish of splitmix64 spreads every bit over all others.
	x := h.Sum64() + uint64(seed)*0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return int64(x ^ x>>31)
}

// sizesOf is the shape of a variable, which has no symbols.
func sizesOf(v *sinter.Variable) []int {
	shape := v.Tensor().Shape()
	sizes := make([]int, len(shape))
	for i, d := range shape {
		sizes[i], _ = d.Const()
	}
	return sizes
}

func equalSizes(a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
