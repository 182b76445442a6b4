package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sinterml/sinter/internal/atomicfile"
	"github.com/sinterml/sinter/internal/filelock"
	"github.com/sinterml/sinter/nn"
	"github.com/sinterml/sinter/safetensors"
)

// Checkpoints say what a run keeps to go on from. The zero value keeps nothing.
// A run that goes on ends at the same bits as one that was never stopped.
type Checkpoints struct {
	// Dir is the folder, made where it is missing; "": no checkpoints. One is saved
	// at the end of a run, and when its context is done or Report fails, besides
	// those by Every.
	Dir   string
	Every int // steps; 0: none between
	Keep  int // the last so many; 0: 3
	// Resume goes on from the last checkpoint in Dir, and begins where there is
	// none. Without it, checkpoints of a run that came to its end are replaced, and
	// those of one that did not are an error.
	Resume bool
	// Settings are what a run that goes on must have as the one before had it, by
	// name, beside what is compared anyway: the size of a batch, which data.
	Settings map[string]string

	disk atomicfile.Disk // nil: the operating system's; tests have others
}

func (c Checkpoints) check() error {
	switch {
	case c.Dir == "" && (c.Every != 0 || c.Keep != 0 || c.Resume):
		return errors.New("checkpoints need a Dir")
	case c.Every < 0 || c.Keep < 0:
		return fmt.Errorf("a checkpoint every %d steps, the last %d of them: use at least 1, or 0 for what is usual", c.Every, c.Keep)
	}
	return nil
}

// Names of checkpoints: the step, so that they sort.
const (
	checkpointPrefix = "checkpoint-"
	checkpointSuffix = ".safetensors"
)

func (c Checkpoints) path(step int) string {
	return filepath.Join(c.Dir, fmt.Sprintf("%s%08d%s", checkpointPrefix, step, checkpointSuffix))
}

// stepOf is the step in the name of a checkpoint.
func stepOf(name string) (step int, ok bool) {
	rest, a := strings.CutPrefix(name, checkpointPrefix)
	rest, b := strings.CutSuffix(rest, checkpointSuffix)
	step, err := strconv.Atoi(rest)
	return step, a && b && err == nil && step >= 0 && name == filepath.Base(Checkpoints{}.path(step))
}

// list finds the steps that there are checkpoints of, the first first, and what
// a run that was killed has left behind.
func (c Checkpoints) list() (steps []int, rests []string, err error) {
	entries, err := os.ReadDir(c.Dir)
	if err != nil {
		return nil, nil, fmt.Errorf("looking for checkpoints: %w", err)
	}
	for _, e := range entries {
		if step, ok := stepOf(e.Name()); ok {
			steps = append(steps, step)
		} else if of, ok := atomicfile.Of(e.Name()); ok {
			if _, ok := stepOf(of); ok {
				rests = append(rests, filepath.Join(c.Dir, e.Name()))
			}
		}
	}
	slices.SortFunc(steps, cmp.Compare[int])
	return steps, rests, nil
}

// lock keeps other runs out of the folder, which it makes, until the run ends:
// they would take each other's files for what was left behind.
func (r *run) lock() (err error) {
	dir := r.o.Checkpoints.Dir
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("making the folder for checkpoints: %w", err)
	}
	r.unlock, err = filelock.Folder(dir)
	if errors.Is(err, filelock.ErrLocked) {
		return fmt.Errorf("another run keeps its checkpoints in %s: wait for its end, or give another folder", dir)
	}
	return err
}

// resume looks into the folder, and puts the run to where it was.
func (r *run) resume(ctx context.Context) error {
	c := r.o.Checkpoints
	if c.Dir == "" {
		return nil
	}
	if err := r.lock(); err != nil {
		return err
	}
	steps, rests, err := c.list()
	if err != nil {
		return err
	}
	for _, name := range rests {
		_ = os.Remove(name) // they are in nobody's way
	}
	if len(steps) == 0 {
		return nil
	}
	last := c.path(steps[len(steps)-1])
	f, err := safetensors.Open(last)
	if err != nil {
		var fault *safetensors.Error
		var system *fs.PathError // the content may be as it was
		if errors.As(err, &fault) && !errors.As(err, &system) {
			return &CheckpointError{last, fault.Tensor, fmt.Errorf("%w: %w", fault.Err, errDamaged)}
		}
		return fmt.Errorf("opening a checkpoint: %w", err)
	}
	defer f.Close()
	s, err := readState(f)
	if err != nil {
		return err
	}
	switch {
	case !c.Resume && s.Done:
		return c.remove(steps)
	case !c.Resume:
		return fmt.Errorf("%s is of a run that did not come to its end: resume, remove it, or give another folder", last)
	}
	if err := r.restore(ctx, f, s); err != nil {
		return err
	}
	r.saved = r.at.Total
	return nil
}

// restore goes on from a checkpoint.
func (r *run) restore(ctx context.Context, f *safetensors.File, s savedState) (err error) {
	averaged := r.o.Optimizer.Averaged()
	switch {
	case s.Seed != r.o.Seed:
		err = fmt.Errorf("it is of seed %d, this run has %d", s.Seed, r.o.Seed)
	case s.Averaged != averaged:
		err = fmt.Errorf("its updates average %d gradients, those of this run %d", s.Averaged, averaged)
	case (s.Plateau == nil) != (r.o.Plateau.Rule == nil):
		err = errors.New("of it and this run one has a Plateau")
	default:
		err = compareSettings(s.Settings, r.o.Checkpoints.Settings)
	}
	if err != nil {
		return &CheckpointError{File: f.Name(), Err: err}
	}
	r.stop.stopState = s.Stop
	if r.o.EarlyStop.Restore && s.Stop.Some {
		r.stop.makeBest()
	}
	params, err := kept(r.o.Net, r.o.Optimizer, r.stop.best)
	if err != nil {
		return err
	}
	if err := restoreTensors(ctx, f, params); err != nil {
		return err
	}
	if s.Plateau != nil {
		*r.o.Plateau.Rule = *s.Plateau
	}
	r.at = s.Position
	return nil
}

// compareSettings names the first setting that differs.
func compareSettings(saved, now map[string]string) error {
	all := maps.Clone(saved)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, now)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if was, is := saved[name], now[name]; was != is {
			return fmt.Errorf("its %s is %q, that of this run %q", name, was, is)
		}
	}
	return nil
}

// save keeps a checkpoint of now, unless that is there, and removes those that
// are too old.
func (r *run) save(ctx context.Context) error {
	c := r.o.Checkpoints
	if c.Dir == "" || r.saved == r.at.Total && !r.moved {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	params, err := kept(r.o.Net, r.o.Optimizer, r.stop.best)
	if err != nil {
		return err
	}
	tensors, err := nn.Snapshot(ctx, params)
	if err != nil {
		return err
	}
	state := savedState{checkpointVersion, r.o.Seed, r.o.Optimizer.Averaged(), r.done(), r.at, r.stop.stopState, r.o.Plateau.Rule, c.Settings}
	metadata, err := encodeState(state, tensors)
	if err != nil {
		return err
	}
	path := c.path(r.at.Step)
	if err := c.write(path, tensors, metadata); err != nil {
		return fmt.Errorf("train: saving %s: %w: earlier checkpoints are as they were", path, err)
	}
	r.saved, r.moved = r.at.Total, false
	if err := c.prune(); err != nil {
		return fmt.Errorf("train: %w", err)
	}
	return nil
}

func (c Checkpoints) write(path string, tensors []safetensors.Tensor, metadata map[string]string) error {
	p, err := atomicfile.Create(c.disk, path, 0o666)
	if err != nil {
		return err
	}
	if err := safetensors.Write(p, tensors, metadata); err != nil {
		p.Discard()
		return err
	}
	return p.Commit()
}

// prune removes all but the last checkpoints.
func (c Checkpoints) prune() error {
	keep := c.Keep
	if keep == 0 {
		keep = 3
	}
	steps, _, err := c.list()
	if err != nil {
		return err
	}
	return c.remove(steps[:max(0, len(steps)-keep)])
}

func (c Checkpoints) remove(steps []int) error {
	for _, step := range steps {
		if err := os.Remove(c.path(step)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("removing an old checkpoint: %w", err)
		}
	}
	return nil
}
