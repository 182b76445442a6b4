package cuda

import (
	"errors"
	"sync"
	"time"

	"github.com/sinterml/sinter/internal/device/cuda/cu"
	"github.com/sinterml/sinter/internal/device/launch"
	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/emit/ptx"
)

// program is a module with the functions that were asked for.
type program struct {
	backend *backend
	*cu.Module
	code []byte // nil where the driver gave none

	mu        sync.Mutex
	functions map[string]*cu.Function
}

func (p *program) function(name string) (*cu.Function, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f := p.functions[name]; f != nil {
		return f, nil
	}
	f, err := p.Function(name)
	if err != nil {
		return nil, err
	}
	if p.functions == nil {
		p.functions = map[string]*cu.Function{}
	}
	p.functions[name] = f
	return f, nil
}

// recording is a graph, made by the first run, when all arguments are there.
type recording struct {
	backend  *backend
	launches []*cu.Launch
	graph    *cu.Graph
	changed  []bool // launches whose arguments the graph does not have
	words    *cu.Host
}

func (p *program) Record(launches []launch.Launch) (launch.Recording, error) {
	r := &recording{backend: p.backend, changed: make([]bool, len(launches))}
	for _, l := range launches {
		f, err := p.function(l.Kernel.Entry)
		if err != nil {
			return nil, err
		}
		prepared, err := cu.NewLaunch(f, l.Groups, l.Items, p.backend.target.Dynamic(l.Kernel), len(l.Args))
		if err != nil {
			return nil, err
		}
		for i, a := range l.Args {
			if a.Kind == entry.ArgMap { // the driver copies it, whether it is read or not
				prepared.SetMap(i, &cu.TensorMap{})
			}
		}
		r.launches = append(r.launches, prepared)
	}
	return r, nil
}

func (r *recording) SetMemory(at, arg int, m launch.Memory) error {
	var address cu.Pointer
	if mem, ok := m.(*cu.Memory); ok && mem != nil {
		address = mem.Pointer
	}
	return r.SetInt(at, arg, int64(address))
}

func (r *recording) SetInt(at, arg int, n int64) error {
	if r.launches[at].Set(arg, uint64(n)) {
		r.changed[at] = true
	}
	return nil
}

// SetMap has the driver describe a matrix, once for each memory that it lies in.
func (r *recording) SetMap(at, arg int, m launch.Memory, of entry.Mapped) (bool, error) {
	mem, ok := m.(*cu.Memory)
	if !ok || mem == nil || !ptx.Mappable(uint64(mem.Pointer), of) {
		return false, nil
	}
	encoded, err := r.backend.context.NewTensorMap(mem.Pointer+cu.Pointer(of.Offset), of.Bytes, of.Sizes, of.Strides, of.Box)
	if errors.Is(err, cu.InvalidValue) { // a driver that allows less than Mappable knows of
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if r.launches[at].SetMap(arg, encoded) {
		r.changed[at] = true
	}
	return true, nil
}

// Run starts the graph, with the arguments that were set, and waits for it.
func (r *recording) Run() error { return r.run(nil) }

// RunAndRead copies to memory that the device writes by itself, behind the graph.
func (r *recording) RunAndRead(p []byte, from launch.Memory) (err error) {
	if r.words == nil {
		if r.words, err = r.backend.context.AllocHost(len(p)); err != nil {
			return err
		}
		clear(r.words.Bytes)
	}
	err = r.run(&cu.Fetch{To: r.words, From: from.(*cu.Memory)})
	copy(p, r.words.Bytes)
	return err
}

func (r *recording) run(f *cu.Fetch) error {
	if len(r.launches) == 0 {
		return nil
	}
	if err := r.update(); err != nil {
		return err
	}
	s, err := r.backend.runs.Take()
	if err != nil {
		return err
	}
	defer r.backend.runs.Give(s)
	err = r.graph.Run(s, f)
	if e, ok := errors.AsType[*cu.Error](err); ok && e.Call == cu.CallGraphLaunch {
		return err // which starts all of the graph or nothing
	}
	return launch.Begun(err)
}

// RunTimed has a graph of its own, with events between the launches.
func (r *recording) RunTimed(spans []launch.Span) error {
	if len(r.launches) == 0 {
		return nil
	}
	s, err := r.backend.runs.Take()
	if err != nil {
		return err
	}
	defer r.backend.runs.Give(s)
	took := make([]time.Duration, len(r.launches))
	begun, err := s.RunTimed(r.launches, took)
	if err != nil {
		if begun {
			err = launch.Begun(err)
		}
		return err
	}
	var at time.Duration
	for i, d := range took {
		spans[i] = launch.Span{Begin: at, End: at + d}
		at += d
	}
	return nil
}

// update brings the graph up to date.
func (r *recording) update() (err error) {
	if r.graph == nil {
		if r.graph, err = r.backend.context.NewGraph(r.launches); err != nil {
			return err
		}
		clear(r.changed)
		return nil
	}
	for i, changed := range r.changed {
		if !changed {
			continue
		}
		if err := r.graph.Update(i); err != nil {
			return err
		}
		r.changed[i] = false
	}
	return nil
}

func (r *recording) Close() error {
	var err error
	if r.graph != nil {
		err = r.graph.Close()
	}
	if r.words != nil {
		err = errors.Join(err, r.words.Close())
	}
	return err
}
