package train

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/nn"
	"github.com/sinterml/sinter/optim"
	"github.com/sinterml/sinter/safetensors"
)

// A checkpoint is a safetensors file: the variables of the net, what the
// optimizer remembers, with Restore the best net so far, and in the metadata
// the rest of a run's state and a checksum of every tensor.

// Keys of the metadata.
const (
	stateKey = "sinter.train"
	sumsKey  = "sinter.checksums"
)

// checkpointVersion changes when an older sinter would read a file wrongly.
const checkpointVersion = 1

// savedState is what a run goes on from, beside tensors.
type savedState struct {
	Version  int
	Seed     int64
	Averaged int  // gradients that an update averages
	Done     bool // the run came to its end
	Position position
	Stop     stopState
	Plateau  *optim.Plateau    `json:",omitempty"`
	Settings map[string]string `json:",omitempty"`
}

// kept lists the variables of a run by their names in a checkpoint.
func kept(net any, o *optim.Optimizer, best []*sinter.Variable) ([]nn.Param, error) {
	all, err := nn.State(net)
	if err != nil {
		return nil, err
	}
	var params []nn.Param
	used := map[string]bool{}
	seen := map[*sinter.Variable]bool{}
	add := func(kind, name string, v *sinter.Variable) {
		if seen[v] { // a variable with several names is saved under the first
			return
		}
		seen[v] = true
		unique := kind + "." + name
		for i := 2; used[unique]; i++ {
			unique = fmt.Sprintf("%s.%s.%d", kind, name, i)
		}
		used[unique] = true
		params = append(params, nn.Param{Name: unique, Variable: v})
	}
	for _, p := range all {
		add("net", p.Name, p.Variable)
	}
	for _, v := range o.State() {
		add("optimizer", v.Name(), v)
	}
	for _, v := range best {
		add("best", v.Name(), v)
	}
	return params, nil
}

// encodeState makes the metadata of a checkpoint.
func encodeState(s savedState, tensors []safetensors.Tensor) (map[string]string, error) {
	state, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	sums := map[string]uint32{stateKey: checksum(state)}
	for _, t := range tensors {
		sums[t.Name] = checksum(t.Data)
	}
	text, err := json.Marshal(sums)
	if err != nil {
		return nil, err
	}
	return map[string]string{stateKey: string(state), sumsKey: string(text)}, nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum finds damage; it is no defence against who means harm.
func checksum(data []byte) uint32 { return crc32.Checksum(data, castagnoli) }

// CheckpointError is a file that a run cannot go on from.
type CheckpointError struct {
	File   string
	Tensor string // "" when no single one is at fault
	Err    error
}

func (e *CheckpointError) Error() string {
	s := "train: checkpoint " + e.File
	if e.Tensor != "" {
		s += fmt.Sprintf(": tensor %.100q", e.Tensor) // its length is the file's choice
	}
	if e.Err != nil { // the zero CheckpointError has none
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *CheckpointError) Unwrap() error { return e.Err }

var errDamaged = errors.New("it does not hold what was saved: remove the file to go on from the one before")

// readState checks the metadata of a checkpoint and every tensor's checksum.
func readState(f *safetensors.File) (savedState, error) {
	var s savedState
	fault := func(tensor string, err error) (savedState, error) {
		return s, &CheckpointError{f.Name(), tensor, err}
	}
	state, ok := f.Metadata()[stateKey]
	if !ok {
		return fault("", errors.New("it is no checkpoint of a run: its metadata has no "+stateKey))
	}
	var sums map[string]uint32
	if err := json.Unmarshal([]byte(f.Metadata()[sumsKey]), &sums); err != nil {
		return fault("", fmt.Errorf("its checksums cannot be read: %w", errDamaged))
	}
	if sums[stateKey] != checksum([]byte(state)) {
		return fault("", fmt.Errorf("its state has another checksum: %w", errDamaged))
	}
	for _, name := range f.Names() {
		t, _ := f.Tensor(name)
		if sum, ok := sums[name]; !ok || sum != checksum(t.Data) {
			return fault(name, errDamaged)
		}
	}
	if err := f.Intact(); err != nil {
		return fault("", err)
	}
	if err := json.Unmarshal([]byte(state), &s); err != nil {
		return fault("", fmt.Errorf("its state cannot be read (%w)", err))
	}
	if s.Version != checkpointVersion {
		return fault("", fmt.Errorf("it is of version %d, this sinter reads version %d", s.Version, checkpointVersion))
	}
	if p := s.Position; min(p.Step, p.Epoch, p.Batch, p.EpochSteps, s.Stop.Waiting, s.Stop.Step) < 0 || p.Total < max(p.Step, p.Batch) || s.Averaged < 1 {
		return fault("", fmt.Errorf("its state cannot be (%+v)", p))
	}
	return s, nil
}

// restoreTensors sets variables to the tensors of a file, which must be those
// and no others, all of their shapes and types.
func restoreTensors(ctx context.Context, f *safetensors.File, params []nn.Param) error {
	expected := map[string]bool{}
	for _, p := range params {
		expected[p.Name] = true
		if err := fits(f, p); err != nil {
			return &CheckpointError{f.Name(), p.Name, err}
		}
	}
	for _, name := range f.Names() {
		if !expected[name] {
			return &CheckpointError{f.Name(), name, errors.New("this run has no such tensor: the checkpoint is of another model or another optimizer")}
		}
	}
	_, err := nn.Restore(ctx, f, params, nn.LoadOptions{})
	return f.Fault(err)
}

func fits(f *safetensors.File, p nn.Param) error {
	t, ok := f.Tensor(p.Name)
	if !ok {
		return errors.New("it is missing: the checkpoint is of another model or another optimizer")
	}
	x := p.Variable.Tensor()
	if err := x.Err(); err != nil {
		return err
	}
	var shape []int
	for _, d := range x.Shape() {
		n, _ := d.Const()
		shape = append(shape, n)
	}
	if t.DType != x.DType() || !slices.Equal(t.Shape, shape) {
		return fmt.Errorf("it is %v%v, this run has %v%v: the checkpoint is of another model", t.DType, t.Shape, x.DType(), shape)
	}
	return nil
}
