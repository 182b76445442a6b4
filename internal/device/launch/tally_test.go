package launch_test

import (
	"sync/atomic"

	"github.com/sinterml/sinter/internal/device/launch"
)

// tally is a toy that counts the kernels that it runs and the blocks of memory
// that there are.
type tally struct {
	launch.Backend
	kernels, blocks atomic.Int64
	before, after   func() // each run of a recording, if set
}

type tallyMemory struct {
	launch.Memory
	of *tally
}

func (m *tallyMemory) Close() error {
	m.of.blocks.Add(-1)
	return m.Memory.Close()
}

func (c *tally) Alloc(n int) (launch.Memory, error) {
	m, err := c.Backend.Alloc(n)
	if err != nil {
		return nil, err
	}
	c.blocks.Add(1)
	return &tallyMemory{m, c}, nil
}

func of(m launch.Memory) launch.Memory {
	if m == nil {
		return nil
	}
	return m.(*tallyMemory).Memory
}

func (c *tally) Write(to launch.Memory, offset int, p []byte) error {
	return c.Backend.Write(of(to), offset, p)
}

func (c *tally) Read(p []byte, from launch.Memory, offset int) error {
	return c.Backend.Read(p, of(from), offset)
}

func (c *tally) Copy(to, from launch.Memory, n int) error {
	return c.Backend.Copy(of(to), of(from), n)
}

func (c *tally) Zero(m launch.Memory, n int) error { return c.Backend.Zero(of(m), n) }

func (c *tally) Build(code *launch.Code) (launch.Program, error) {
	p, err := c.Backend.Build(code)
	return &tallyProgram{p, c}, err
}

type tallyProgram struct {
	launch.Program
	of *tally
}

func (p *tallyProgram) Record(l []launch.Launch) (launch.Recording, error) {
	r, err := p.Program.Record(l)
	return &tallyRecording{r, p.of, len(l)}, err
}

type tallyRecording struct {
	launch.Recording
	of *tally
	n  int
}

func (r *tallyRecording) SetMemory(l, arg int, m launch.Memory) error {
	return r.Recording.SetMemory(l, arg, of(m))
}

func (r *tallyRecording) Run() error {
	r.of.kernels.Add(int64(r.n))
	if r.of.before != nil {
		r.of.before()
	}
	err := r.Recording.Run()
	if r.of.after != nil {
		r.of.after()
	}
	return err
}
