package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// progress is a bar on a terminal, and nothing elsewhere. The zero value draws
// nothing.
type progress struct {
	w     io.Writer // nil: not drawn
	what  string
	total int64
	done  int64
	drawn time.Time
	width int // of what was drawn last
}

// startProgress counts up to total on standard error.
func (a *app) startProgress(what string, total int64) *progress {
	p := &progress{what: what, total: total}
	if !a.settings.quiet && isTerminal(a.stderr) {
		p.w = a.stderr
	}
	return p
}

func (p *progress) add(n int64) {
	if p.due(n) {
		p.draw(p.bar())
	}
}

// due counts, and tells whether it is time to draw.
func (p *progress) due(n int64) bool {
	const interval = 100 * time.Millisecond
	p.done += n
	if p.w == nil || time.Since(p.drawn) < interval {
		return false
	}
	p.drawn = time.Now()
	return true
}

func (p *progress) bar() string {
	const cells = 30
	share := 1.0
	if p.total > 0 {
		share = min(1, float64(p.done)/float64(p.total))
	}
	full := int(share * cells)
	return fmt.Sprintf("%s [%s%s] %3.0f %%", p.what, strings.Repeat("=", full), strings.Repeat(" ", cells-full), share*100)
}

// draw writes over what stands on the line.
func (p *progress) draw(text string) {
	fmt.Fprintf(p.w, "\r%-*s", p.width, text)
	p.width = len(text)
}

// end clears the line.
func (p *progress) end() {
	if p.w != nil && p.width > 0 {
		p.draw("")
		fmt.Fprint(p.w, "\r")
		p.width = 0
	}
}

// rate is a count that grows, on a terminal, with its speed. The zero value
// draws nothing.
type rate struct {
	progress
	unit  string
	start time.Time
}

// startRate counts on standard error where that is a terminal that nothing
// else is written to: alone says so.
func (a *app) startRate(what, unit string, alone bool) *rate {
	r := &rate{unit: unit, start: time.Now()}
	if alone {
		r.progress = *a.startProgress(what, 0)
	}
	return r
}

func (r *rate) add(n int64) {
	if r.due(n) {
		r.draw(fmt.Sprintf("%s: %d %s, %.0f/s", r.what, r.done, r.unit, float64(r.done)/time.Since(r.start).Seconds()))
	}
}
