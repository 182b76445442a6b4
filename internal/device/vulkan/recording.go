package vulkan

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/sinterml/sinter/internal/device/launch"
	"github.com/sinterml/sinter/internal/device/vulkan/vk"
)

// pushBytes of push constants are the address of a launch's arguments.
const pushBytes = 8

// argBytes is what each argument takes: an address or a 64-bit integer.
const argBytes = 8

type program struct {
	backend *backend
	*vk.Program
}

// EndedEarlyError is a run in which the device left a loop before its end, as
// Mesa's software renderer does after 65,535 iterations of a work-item. Nothing
// of it can be used.
type EndedEarlyError struct{ Kernel string }

func (e *EndedEarlyError) Error() string {
	return fmt.Sprintf("vulkan: the driver ended a loop of kernel %s before its time, as Mesa's software renderer does after 65,535 iterations: use the cpu device, or smaller tensors", e.Kernel)
}

// recording is a list of commands, and the arguments of its launches in one
// block of memory, to which the commands lead: what is set in them changes what
// the next run does, and nothing is recorded anew.
type recording struct {
	program  *program
	commands *vk.Commands
	timed    *vk.Commands // the same with stamps; nil: nobody has asked when launches ran
	args     *vk.Memory   // nil without launches
	launches []launch.Launch
	places   []int // of each launch's first argument in args
	watched  bool  // behind them lies whether a loop ended before its time
}

func (p *program) Record(launches []launch.Launch) (launch.Recording, error) {
	r := &recording{program: p, launches: launches, watched: p.backend.options.LoopsEnd}
	n := 0
	for _, l := range launches {
		r.places = append(r.places, n)
		n += (len(l.Args) + 1) * argBytes
	}
	if err := r.record(n); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// record makes room for arguments and writes the commands. Each launch waits for
// those before it: plans are chains, but for few kernels.
func (r *recording) record(argsSize int) (err error) {
	d := r.program.backend.device
	if argsSize > 0 {
		if r.args, err = d.Alloc(argsSize, vk.Arguments); err != nil {
			return err
		}
		clear(r.args.Host[:argsSize])
	}
	if r.commands, err = d.Record(); err != nil {
		return err
	}
	return r.list(r.commands, func() error { return nil })
}

// list writes the commands of the launches, and has stamp note where they begin and
// end.
func (r *recording) list(c *vk.Commands, stamp func() error) error {
	if err := stamp(); err != nil {
		return err
	}
	for i, l := range r.launches {
		if i > 0 {
			c.Barrier()
		}
		push := binary.LittleEndian.AppendUint64(nil, r.args.Address+uint64(r.places[i]))
		if err := c.Dispatch(r.program.Program, l.Kernel.Entry, push, l.Groups); err != nil {
			return err
		}
		if err := stamp(); err != nil {
			return err
		}
	}
	return c.End()
}

func (r *recording) set(at, arg int, word uint64) {
	binary.LittleEndian.PutUint64(r.args.Host[r.places[at]+arg*argBytes:], word)
}

func (r *recording) SetMemory(at, arg int, m launch.Memory) error {
	var address uint64
	if mem, ok := m.(*vk.Memory); ok {
		address = mem.Address
	}
	r.set(at, arg, address)
	return nil
}

func (r *recording) SetInt(at, arg int, n int64) error {
	r.set(at, arg, uint64(n))
	return nil
}

func (r *recording) Run() error { return r.run(r.commands) }

// RunTimed runs a list with stamps between the launches.
func (r *recording) RunTimed(spans []launch.Span) (err error) {
	if r.timed == nil {
		if r.timed, err = r.program.backend.device.RecordStamped(len(r.launches) + 1); err != nil {
			return err
		}
		if err := r.list(r.timed, r.timed.Stamp); err != nil {
			err = errors.Join(err, r.timed.Close())
			r.timed = nil
			return err
		}
	}
	if err := r.run(r.timed); err != nil {
		return err
	}
	stamps, err := r.timed.Stamps()
	if err != nil {
		return launch.Begun(err)
	}
	for i := range r.launches {
		spans[i] = launch.Span{Begin: stamps[i], End: stamps[i+1]}
	}
	return nil
}

func (r *recording) run(c *vk.Commands) error {
	err := c.Submit()
	if err == nil {
		err = launch.Begun(c.Wait())
	}
	if err != nil || !r.watched {
		return err
	}
	for i, l := range r.launches {
		if ended := r.args.Host[r.places[i]+len(l.Args)*argBytes:]; ended[0] != 0 {
			err = &EndedEarlyError{Kernel: l.Name}
			ended[0] = 0
		}
	}
	return err
}

func (r *recording) Close() error {
	var err error
	for _, c := range []*vk.Commands{r.commands, r.timed} {
		if c != nil {
			err = errors.Join(err, c.Close())
		}
	}
	if r.args != nil {
		err = errors.Join(err, r.args.Close())
	}
	return err
}
