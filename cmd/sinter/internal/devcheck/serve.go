package devcheck

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/suite"
)

// mark begins the lines of a child: drivers print on standard output too.
const mark = "sinter-check "

// answer is such a line.
type answer struct {
	Ready bool   // the device is open
	Steps []Step // that have ended
	Fault string // of opening it, or of cases as one program; then there are no steps
}

// Serve is the other side of InProcesses: it opens a device, and runs jobs, one a
// line of in, until there are no more.
func Serve(ctx context.Context, in io.Reader, out io.Writer, open func() (suite.Runner, error)) (err error) {
	say := func(a answer) error {
		b, err := json.Marshal(a)
		if err == nil {
			_, err = fmt.Fprintf(out, "\n%s%s\n", mark, b)
		}
		return err
	}
	d, err := open()
	if err != nil {
		return errors.Join(err, say(answer{Fault: err.Error()}))
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if err := say(answer{Ready: true}); err != nil {
		return err
	}
	all, _ := plan()
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var j job
		if err := json.Unmarshal(lines.Bytes(), &j); err != nil || j.From < 0 || j.From >= j.To || j.To > len(all) {
			return fmt.Errorf("no steps %q", lines.Text())
		}
		if err := say(together(ctx, d, all[j.From:j.To])); err != nil {
			return err
		}
	}
	return lines.Err()
}

// together runs steps, several as one program.
func together(ctx context.Context, d suite.Runner, steps []step) answer {
	if len(steps) == 1 {
		return answer{Steps: []Step{steps[0].try(ctx, d)}}
	}
	g := &suite.Group{}
	for _, s := range steps {
		g.Members = append(g.Members, s.c)
	}
	begun := time.Now()
	if err := g.Run(ctx, d, device.Options{}); err != nil {
		var f *suite.Failure
		if errors.As(err, &f) { // its graph is that of all
			err = f.Err
		}
		return answer{Fault: err.Error()}
	}
	var a answer
	share := time.Since(begun).Seconds() / float64(len(steps))
	for _, s := range steps {
		a.Steps = append(a.Steps, Step{Kind: s.kind, Name: s.name, OK: true, Seconds: share})
	}
	return a
}
