package nn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/safetensors"
)

// LoadOptions say how a file is taken. The zero value is strict.
type LoadOptions struct {
	// Lenient loads what fits and leaves the rest as it is.
	Lenient bool
	// Rename gives the name in the file of a variable of the net; nil: the same.
	Rename func(name string) string
}

// LoadReport is how the names of a file and of a net differ. Load gives it as
// its error where it must not.
type LoadReport struct {
	File       string
	Loaded     int      // variables
	Missing    []string // in the file, by the names it should have
	Unexpected []string // in the file, which the net has no place for
	Wrong      []string // of another shape or type, and how
}

// Error lists the differences, and says what was loaded.
func (r *LoadReport) Error() string {
	if r == nil {
		return "nn: no report"
	}
	s := fmt.Sprintf("nn: %s does not hold this net, nothing was loaded", r.File)
	switch {
	case r.Fits():
		return fmt.Sprintf("nn: %s holds this net, %d variables were loaded", r.File, r.Loaded)
	case r.Loaded > 0: // lenient
		s = fmt.Sprintf("nn: %s does not hold all of this net, %d variables were loaded", r.File, r.Loaded)
	}
	for _, part := range []struct {
		what  string
		names []string
	}{{"missing", r.Missing}, {"unexpected", r.Unexpected}, {"wrong", r.Wrong}} {
		if n := len(part.names); n > 0 {
			s += fmt.Sprintf("; %d %s: %s", n, part.what, strings.Join(part.names[:min(n, shown)], ", "))
			if n > shown {
				s += ", ..."
			}
		}
	}
	return s
}

// shown is how many names of a kind a message lists.
const shown = 20

// Fits tells whether names and shapes were all the same.
func (r *LoadReport) Fits() bool {
	return r != nil && len(r.Missing)+len(r.Unexpected)+len(r.Wrong) == 0
}

// Load sets the variables of a net to the tensors of a file with their names.
// Floats of another type are converted. A variable that has several names
// needs one of them, and the same values under all. Unless it is lenient,
// every difference is a *LoadReport and nothing changes; else it is reported.
// Programs that run see all of the old values or all of the new. A file that is
// written to meanwhile is an error, and then the values may be a mixture.
func Load(ctx context.Context, f *safetensors.File, net any, o LoadOptions) (*LoadReport, error) {
	all, err := State(net)
	if err != nil {
		return nil, err
	}
	return Restore(ctx, f, all, o)
}

// Restore is Load for variables that are no net, such as the state of an
// optimizer.
func Restore(ctx context.Context, f *safetensors.File, all []Param, o LoadOptions) (*LoadReport, error) {
	if f == nil {
		return nil, errors.New("nn: no file to load from: use safetensors.Open")
	}
	for _, p := range all {
		if err := p.Variable.Err(); err != nil {
			return nil, fmt.Errorf("nn: variable %s: %w", p.Name, err)
		}
	}
	r := &LoadReport{File: f.Name()}
	updates := r.compare(f, all, o)
	if !r.Fits() && !o.Lenient {
		r.Loaded = 0
		return r, r
	}
	if err := f.Intact(); err != nil {
		return r, err
	}
	if _, err := sinter.Eval(ctx, updates...); err != nil {
		return r, fmt.Errorf("nn: loading %s: %w", f.Name(), err)
	}
	if err := f.Intact(); err != nil { // the file's memory was read after the first look
		return r, fmt.Errorf("nn: the variables may hold a mixture, load them again: %w", err)
	}
	return r, nil
}

// compare notes what differs and gives the assignments of what does not.
func (r *LoadReport) compare(f *safetensors.File, all []Param, o LoadOptions) (updates []sinter.Tensor) {
	names := map[*sinter.Variable][]string{} // in the file
	var order []*sinter.Variable
	expected := map[string]bool{}
	for _, p := range all {
		name := p.Name
		if o.Rename != nil {
			name = o.Rename(name)
		}
		if names[p.Variable] == nil {
			order = append(order, p.Variable)
		}
		names[p.Variable] = append(names[p.Variable], name)
		expected[name] = true
	}
	for _, name := range f.Names() {
		if !expected[name] {
			r.Unexpected = append(r.Unexpected, fmt.Sprintf("%.100s", name))
		}
	}
	for _, v := range order {
		if x, ok := r.find(f, v, names[v]); ok {
			updates = append(updates, v.Assign(x))
			r.Loaded++
		}
	}
	return updates
}

// find gives the new value of a variable that has names in the file.
func (r *LoadReport) find(f *safetensors.File, v *sinter.Variable, names []string) (x sinter.Tensor, ok bool) {
	var first safetensors.Tensor
	for _, name := range names {
		t, has := f.Tensor(name)
		if !has {
			continue
		}
		if ok && (t.DType != first.DType || !slices.Equal(t.Data, first.Data)) {
			r.Wrong = append(r.Wrong, fmt.Sprintf("%s has other values than %s, which is the same variable here", name, first.Name))
			return x, false
		}
		first, ok = t, true
	}
	if !ok {
		r.Missing = append(r.Missing, names[0])
		return x, false
	}
	want := v.Tensor().DType()
	if sizes := sizesOf(v); !equalSizes(first.Shape, sizes) {
		r.Wrong = append(r.Wrong, fmt.Sprintf("%s has shape %v, want %v", first.Name, first.Shape, sizes))
		return x, false
	}
	if first.DType != want && !(first.DType.IsFloat() && want.IsFloat()) {
		r.Wrong = append(r.Wrong, fmt.Sprintf("%s is %v, want %v", first.Name, first.DType, want))
		return x, false
	}
	x = sinter.Weight(first.Name, first.DType, first.Data, first.Shape...)
	if first.DType != want {
		x = x.Cast(want)
	}
	if err := x.Err(); err != nil {
		r.Wrong = append(r.Wrong, fmt.Sprintf("%s: %v", first.Name, err))
		return x, false
	}
	return x, true
}
