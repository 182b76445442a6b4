// Package devcheck checks a device with the short suite, in a time that its user
// waits for, and tells what came of it step by step.
package devcheck

import (
	"context"
	"errors"
	"fmt"
	"runtime"
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
	Begun   bool    `json:"begun,omitempty"` // it has only begun
	OK      bool    `json:"ok"`
	Refused bool    `json:"refused,omitempty"` // with an error when it was compiled, as the device lacks what it needs
	Late    bool    `json:"late,omitempty"`    // time was too short for it
	Seconds float64 `json:"seconds"`
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
}

// steps are all, those first that most depends on.
func steps() []step {
	var all []step
	for _, f := range suite.Formats() {
		all = append(all, step{Format, f.Name, f.Try})
	}
	for _, r := range suite.Rules() {
		all = append(all, step{Rule, r.Name, func(ctx context.Context, d suite.Runner) error { return r.Run(ctx, d, device.Options{}) }})
	}
	for _, c := range suite.Short() {
		all = append(all, step{Case, c.Name, func(ctx context.Context, d suite.Runner) error { return c.Run(ctx, d, device.Options{}) }})
	}
	return all
}

// Steps is how many there are.
func Steps() int { return len(steps()) }

// workers is how many steps run at once: drivers compile on one thread each.
func workers() int { return min(4, max(1, runtime.GOMAXPROCS(0))) }

// Run checks a device. Steps that have not begun at the deadline are late. each
// is told when a step begins and when it has ended, one call at a time.
func Run(ctx context.Context, d suite.Runner, deadline time.Time, each func(Step)) error {
	todo := make(chan step)
	var telling sync.Mutex
	tell := func(s Step) {
		telling.Lock()
		defer telling.Unlock()
		each(s)
	}
	var wait sync.WaitGroup
	for range workers() {
		wait.Go(func() {
			for s := range todo {
				if time.Now().After(deadline) {
					tell(Step{Kind: s.kind, Name: s.name, Late: true})
					continue
				}
				tell(Step{Kind: s.kind, Name: s.name, Begun: true})
				begun := time.Now()
				result := resultOf(s, s.run(ctx, d))
				result.Seconds = time.Since(begun).Seconds()
				if ctx.Err() == nil {
					tell(result)
				}
			}
		})
	}
	for _, s := range steps() {
		todo <- s
	}
	close(todo)
	wait.Wait()
	return ctx.Err()
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
