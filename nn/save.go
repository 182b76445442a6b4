package nn

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/safetensors"
)

// Save writes everything that a net keeps as safetensors, all of it as of one
// moment, with any metadata. A variable that has several names is there under
// each, so that PyTorch's load_state_dict takes the file as it is.
func Save(ctx context.Context, w io.Writer, net any, metadata map[string]string) error {
	all, err := State(net)
	if err != nil {
		return err
	}
	tensors, err := Snapshot(ctx, all)
	if err != nil {
		return err
	}
	return safetensors.Write(w, tensors, metadata)
}

// Snapshot reads variables for a file, all of them as of one moment.
func Snapshot(ctx context.Context, all []Param) ([]safetensors.Tensor, error) {
	var order []sinter.Tensor
	at := map[*sinter.Variable]int{}
	for _, p := range all {
		if _, ok := at[p.Variable]; !ok {
			at[p.Variable] = len(order)
			order = append(order, p.Variable.Tensor())
		}
	}
	values, err := sinter.Eval(ctx, order...)
	if err != nil {
		return nil, fmt.Errorf("nn: reading the variables: %w", err)
	}
	data := make([][]byte, len(values))
	for i, x := range values {
		if data[i], err = bytesOf(ctx, x); err != nil {
			return nil, fmt.Errorf("nn: reading the variables: %w", err)
		}
	}
	tensors := make([]safetensors.Tensor, len(all))
	for i, p := range all {
		j := at[p.Variable]
		tensors[i] = safetensors.Tensor{Name: p.Name, DType: values[j].DType(), Shape: sizesOf(p.Variable), Data: data[j]}
	}
	return tensors, nil
}

// bytesOf is the elements of x, little endian.
func bytesOf(ctx context.Context, x sinter.Tensor) ([]byte, error) {
	switch x.DType() {
	case sinter.Bool:
		return sinter.Values[uint8](ctx, x.Cast(sinter.U8))
	case sinter.F32:
		return encode[float32](ctx, x)
	case sinter.F64:
		return encode[float64](ctx, x)
	case sinter.I64:
		return encode[int64](ctx, x)
	}
	switch x.DType().Size() {
	case 1:
		return encode[uint8](ctx, x.Bitcast(sinter.U8))
	case 2:
		return encode[uint16](ctx, x.Bitcast(sinter.U16))
	case 4:
		return encode[uint32](ctx, x.Bitcast(sinter.U32))
	}
	return encode[uint64](ctx, x.Bitcast(sinter.U64))
}

func encode[T sinter.Elem](ctx context.Context, x sinter.Tensor) ([]byte, error) {
	v, err := sinter.Values[T](ctx, x)
	if err != nil {
		return nil, err
	}
	return binary.Append(nil, binary.LittleEndian, v)
}
