package devcheck

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/sinterml/sinter/cmd/sinter/internal/probe"
)

// mark begins the lines of a child: drivers print on standard output too.
const mark = "sinter-check "

// Child is the other side of InChild: it writes the steps as lines.
func Child(w io.Writer, run func(each func(Step)) error) error {
	var failed error
	err := run(func(s Step) {
		b, err := json.Marshal(s)
		if err == nil {
			_, err = fmt.Fprintf(w, "\n%s%s\n", mark, b)
		}
		failed = errors.Join(failed, err)
	})
	return errors.Join(err, failed)
}

// patience is how long one step may take: past it the driver hangs.
const patience = 15 * time.Second

// begun is a step that has not ended.
type begun struct {
	Step
	since time.Time
}

// InChild runs a command that calls Child and passes its steps on, within a
// limit. What had begun when the command crashed has failed, and what had taken
// too long when the time was up; other steps are late.
func InChild(ctx context.Context, c *exec.Cmd, limit time.Duration, each func(Step)) error {
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	var complaints tail
	c.Stderr = &complaints
	if err := c.Start(); err != nil {
		return err
	}
	lines := make(chan Step)
	go func() {
		defer close(lines)
		scanner := bufio.NewScanner(out)
		scanner.Buffer(nil, 1<<24)
		for scanner.Scan() {
			_, text, ours := strings.Cut(scanner.Text(), mark)
			var s Step
			if ours && json.Unmarshal([]byte(text), &s) == nil {
				lines <- s
			}
		}
	}()
	open, ended := follow(ctx, lines, limit, each)
	if !ended {
		_ = c.Process.Kill()
		for range lines { // what it still wrote
		}
	}
	err = c.Wait()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case ended && len(open) == 0 && err == nil:
		return nil
	case ended:
		reason := "the driver " + probe.Reason(err, limit, complaints)
		tell(open, each, func(s *Step) { s.Error = reason })
		return errors.New(reason)
	}
	hangs := error(nil)
	tell(open, each, func(s *Step) {
		if s.Late = s.Seconds < patience.Seconds(); !s.Late {
			s.Error = fmt.Sprintf("the driver does not answer within %.0f s", s.Seconds)
			hangs = fmt.Errorf("%s: %s", s.Name, s.Error)
		}
	})
	return hangs
}

// tell ends steps that did not end themselves.
func tell(open []begun, each func(Step), change func(s *Step)) {
	for _, o := range open {
		s := o.Step
		s.Begun, s.Seconds = false, time.Since(o.since).Seconds()
		change(&s)
		each(s)
	}
}

// follow passes steps on until there are no more, or time is up.
func follow(ctx context.Context, lines <-chan Step, limit time.Duration, each func(Step)) (open []begun, ended bool) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		select {
		case s, ok := <-lines:
			if !ok {
				return open, true
			}
			if s.Begun {
				open = append(open, begun{s, time.Now()})
			} else {
				open = slices.DeleteFunc(open, func(o begun) bool { return o.Kind == s.Kind && o.Name == s.Name })
			}
			each(s)
		case <-timer.C:
			return open, false
		case <-ctx.Done():
			return open, false
		}
	}
}

// tail keeps the last that was written to it.
type tail []byte

func (t *tail) Write(p []byte) (int, error) {
	const most = 64 << 10
	*t = append(*t, p...)
	*t = (*t)[max(0, len(*t)-most):]
	return len(p), nil
}
