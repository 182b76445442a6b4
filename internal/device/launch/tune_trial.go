package launch

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/loop"
)

// trial is a kernel of the plan by one strategy, bound to the memory of the run.
type trial struct {
	session  *session
	kernel   int
	function *function
	program  Program
	sum      string // of its code, in a search
	owns     bool   // program is the trial's alone
	slab     Memory
	held     int64 // bytes of it
	runs     Recording
	repeats  int // of the kernel in runs
}

// write makes a kernel by a strategy, and its code.
func (t *tuning) write(k kernelWork, c entry.Strategy) (*function, *Code, error) {
	f := &function{Kernel: k.entry(t.module.shape.With(c), "tried")}
	code, err := t.module.device.backend.Emit([]*entry.Kernel{f.Kernel})
	if err != nil {
		return nil, nil, err
	}
	f.args = code.Args[0]
	return f, code, nil
}

// build compiles a kernel of the plan that was written.
func (t *tuning) build(i int, f *function, code *Code) (*trial, error) {
	p, err := t.module.device.backend.Build(code)
	if err != nil {
		return nil, err
	}
	r, err := t.trialOf(i, f, p)
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	r.owns = true
	return r, nil
}

// sum is equal for kernels that a driver is given as the same code.
func (c *Code) sum() string {
	h := sha256.New()
	fmt.Fprintf(h, "%d %s%s %+v %+v", len(c.Text), c.Text, c.Binary, c.Args, c.Shared)
	return string(h.Sum(nil))
}

// identity is equal for kernels of one code that are launched alike at the sizes
// of the run. It is empty where it cannot be found.
func (t *tuning) identity(f *function, sum string) string {
	x, err := t.module.device.extent(f, t.env)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%s %+v %v %v %d", sum, x, f.Tile, f.Near, len(f.Maps))
}

// dealt is the function of r, dealt out in another way.
func (r *trial) dealt(c entry.Strategy) *function {
	e := *r.function.Kernel
	e.Strategy = c
	return &function{Kernel: &e, args: r.function.args}
}

// spread is the kernel of r, dealt out in another way. r stays open meanwhile.
func (t *tuning) spread(r *trial, f *function) (*trial, error) {
	return t.trialOf(r.kernel, f, r.program)
}

func (t *tuning) trialOf(i int, f *function, p Program) (*trial, error) {
	r := &trial{session: t.session, kernel: i, function: f, program: p}
	if err := r.record(1); err != nil {
		return nil, errors.Join(err, r.close())
	}
	return r, nil
}

// record prepares runs that do the kernel so often.
func (r *trial) record(repeats int) error {
	s := r.session
	x, err := s.module.device.extent(r.function, s.env)
	if err != nil {
		return err
	}
	if err := r.release(); err != nil {
		return err
	}
	if x.slab > 0 {
		if r.slab, err = s.module.device.take(x.slab); err != nil {
			return err
		}
		r.held = int64(x.slab)
	}
	l := Launch{Name: s.module.plan.Kernels[r.kernel].Name, Kernel: r.function.Kernel, Args: r.function.args, Groups: x.workers, Items: x.local}
	if r.runs, err = r.program.Record(slices.Repeat([]Launch{l}, repeats)); err != nil {
		return err
	}
	r.repeats = repeats
	for n := range repeats {
		b := &boundKernel{launch: n, bound: make([]Memory, len(r.function.args)), words: s.kernels[r.kernel].words}
		if err := s.bindKernel(r.runs, r.function, b, x, r.slab); err != nil {
			return err
		}
		if err := s.bindMemory(r.runs, r.function, b, s.module.plan.Kernels[r.kernel]); err != nil {
			return err
		}
	}
	return nil
}

// time runs it and gives the seconds of one kernel.
func (r *trial) time() (float64, error) {
	start := time.Now()
	err := r.runs.Run()
	return time.Since(start).Seconds() / float64(r.repeats), err
}

// release gives back what record made.
func (r *trial) release() error {
	var err error
	if r.runs != nil {
		err = r.runs.Close()
	}
	if r.slab != nil {
		err = errors.Join(err, r.slab.Close())
		r.session.module.device.unreserve(r.held)
	}
	r.runs, r.slab = nil, nil
	return err
}

func (r *trial) close() error {
	err := r.release()
	if r.owns {
		err = errors.Join(err, r.program.Close())
	}
	return err
}

// written is the memory that a kernel writes, and what it was at some time.
type written struct {
	session *session
	parts   []part
}

type part struct {
	place
	updated  bool // the kernel reads it too
	contents []byte
}

// keep notes what a kernel updates, so that it may be run again. What it only
// writes is noted by more.
func (t *tuning) keep(i int) (*written, error) {
	w := &written{session: t.session}
	k := t.module.plan.Kernels[i]
	for n, p := range t.module.functions[i].Work.Params {
		if p.Use == loop.Write || p.Use == loop.Update {
			at := t.places[k.Args[n]]
			if at.size > 0 && at.mem != nil {
				w.parts = append(w.parts, part{place: at, updated: p.Use == loop.Update})
			}
		}
	}
	for n := range w.parts {
		if p := &w.parts[n]; p.updated {
			if err := w.read(p); err != nil {
				return nil, err
			}
		}
	}
	return w, nil
}

func (w *written) read(p *part) error {
	p.contents = make([]byte, p.size)
	return w.session.module.device.backend.Read(p.contents, p.mem, p.offset)
}

// updates tells whether the kernel reads what it writes.
func (w *written) updates() bool {
	return slices.ContainsFunc(w.parts, func(p part) bool { return p.updated })
}

// all notes everything as it is now.
func (w *written) all() (*written, error) {
	now := &written{session: w.session, parts: slices.Clone(w.parts)}
	for n := range now.parts {
		if err := w.read(&now.parts[n]); err != nil {
			return nil, err
		}
	}
	return now, nil
}

// restore brings back what was noted.
func (w *written) restore() error {
	for _, p := range w.parts {
		if p.contents == nil {
			continue
		}
		if err := w.session.module.device.backend.Write(p.mem, p.offset, p.contents); err != nil {
			return err
		}
	}
	return nil
}

// spoiled has every bit of what the kernel only writes turned round, so that a
// kernel is found out that leaves some of it as it is.
func (w *written) spoiled(before *written) *written {
	out := &written{session: w.session, parts: slices.Clone(w.parts)}
	for n, p := range out.parts {
		turned := make([]byte, len(p.contents))
		for i, b := range p.contents {
			turned[i] = ^b
		}
		if p.updated {
			turned = before.parts[n].contents
		}
		out.parts[n].contents = turned
	}
	return out
}

// same compares what is there now with what was noted.
func (w *written) same() (bool, error) {
	now, err := w.all()
	if err != nil {
		return false, err
	}
	for n := range w.parts {
		if !bytes.Equal(now.parts[n].contents, w.parts[n].contents) {
			return false, nil
		}
	}
	return true, nil
}
