// Package devcheck checks a device with the short suite, in a time that its user
// waits for, and tells what came of it step by step.
package devcheck

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/suite"
	"github.com/sinterml/sinter/internal/emit/entry"
)

// Kinds of steps.
const (
	Format = "format" // a number format that products compute in
	Rule   = "rule"   // of arithmetic: one that is not kept is no failure
	Case   = "case"
)

// Step is one thing that is checked.
type Step struct {
	Kind    string  `json:"kind"`
	Name    string  `json:"name"`
	OK      bool    `json:"ok"`
	Refused bool    `json:"refused,omitempty"` // with an error when it was compiled, as the device lacks what it needs
	Late    bool    `json:"late,omitempty"`    // time was too short for it
	Seconds float64 `json:"seconds"`           // of cases that were one program each has a share
	Error   string  `json:"error,omitempty"`
	Graph   string  `json:"graph,omitempty"`
	Sizes   string  `json:"sizes,omitempty"`
	// The first elements that are wrong.
	Elements []string `json:"elements,omitempty"`
}

// step is one to be run.
type step struct {
	kind, name string
	run        func(ctx context.Context, d suite.Runner) error
	c          *suite.Case // of a step that is one
}

// togetherCases are those of one program at most: a driver's compiler takes its
// time for each program and for what several cases share, and a group that fails
// is run again case by case.
const togetherCases = 8

// job is steps that are run together: all but one are cases.
type job struct{ From, To int }

// plan is all steps, those first that most depends on, and how they are run.
var plan = sync.OnceValues(func() ([]step, []job) {
	var all []step
	for _, f := range suite.Formats() {
		all = append(all, step{kind: Format, name: f.Name, run: f.Try})
	}
	for _, r := range suite.Rules() {
		all = append(all, step{kind: Rule, name: r.Name, run: func(ctx context.Context, d suite.Runner) error { return r.Run(ctx, d, device.Options{}) }})
	}
	var jobs []job
	for i := range all {
		jobs = append(jobs, job{i, i + 1})
	}
	groups, err := suite.Groups(suite.Short(), func(*suite.Case) bool { return false })
	if err != nil { // a case that cannot be built says so when it is run
		groups = []*suite.Group{{Members: suite.Short()}}
	}
	for _, g := range groups {
		for some := range slices.Chunk(g.Members, togetherCases) {
			jobs = append(jobs, job{len(all), len(all) + len(some)})
			for _, c := range some {
				all = append(all, step{Case, c.Name, func(ctx context.Context, d suite.Runner) error { return c.Run(ctx, d, device.Options{}) }, c})
			}
		}
	}
	return all, jobs
})

// Steps is how many there are.
func Steps() int {
	all, _ := plan()
	return len(all)
}

// workers is how many steps, or processes, run at once.
func workers() int { return min(4, max(1, runtime.GOMAXPROCS(0))) }

// Run checks a device, step by step. Steps that have not begun at the deadline are
// late. each is told when a step has ended, one call at a time.
func Run(ctx context.Context, d suite.Runner, deadline time.Time, each func(Step)) error {
	todo := make(chan step)
	var telling sync.Mutex
	var wait sync.WaitGroup
	for range workers() {
		wait.Go(func() {
			for s := range todo {
				result := Step{Kind: s.kind, Name: s.name, Late: true}
				if time.Now().Before(deadline) {
					result = s.try(ctx, d)
				}
				if ctx.Err() == nil {
					telling.Lock()
					each(result)
					telling.Unlock()
				}
			}
		})
	}
	all, _ := plan()
	for _, s := range all {
		todo <- s
	}
	close(todo)
	wait.Wait()
	return ctx.Err()
}

// try runs a step.
func (s step) try(ctx context.Context, d suite.Runner) Step {
	begun := time.Now()
	result := resultOf(s, s.run(ctx, d))
	result.Seconds = time.Since(begun).Seconds()
	return result
}

// resultOf describes what became of a step, with what a bug report needs.
func resultOf(s step, err error) Step {
	r := Step{Kind: s.kind, Name: s.name, OK: err == nil}
	if err == nil {
		return r
	}
	r.Error = err.Error()
	var unsupported *entry.UnsupportedError
	r.Refused = errors.As(err, &unsupported)
	var failure *suite.Failure
	if errors.As(err, &failure) {
		r.Error, r.Graph = failure.Err.Error(), failure.Graph
		if failure.Env != nil {
			r.Sizes = fmt.Sprint(failure.Env)
		}
	}
	var d *suite.Difference
	if errors.As(err, &d) {
		for _, e := range d.Elements {
			r.Elements = append(r.Elements, e.Text(d.DType))
		}
	}
	return r
}
