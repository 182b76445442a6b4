// Package probe finds out what drivers have to offer without calling them: a
// child process does, since a driver may hang or crash. What it learned is kept
// on disk until a driver or what it depends on changes.
package probe

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sinterml/sinter/internal/device"
)

// Result is what is known of a device.
type Result struct {
	device.Entry
	Checked bool   // it was asked to compute something
	Fault   string // and what went wrong with that
	// Start is how long its drivers took to list and to open it, Product the time
	// of one that all devices are compared by. They are 0 for software, and where
	// Untimed says what went wrong.
	Start   time.Duration
	Product time.Duration
	Untimed string
}

// timed tells that there is no more to learn about its speed.
func (r *Result) timed() bool { return r.Software || r.Product > 0 || r.Untimed != "" }

// Works tells whether the device is there and computed what it should have.
func (r *Result) Works() bool { return r.Reason == "" && r.Checked && r.Fault == "" }

// Prober asks drivers. The zero value but for Command works, and keeps nothing.
type Prober struct {
	// Command makes the child, which is to call Child for the drivers of a kind;
	// all says that software devices are to be checked too.
	Command func(kind string, all bool) *exec.Cmd
	Limit   time.Duration // for which the child may say nothing; 0: Limit
	Whole   time.Duration // that the child may take; 0: Whole
	Dir     string        // where results are kept; "": nowhere
	Memory  *sync.Map     // where they are kept within the process; nil: nowhere
}

const (
	// Limit is for how long a child may say nothing: it does so when it has listed
	// the devices, which takes seconds where there are many, and after each thing
	// that it has tried with one.
	Limit = 15 * time.Second
	// Whole is what a child may take, however much it says.
	Whole = 2 * time.Minute
)

// Kept is what was learned earlier, if nothing has changed since, or else
// Fresh.
func (p *Prober) Kept(ctx context.Context, d device.Driver, all bool) ([]Result, error) {
	if rs, ok := p.load(d); ok && (!all || allChecked(rs)) {
		return rs, nil
	}
	return p.Fresh(ctx, d, all)
}

func anyFault(rs []Result) bool {
	return slices.ContainsFunc(rs, func(r Result) bool { return r.Fault != "" })
}

func allChecked(rs []Result) bool {
	return !slices.ContainsFunc(rs, func(r Result) bool { return r.Reason == "" && !r.Checked })
}

// Fresh asks the drivers of a kind. Whatever they do, there is a result; the
// only error is that of ctx.
func (p *Prober) Fresh(ctx context.Context, d device.Driver, all bool) ([]Result, error) {
	before := stampsOf(d.Watch)
	a := p.ask(ctx, d.Name, all)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	// What changed meanwhile is asked for again next time.
	p.save(d, record{Time: time.Now(), Stamps: append(before, stampsOf(a.loaded)...), Environment: environment(d), Results: a.results, Failed: a.failed || anyFault(a.results)})
	return a.results, nil
}

// answer is what came of asking.
type answer struct {
	results []Result
	loaded  []string // libraries that the drivers are made of
	failed  bool     // the child did not get to its end
}

func (p *Prober) ask(ctx context.Context, kind string, all bool) answer {
	limit, whole := cmp.Or(p.Limit, Limit), cmp.Or(p.Whole, Whole)
	c := p.Command(kind, all)
	out, complaints := &bounded{limit: maxOutput, told: make(chan struct{}, 1)}, &bounded{limit: maxOutput}
	c.Stdout, c.Stderr = out, complaints
	err := runFor(ctx, c, limit, whole, out.told)
	var a answer
	ended := parse(out.bytes(), &a)
	if ended {
		return a
	}
	reason := Reason(err, limit, complaints.bytes())
	if len(a.results) == 0 {
		const remedy = "update or remove it; other devices are not concerned"
		a.results = []Result{{Entry: device.Absent(kind, &device.MissingError{Reason: "the driver " + reason, Remedy: remedy})}}
	}
	fault, rest := "the driver "+reason+" while it computes", "another device of its driver failed"
	if errors.Is(err, errSlow) {
		fault = fmt.Sprintf("time ran out: all devices of its driver together take longer than %v", whole)
		rest = fault
	}
	a.fail(all, fault, rest)
	return a
}

// fail says of the first device with which the child was not done what went wrong,
// and of those after it why they were not checked.
func (a *answer) fail(all bool, fault, rest string) {
	a.failed = true
	for i := range a.results {
		r := &a.results[i]
		if r.Reason != "" || r.Fault != "" || r.Software && !all {
			continue
		}
		switch {
		case !r.Checked:
			r.Checked, r.Fault = true, fault
		case !r.timed():
			r.Untimed = fault
		case r.Software && len(r.DTypes) == 0:
		default:
			continue
		}
		fault = "not checked: " + rest
	}
}

// runFor runs a command for no longer than whole, nor than limit after it told
// something last. One that cannot even be killed, as its driver hangs in the
// kernel, is left behind.
func runFor(ctx context.Context, c *exec.Cmd, limit, whole time.Duration, told <-chan struct{}) error {
	if err := c.Start(); err != nil {
		return fmt.Errorf("could not be asked: %w", err)
	}
	ended := make(chan error, 1)
	c.WaitDelay = time.Second
	go func() { ended <- c.Wait() }()
	err, over := watch(ctx, ended, told, limit, whole)
	if over {
		return err
	}
	_ = c.Process.Kill()
	select {
	case <-ended:
	case <-time.After(2 * time.Second):
	}
	return err
}

// watch waits for the end, and tells whether it came; if not the error says why
// nobody waits any more.
func watch(ctx context.Context, ended <-chan error, told <-chan struct{}, limit, whole time.Duration) (err error, over bool) {
	silence, all := time.NewTimer(limit), time.NewTimer(whole)
	defer silence.Stop()
	defer all.Stop()
	for {
		select {
		case err := <-ended:
			return err, true
		case <-told:
			silence.Reset(limit)
		case <-ctx.Done():
			return ctx.Err(), false
		case <-all.C:
			return errSlow, false
		case <-silence.C:
			return errHangs, false
		}
	}
}

var errHangs, errSlow = errors.New("hangs"), errors.New("took too long for its devices together")

// Reason says how a child ended that did not get to its end, with the last
// words of the driver.
func Reason(err error, limit time.Duration, complaints []byte) string {
	words, fault := crash(complaints)
	var exit *exec.ExitError
	var reason string
	switch {
	case errors.Is(err, errHangs):
		reason = fmt.Sprintf("does not answer within %v", limit)
	case fault != "":
		reason = "crashes: " + fault
	case errors.As(err, &exit):
		reason = "ends the program that opens it: " + exit.ProcessState.String()
	case err != nil:
		return err.Error()
	default:
		reason = "ends the program that opens it"
	}
	if words != "" {
		reason += ", after saying: " + words
	}
	return reason
}

// crash takes what a process of Go wrote when it ended apart: the signal, and
// the line before, which is the driver's.
func crash(complaints []byte) (words, signal string) {
	for line := range strings.Lines(strings.ToValidUTF8(string(complaints), "?")) {
		line = strings.TrimSpace(line)
		text, sent := strings.CutPrefix(line, "[signal ")
		switch {
		case sent || strings.HasPrefix(line, "SIG"):
			text, _, _ = strings.Cut(text, " code=")
			return words, text
		case line != "" && !strings.HasPrefix(line, "fatal error: ") && !strings.HasPrefix(line, "panic: ") && !strings.HasPrefix(line, "unexpected fault "):
			runes := []rune(line)
			words = string(runes[:min(len(runes), 200)])
		}
	}
	return words, ""
}

// maxOutput bounds what a child is listened to.
const maxOutput = 1 << 20

// bounded keeps the first bytes that are written to it, and drops the others.
type bounded struct {
	limit int
	told  chan struct{} // has room for one: that a child's line came; or nil
	mu    sync.Mutex    // a child that was left behind still writes
	b     bytes.Buffer
}

func (w *bounded) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.b.Write(p[:min(len(p), w.limit-w.b.Len())])
	if bytes.Contains(p, []byte(mark)) {
		select {
		case w.told <- struct{}{}:
		default:
		}
	}
	return len(p), nil
}

func (w *bounded) bytes() []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	return bytes.Clone(w.b.Bytes())
}

// mark begins the child's lines: drivers print on standard output too.
const mark = "sinter-probe "

// message is a line of the child. Each says one thing.
type message struct {
	Entries []device.Entry `json:",omitempty"` // all there are
	Loaded  []string       `json:",omitempty"` // libraries, after listing
	Checked string         `json:",omitempty"` // the name of a device
	Fault   string         `json:",omitempty"` // of that
	Tried   string         `json:",omitempty"` // the name of a device
	DTypes  []string       `json:",omitempty"` // that it computes in
	Rules   []string       `json:",omitempty"` // that it keeps
	Timed   string         `json:",omitempty"` // the name of a device
	Start   time.Duration  `json:",omitempty"` // of that, as Product and Untimed are
	Product time.Duration  `json:",omitempty"`
	Untimed string         `json:",omitempty"`
	End     bool           `json:",omitempty"`
}

// parse reads what a child wrote, and tells whether it is all.
func parse(out []byte, a *answer) (ended bool) {
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, maxOutput+1)
	for lines.Scan() {
		_, text, ours := strings.Cut(lines.Text(), mark)
		var m message
		if !ours || json.Unmarshal([]byte(text), &m) != nil {
			continue
		}
		for _, e := range m.Entries {
			a.results = append(a.results, Result{Entry: e})
		}
		for i := range a.results {
			r := &a.results[i]
			if m.Checked != "" && r.Name == m.Checked {
				r.Checked, r.Fault = true, m.Fault
			}
			if m.Tried != "" && r.Name == m.Tried {
				r.DTypes, r.Rules = m.DTypes, m.Rules
			}
			if m.Timed != "" && r.Name == m.Timed {
				r.Start, r.Product, r.Untimed = m.Start, m.Product, m.Untimed
			}
		}
		a.loaded = append(a.loaded, m.Loaded...)
		ended = ended || m.End
	}
	return ended
}

// Tests are what the child does with a device, each once, in this order.
type Tests struct {
	Open    func(device.Entry) error
	Check   func() error                                // that it computes what it should
	Try     func() (formats, rules []string, err error) // the formats in which it does, and what rules it keeps
	Product func() (time.Duration, error)
	Close   func() error
}

// Child is the other side: it asks a driver, and checks each device that it has,
// software only if all is set. Devices that pass and are not software are timed.
func Child(w io.Writer, d device.Driver, all bool, t Tests) error {
	send := func(m message) error {
		b, err := json.Marshal(m)
		if err == nil {
			_, err = fmt.Fprintf(w, "\n%s%s\n", mark, b)
		}
		return err
	}
	begun := time.Now()
	entries := device.Entries(d)
	listing := time.Since(begun)
	// Before the checks, as what drivers compile is loaded too.
	if err := send(message{Entries: entries, Loaded: loaded()}); err != nil {
		return err
	}
	for _, e := range entries {
		if e.Reason != "" || e.Software && !all {
			continue
		}
		if err := t.test(e, listing, send); err != nil {
			return err
		}
	}
	return send(message{End: true})
}

// test checks and times a device. The error is that of send alone.
func (t Tests) test(e device.Entry, listing time.Duration, send func(message) error) error {
	begun := time.Now()
	if err := t.Open(e); err != nil {
		return send(message{Checked: e.Name, Fault: err.Error()})
	}
	timed := message{Timed: e.Name, Start: listing + time.Since(begun)}
	if err := t.Check(); err != nil {
		return send(message{Checked: e.Name, Fault: errors.Join(err, t.Close()).Error()})
	}
	if err := send(message{Checked: e.Name}); err != nil {
		return err
	}
	if formats, rules, err := t.Try(); err == nil {
		if err := send(message{Tried: e.Name, DTypes: formats, Rules: rules}); err != nil {
			return err
		}
	}
	if e.Software {
		if err := t.Close(); err != nil {
			return send(message{Checked: e.Name, Fault: err.Error()})
		}
		return nil
	}
	var err error
	timed.Product, err = t.Product()
	if err = errors.Join(err, t.Close()); err != nil {
		timed.Product, timed.Untimed = 0, err.Error()
	}
	return send(timed)
}

// loaded lists the libraries in this process, where the system tells.
func loaded() []string {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return nil
	}
	var paths []string
	seen := map[string]bool{}
	for line := range strings.Lines(string(maps)) {
		i := strings.IndexByte(line, '/')
		if i < 0 {
			continue
		}
		if path := strings.TrimSpace(line[i:]); strings.Contains(path, ".so") && !seen[path] {
			seen[path] = true
			paths = append(paths, path)
		}
	}
	return paths
}
