package devcheck

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/sinterml/sinter/cmd/sinter/internal/probe"
)

// errTime is that of a child that has not answered in its time.
var errTime = errors.New("no answer")

// child is a process that calls Serve.
type child struct {
	process    *exec.Cmd
	in         io.WriteCloser
	answers    chan answer // closed where its output ends
	complaints tail
}

// start starts a command, and waits until the device is open.
func start(ctx context.Context, c *exec.Cmd, limit time.Duration) (*child, error) {
	k := &child{process: c, answers: make(chan answer)}
	c.Stderr = &k.complaints
	c.WaitDelay = time.Second // its compiler's linker may have outlived it
	in, err := c.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	k.in = in
	go k.listen(out)
	a, err := k.wait(ctx, limit)
	switch {
	case errors.Is(err, errTime):
		return nil, fmt.Errorf("the driver does not answer within %.0f s", limit.Seconds())
	case err != nil:
		return nil, err
	case !a.Ready:
		_, _ = k.end(time.Second)
		return nil, errors.New(a.Fault)
	}
	return k, nil
}

func (k *child) listen(out io.Reader) {
	defer close(k.answers)
	scanner := bufio.NewScanner(out)
	scanner.Buffer(nil, 1<<24)
	for scanner.Scan() {
		_, text, ours := strings.Cut(scanner.Text(), mark)
		var a answer
		if ours && json.Unmarshal([]byte(text), &a) == nil {
			k.answers <- a
		}
	}
}

// run has the child run a job. After an error there is no child: the driver has
// crashed, or there was no answer in time.
func (k *child) run(ctx context.Context, j job, limit time.Duration) (answer, error) {
	b, err := json.Marshal(j)
	if err != nil {
		return answer{}, err
	}
	_, _ = k.in.Write(append(b, '\n')) // of a child that has ended, waiting tells more
	return k.wait(ctx, limit)
}

// wait waits for the next answer.
func (k *child) wait(ctx context.Context, limit time.Duration) (answer, error) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case a, ok := <-k.answers:
		if ok {
			return a, nil
		}
		_, err := k.end(patience)
		return answer{}, k.blame(err)
	case <-timer.C:
		_, _ = k.end(0)
		return answer{}, errTime
	case <-ctx.Done():
		_, _ = k.end(0)
		return answer{}, ctx.Err()
	}
}

// close has the child close the device and end. One that takes too long is late.
func (k *child) close(ctx context.Context, limit time.Duration) error {
	_ = k.in.Close()
	defer context.AfterFunc(ctx, func() { _ = k.process.Process.Kill() })()
	killed, err := k.end(limit)
	if killed || err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	return k.blame(err)
}

// end waits for the end of the process, which is killed after so long.
func (k *child) end(limit time.Duration) (killed bool, err error) {
	go func() { // what it still writes
		for range k.answers {
		}
	}()
	timer := time.AfterFunc(limit, func() { _ = k.process.Process.Kill() })
	err = k.process.Wait()
	return !timer.Stop(), err
}

// blame says how the process ended.
func (k *child) blame(err error) error {
	return &crash{probe.Reason(err, patience, k.complaints)}
}

// crash is the end of a process that nobody asked for.
type crash struct{ reason string }

func (c *crash) Error() string { return "the driver " + c.reason }

// tail keeps the last that was written to it.
type tail []byte

func (t *tail) Write(p []byte) (int, error) {
	const most = 64 << 10
	*t = append(*t, p...)
	*t = (*t)[max(0, len(*t)-most):]
	return len(p), nil
}
