package devcheck

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"sync"
	"time"
)

// patience is how long one step may take before the driver hangs, and how long
// several may as one program.
const patience = 15 * time.Second

// Limits are times of a check.
type Limits struct {
	Begin time.Time // no step begins after, some time before End
	End   time.Time // none runs after
}

// InProcesses checks a device in several processes at once, each of which calls
// Serve: drivers compile on one thread in each. A process runs one job at a time,
// so that a driver that crashes or hangs names the step; several steps that are
// one program and fail, crash or hang are run again one by one. The error is a
// fault of the driver, beside the steps.
func InProcesses(ctx context.Context, command func() *exec.Cmd, l Limits, each func(Step)) error {
	all, jobs := plan()
	return newPool(ctx, command, l, each, all, jobs).run(workers())
}

// pool hands jobs to processes.
type pool struct {
	ctx     context.Context
	command func() *exec.Cmd
	Limits
	patience time.Duration
	all      []step

	mu     sync.Mutex // of all below, and while each is told
	change *sync.Cond // of jobs and busy
	each   func(Step)
	jobs   []job
	busy   int  // jobs that are run
	alone  bool // groups hang: the machine may be slow
	fault  error
	opened bool
	found  map[int]bool // steps that ended and did not pass
	failed []groupFault
}

// groupFault is a group that failed.
type groupFault struct {
	job
	reason string
}

func newPool(ctx context.Context, command func() *exec.Cmd, l Limits, each func(Step), all []step, jobs []job) *pool {
	p := &pool{ctx: ctx, command: command, Limits: l, patience: patience, all: all, each: each, jobs: append([]job{}, jobs...), found: map[int]bool{}}
	p.change = sync.NewCond(&p.mu)
	return p
}

func (p *pool) run(processes int) error {
	var wait sync.WaitGroup
	var unopened error
	for range processes {
		wait.Go(func() {
			if err := p.work(); err != nil {
				p.mu.Lock()
				defer p.mu.Unlock()
				unopened = cmp.Or(unopened, err)
				if errors.As(err, new(*crash)) {
					p.fault = cmp.Or(p.fault, err)
				}
			}
		})
	}
	wait.Wait()
	if p.ctx.Err() != nil {
		return p.ctx.Err()
	}
	if !p.opened && unopened != nil {
		return unopened
	}
	if len(p.jobs) > 0 { // time is up, or no process is left
		p.fault = cmp.Or(p.fault, unopened)
	}
	for _, j := range p.jobs {
		p.end(j, answer{Steps: p.steps(j, func(s *Step) { s.Late = true })})
	}
	p.unexplained()
	return p.fault
}

// work runs jobs in a process, and in another after one that has crashed. The error
// is that of a process that could not open the device, which is no fault where
// others can: a driver may allow one alone.
func (p *pool) work() error {
	var k *child
	for {
		j, ok := p.next()
		if !ok {
			break
		}
		if k == nil {
			var err error
			if k, err = start(p.ctx, p.command(), min(patience, time.Until(p.End))); err != nil {
				p.giveBack(j)
				return err
			}
		}
		limit := time.Until(p.End)
		if j.To > j.From+1 {
			limit = min(limit, p.patience)
		}
		begun := time.Now()
		a, err := k.run(p.ctx, j, limit)
		if err != nil {
			k = nil
		}
		p.done(j, a, err, time.Since(begun))
	}
	if k == nil {
		return nil
	}
	err := k.close(p.ctx, time.Until(p.End))
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault = cmp.Or(p.fault, err)
	return nil
}

// next takes a job. While there is none, one that is run may bring some.
func (p *pool) next() (job, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		if p.ctx.Err() != nil || !time.Now().Before(p.Begin) || len(p.jobs) == 0 && p.busy == 0 {
			return job{}, false
		}
		if len(p.jobs) == 0 {
			p.change.Wait()
			continue
		}
		if p.alone {
			p.apart(0)
		}
		j := p.jobs[0]
		p.jobs = p.jobs[1:]
		p.busy++
		return j, true
	}
}

// apart makes a job of each step of the i-th job.
func (p *pool) apart(i int) {
	j := p.jobs[i]
	p.jobs = append(singles(j), append(p.jobs[:i:i], p.jobs[i+1:]...)...)
}

func singles(j job) []job {
	var all []job
	for i := j.From; i < j.To; i++ {
		all = append(all, job{i, i + 1})
	}
	return all
}

func (p *pool) giveBack(j job) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.jobs = append([]job{j}, p.jobs...)
	p.busy--
	p.change.Broadcast()
}

// done takes up what came of a job.
func (p *pool) done(j job, a answer, err error, took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.change.Broadcast()
	p.busy--
	p.opened = true
	if p.ctx.Err() != nil {
		return
	}
	late, several := errors.Is(err, errTime), j.To > j.From+1
	if err != nil && !late {
		p.fault = cmp.Or(p.fault, err)
	}
	switch {
	case several && late: // that each takes long is no fault
		p.alone = true
		p.jobs = append(singles(j), p.jobs...)
	case several && (err != nil || a.Fault != ""):
		reason := a.Fault
		if err != nil {
			reason = err.Error()
		}
		p.failed = append(p.failed, groupFault{j, reason})
		p.jobs = append(singles(j), p.jobs...)
	case late && took < p.patience:
		p.end(j, answer{Steps: p.steps(j, func(s *Step) { s.Late, s.Seconds = true, took.Seconds() })})
	case err != nil:
		reason := err.Error()
		if late {
			reason = fmt.Sprintf("the driver does not answer within %.0f s", took.Seconds())
			p.fault = cmp.Or(p.fault, fmt.Errorf("%s: %s", p.all[j.From].name, reason))
		}
		p.end(j, answer{Steps: p.steps(j, func(s *Step) { s.Error, s.Seconds = reason, took.Seconds() })})
	default:
		p.end(j, a)
	}
}

// steps are those of a job.
func (p *pool) steps(j job, change func(*Step)) []Step {
	var all []Step
	for _, s := range p.all[j.From:j.To] {
		all = append(all, Step{Kind: s.kind, Name: s.name})
		change(&all[len(all)-1])
	}
	return all
}

// end tells of steps that have ended.
func (p *pool) end(j job, a answer) {
	for i, s := range a.Steps {
		p.found[j.From+i] = !s.OK && !s.Late
		p.each(s)
	}
}

// unexplained tells of groups that failed though each of their cases passed, or was
// late.
func (p *pool) unexplained() {
	for _, f := range p.failed {
		known := false
		for i := f.From; i < f.To; i++ {
			known = known || p.found[i]
		}
		if !known {
			p.each(Step{Kind: Case, Name: p.all[f.From].name + " to " + p.all[f.To-1].name + ", as one program", Error: f.reason})
		}
	}
}
