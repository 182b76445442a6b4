package training

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/nn"
	"github.com/sinterml/sinter/safetensors"
)

// Load takes weights, ids and targets from a file of another framework, in
// which the weights' names begin with "weight.". What the optimizer remembers, in tensors
// "state.optim.count", "state.adam.mean.*" and "state.adam.square.*", is taken as well where
// the file has it.
func (s *Step) Load(ctx context.Context, file string) (err error) {
	f, err := safetensors.Open(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	// Lenient about what else the file holds.
	report, err := nn.Load(ctx, f, s.Net, nn.LoadOptions{Lenient: true, Rename: func(name string) string { return "weight." + name }})
	if err != nil {
		return err
	}
	if len(report.Missing)+len(report.Wrong) > 0 {
		return report
	}
	if err := s.loadState(ctx, f); err != nil {
		return err
	}
	for input, name := range map[string]string{"ids": "ids", "next": "targets"} {
		t, err := find(f, name, sinter.I64)
		if err != nil {
			return err
		}
		ids := make([]int64, len(t.Data)/8)
		for i := range ids {
			ids[i] = int64(binary.LittleEndian.Uint64(t.Data[8*i:]))
		}
		s.Inputs[input] = sinter.Of(ids, t.Shape...)
	}
	return nil
}

// loadState takes what the optimizer remembers, all or none of it.
func (s *Step) loadState(ctx context.Context, f *safetensors.File) error {
	var all []nn.Param
	for _, v := range s.State {
		all = append(all, nn.Param{Name: v.Name(), Variable: v})
	}
	report, err := nn.Restore(ctx, f, all, nn.LoadOptions{Lenient: true, Rename: func(name string) string { return "state." + name }})
	if err != nil {
		return err
	}
	if missing := len(report.Missing); len(report.Wrong) > 0 || missing > 0 && missing < len(all) {
		return report
	}
	return nil
}

// Losses are those that the file says the first steps have.
func Losses(file string) (_ []float64, err error) {
	f, err := safetensors.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	t, err := find(f, "losses", sinter.F64)
	if err != nil {
		return nil, err
	}
	losses := make([]float64, len(t.Data)/8)
	for i := range losses {
		losses[i] = math.Float64frombits(binary.LittleEndian.Uint64(t.Data[8*i:]))
	}
	return losses, nil
}

func find(f *safetensors.File, name string, dt sinter.DType) (safetensors.Tensor, error) {
	t, ok := f.Tensor(name)
	if !ok {
		return t, fmt.Errorf("%s has no tensor %q", f.Name(), name)
	}
	if t.DType != dt {
		return t, fmt.Errorf("%s: %s is %v, want %v", f.Name(), name, t.DType, dt)
	}
	return t, nil
}
