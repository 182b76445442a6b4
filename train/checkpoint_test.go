package train

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/internal/atomicfile"
	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/nn"
	"github.com/sinterml/sinter/optim"
	"github.com/sinterml/sinter/safetensors"
)

// watched is a run that also watches its evaluation, every so many steps.
func watched(t testing.TB, o optim.Options, every int) Options {
	run := ringOptions(t, o)
	run.Evaluate.Every = every
	run.EarlyStop = EarlyStop{Metric: "loss", Patience: 15, Restore: true}
	run.Plateau = Plateau{Rule: &optim.Plateau{Rate: 1, Factor: 0.5, Patience: 1}, Metric: "accuracy", Larger: true}
	return run
}

// A run that is stopped and gone on from again and again, at any batch, ends at
// the bits of one that never was.
func TestResumeEndsAtTheSameBits(t *testing.T) {
	for name, c := range map[string]struct {
		options optim.Options
		every   int
	}{"epochs": {optim.Options{}, 0}, "steps": {optim.Options{Average: 0.9}, 4}, "averaged gradients": {optim.Options{Accumulate: 3, ClipNorm: 1}, 3}} {
		o := watched(t, c.options, c.every)
		want := mustRun(t, o)
		wantBits, wantScores := bits(t, o), fmt.Sprint(want.Scores.Values())
		r := rand.New(rand.NewPCG(3, 4))
		dir, stops := t.TempDir(), 0
		for {
			o := watched(t, c.options, c.every)
			o.Checkpoints = Checkpoints{Dir: dir, Resume: true, Keep: 2, Every: 5}
			ctx, cancel := context.WithCancel(context.Background())
			batches := r.IntN(25)
			o.Data = countdown{o.Data, &batches, cancel}
			o.Evaluate.Data = countdown{o.Evaluate.Data, &batches, cancel}
			got, err := Run(ctx, o)
			cancel()
			if errors.Is(err, context.Canceled) {
				stops++
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if bits(t, o) != wantBits || fmt.Sprint(got.Scores.Values()) != wantScores || got.Step != want.Step || got.BestStep != want.BestStep {
				t.Errorf("%s: after %d stops %+v, want %+v", name, stops, got, want)
			}
			break
		}
		t.Logf("%s: %d stops in %d steps", name, stops, want.Step)
		if names, err := os.ReadDir(dir); err != nil || len(names) > 2 || stops < 5 {
			t.Errorf("%s: %d stops, %v %v", name, stops, names, err)
		}
	}
}

// countdown is Data that asks for an end after so many batches of any kind.
type countdown struct {
	Data
	left *int
	end  func()
}

func (c countdown) Epoch(seed int64, epoch, skip int) iter.Seq2[Batch, error] {
	return func(yield func(Batch, error) bool) {
		for b, err := range c.Data.Epoch(seed, epoch, skip) {
			if *c.left--; *c.left < 0 {
				c.end()
			}
			if !yield(b, err) {
				return
			}
		}
	}
}

// A run that is done has nothing to go on with.
func TestResumeWhatIsDone(t *testing.T) {
	dir := t.TempDir()
	o := watched(t, optim.Options{}, 0)
	o.Checkpoints.Dir = dir
	first := mustRun(t, o)
	want := bits(t, o)
	o = watched(t, optim.Options{}, 0)
	o.Checkpoints = Checkpoints{Dir: dir, Resume: true}
	o.Report = func(e Event) error { return fmt.Errorf("%+v", e) }
	if r := mustRun(t, o); bits(t, o) != want || r.Step != first.Step || fmt.Sprint(r.Scores.Values()) != fmt.Sprint(first.Scores.Values()) {
		t.Errorf("%+v, want %+v", r, first)
	}
	// Another run may take its place.
	o = watched(t, optim.Options{}, 0)
	o.Seed, o.Checkpoints.Dir = 8, dir
	mustRun(t, o)
	if bits(t, o) == want {
		t.Error("it was gone on from")
	}
}

// checkpointed runs 10 steps, with a checkpoint at the end, and gives its file.
func checkpointed(t testing.TB, dir string, d atomicfile.Disk) (string, error) {
	o := ringOptions(t, optim.Options{})
	o.Epochs, o.Steps, o.Evaluate = 0, 10, Evaluation{}
	o.Checkpoints = Checkpoints{Dir: dir, Every: 5, disk: d}
	_, err := Run(context.Background(), o)
	return o.Checkpoints.path(10), err
}

// resumed goes on from what is in a folder.
func resumed(t testing.TB, dir string, change func(o *Options)) error {
	o := ringOptions(t, optim.Options{})
	o.Epochs, o.Steps, o.Evaluate = 0, 12, Evaluation{}
	o.Checkpoints = Checkpoints{Dir: dir, Resume: true}
	if change != nil {
		change(&o)
	}
	_, err := Run(context.Background(), o)
	return err
}

func TestResumeRefusesOtherRuns(t *testing.T) {
	dir := t.TempDir()
	if _, err := checkpointed(t, dir, nil); err != nil {
		t.Fatal(err)
	}
	other := func(net *ringNet, m optim.Method) func(o *Options) {
		return func(o *Options) {
			if err := nn.Init(net, nn.Options{}); err != nil {
				t.Fatal(err)
			}
			opt, err := optim.New(optim.Options{}, optim.Group{Params: nn.Params(net), Method: m})
			if err != nil {
				t.Fatal(err)
			}
			o.Net, o.Optimizer = net, opt
			x, y := sinter.Input("x", sinter.F32, sinter.N(32), sinter.N(2)), sinter.Input("y", sinter.I64, sinter.N(32))
			o.Loss = func(m *nn.Mode) (sinter.Tensor, map[string]sinter.Tensor) {
				return sinter.CrossEntropy(net.forward(x, m), y, sinter.CrossEntropyOptions{}), nil
			}
		}
	}
	for name, c := range map[string]struct {
		change func(o *Options)
		tensor string
		say    string
	}{
		"a wider net": {other(&ringNet{Hidden: nn.Linear{In: 2, Out: 24}, Norm: nn.BatchNorm{Channels: 24}, Out: nn.Linear{In: 24, Out: 2}}, optim.AdamW{}),
			"net.hidden.weight", "it is f32[16 2], this run has f32[24 2]"},
		"a net with another tensor": {other(&ringNet{Hidden: nn.Linear{In: 2, Out: 16}, Norm: nn.BatchNorm{Channels: 16}, Out: nn.Linear{In: 16, Out: 2, NoBias: true}}, optim.AdamW{}),
			"net.out.bias", "this run has no such tensor"},
		"another optimizer": {other(&ringNet{Hidden: nn.Linear{In: 2, Out: 16}, Norm: nn.BatchNorm{Channels: 16}, Out: nn.Linear{In: 16, Out: 2}}, optim.SGD{Momentum: 0.5}),
			"optimizer.sgd.momentum.hidden.weight", "it is missing"},
		"another seed": {func(o *Options) { o.Seed = 8 }, "", "it is of seed 7, this run has 8"},
		"other data":   {func(o *Options) { o.Checkpoints.Settings = map[string]string{"rows": "7"} }, "", `its rows is "", that of this run "7"`},
		"a plateau": {func(o *Options) {
			o.Plateau = Plateau{Rule: &optim.Plateau{}, Metric: "accuracy"}
			o.Evaluate = ringOptions(t, optim.Options{}).Evaluate
		}, "", "Plateau"},
	} {
		err := resumed(t, dir, c.change)
		var fault *CheckpointError
		if !errors.As(err, &fault) || fault.Tensor != c.tensor || !strings.Contains(err.Error(), c.say) || !strings.Contains(fault.File, "checkpoint-00000010") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := os.Remove(filepath.Join(dir, "checkpoint-00000010.safetensors")); err != nil {
		t.Fatal(err)
	}
	if err := resumed(t, dir, func(o *Options) { o.Checkpoints.Resume = false }); err == nil || !strings.Contains(err.Error(), "did not come to its end") {
		t.Errorf("a run in the place of one that is not done: %v", err)
	}
	if err := resumed(t, dir, nil); err != nil {
		t.Error(err)
	}
}

// Wherever a checkpoint is cut short or a byte of it is altered, it is refused
// by name; where that hits a tensor, the error names it.
func TestResumeRefusesDamage(t *testing.T) {
	dir := t.TempDir()
	path, err := checkpointed(t, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := safetensors.Parse(path, whole)
	if err != nil {
		t.Fatal(err)
	}
	where := func(at int) string {
		for _, name := range f.Names() {
			x, _ := f.Tensor(name)
			if begin := bytes.Index(whole, x.Data); len(x.Data) > 16 && begin <= at && at < begin+len(x.Data) {
				return name
			}
		}
		return ""
	}
	o := ringOptions(t, optim.Options{})
	params, err := kept(o.Net, o.Optimizer, nil)
	if err != nil {
		t.Fatal(err)
	}
	step := effort.Of(37, 37, 1, 1)
	for at := 0; at < len(whole); at += step {
		damaged := bytes.Clone(whole)
		damaged[at] ^= 1 << (at % 8)
		for form, data := range map[string][]byte{"altered": damaged, "cut short": whole[:at]} {
			f, err := safetensors.Parse(path, data)
			if err == nil {
				_, err = readState(f)
			}
			if err == nil {
				err = restoreTensors(context.Background(), f, params)
			}
			if err == nil {
				t.Fatalf("%s at byte %d: nothing is wrong with it", form, at)
			}
			if name := where(at); form == "altered" && name != "" && !strings.Contains(err.Error(), fmt.Sprintf("tensor %q", name)) {
				t.Errorf("altered at byte %d, in %s: %v", at, name, err)
			}
		}
	}
	// And through the front door.
	x, _ := f.Tensor("net.out.weight")
	whole[bytes.Index(whole, x.Data)] ^= 4
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	var fault *CheckpointError
	if err := resumed(t, dir, nil); !errors.As(err, &fault) || fault.Tensor != "net.out.weight" || fault.File != path {
		t.Error(err)
	}
	if err := os.Truncate(path, int64(len(whole)-1)); err != nil {
		t.Fatal(err)
	}
	if err := resumed(t, dir, nil); !errors.As(err, &fault) || fault.Tensor == "" || fault.File != path {
		t.Error(err)
	}
	if err := os.Remove(path); err != nil { // as the error says
		t.Fatal(err)
	}
	if err := resumed(t, dir, nil); err != nil {
		t.Error(err)
	}
}

// fullDisk has room for so many operations.
type fullDisk struct {
	atomicfile.OS
	left int
}

func (d *fullDisk) Create(name string, mode fs.FileMode) (atomicfile.File, error) {
	if d.left--; d.left < 0 {
		return nil, syscall.ENOSPC
	}
	f, err := d.OS.Create(name, mode)
	return &fullFile{f, d}, err
}

type fullFile struct {
	atomicfile.File
	disk *fullDisk
}

func (f *fullFile) Write(p []byte) (int, error) {
	if f.disk.left--; f.disk.left < 0 {
		n, _ := f.File.Write(p[:len(p)/2])
		return n, syscall.ENOSPC
	}
	return f.File.Write(p)
}

// Where the disk is full the run ends with an error; the checkpoint before is
// there, and can be gone on from.
func TestCheckpointOnAFullDisk(t *testing.T) {
	dir := t.TempDir()
	whole := &fullDisk{left: 1 << 20}
	if _, err := checkpointed(t, dir, whole); err != nil {
		t.Fatal(err)
	}
	each := (1<<20 - whole.left) / 2 // operations of a checkpoint, of which there are two
	for room := each; room < 2*each; room += 7 {
		dir := t.TempDir()
		path, err := checkpointed(t, dir, &fullDisk{left: room})
		if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), path) {
			t.Fatalf("room for %d of %d operations: %v", room, 2*each, err)
		}
		names, err := os.ReadDir(dir)
		if err != nil || len(names) != 1 || names[0].Name() != "checkpoint-00000005.safetensors" {
			t.Fatal(names, err)
		}
		if err := resumed(t, dir, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// What a killed run has left half written is taken away; other files stay.
func TestResumeTidies(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{".checkpoint-00000003.safetensors.1234abcd.part", "checkpoint-3.safetensors", "notes", ".other.12345678.part"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := resumed(t, dir, nil); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if got := strings.Join(names, " "); err != nil || got != ".other.12345678.part checkpoint-00000012.safetensors checkpoint-3.safetensors notes" {
		t.Error(got, err)
	}
}

// FuzzCheckpoint: nothing that a file may hold makes its reader panic, or be
// taken for a run's state that cannot be.
func FuzzCheckpoint(f *testing.F) {
	path, err := checkpointed(f, f.TempDir(), nil)
	if err != nil {
		f.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	tensor := []safetensors.Tensor{{Name: "net.x", DType: sinter.U8, Shape: []int{1}, Data: []byte{1}}}
	for _, state := range []savedState{{}, {Version: 1, Averaged: 1}, {Version: 1, Averaged: 1, Position: position{Step: 3, Total: 1}}, {Version: 1, Averaged: 2, Position: position{Batch: -1}}} {
		metadata, err := encodeState(state, tensor)
		if err != nil {
			f.Fatal(err)
		}
		var b bytes.Buffer
		if err := safetensors.Write(&b, tensor, metadata); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := safetensors.Parse("file", data)
		if err != nil {
			return
		}
		s, err := readState(file)
		if err == nil && (s.Position.Step < 0 || s.Position.Batch > s.Position.Total || s.Averaged < 1) {
			t.Errorf("taken for a state: %+v", s)
		}
	})
}

// cancelling are rows whose reading is followed by the end of the run's context, before
// what is read has been computed.
type cancelling struct {
	Rows
	read *atomic.Bool
}

func (c cancelling) At(rows []int) (Batch, error) {
	c.read.Store(true)
	return c.Rows.At(rows)
}

// lateEnd is a context that ends behind the first look at it after a read.
type lateEnd struct {
	context.Context
	read *atomic.Bool
	end  func()
}

func (l lateEnd) Err() error {
	err := l.Context.Err()
	if l.read.Swap(false) {
		l.end()
	}
	return err
}

// TestSavedWhateverTheCause: a run whose context ends within an evaluation is saved, also
// where the context has a cause of its own.
func TestSavedWhateverTheCause(t *testing.T) {
	for _, cause := range []error{nil, errors.New("the machine is wanted")} {
		dir := filepath.Join(t.TempDir(), "checkpoints")
		inner, cancel := context.WithCancelCause(t.Context())
		ctx := lateEnd{inner, new(atomic.Bool), func() { cancel(cause) }}
		o := ringOptions(t, optim.Options{})
		o.Checkpoints = Checkpoints{Dir: dir}
		o.Evaluate.Data = Batches{Rows: cancelling{rings(), ctx.read}, Size: 50}
		if _, err := Run(ctx, o); !errors.Is(err, context.Cause(inner)) {
			t.Errorf("cause %v: %v", cause, err)
		}
		if files, err := os.ReadDir(dir); err != nil || len(files) == 0 {
			t.Errorf("cause %v: nothing was saved (%v)", cause, err)
		}
	}
}
