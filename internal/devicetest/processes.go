package devicetest

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

var partFlag = flag.Int("part", 0, "the only part of the suite to run; 0 is all, the others in processes of their own")

// InProcesses runs one of so many parts of the suite here, beside a process of the
// same test for each other: for drivers whose compilers take one kernel at a time,
// whatever the threads. Where single cases are asked for, all is run here.
func InProcesses(t *testing.T, parts int, run func(Part)) {
	t.Helper()
	switch number := *partFlag; {
	case number != 0:
		go leaveWithFirst()
		run(Part{Number: number, Of: parts})
		fmt.Println(hasRun(number, parts))
	case strings.Contains(flag.Lookup("test.run").Value.String(), "/"): // a few cases
		run(Part{})
	default:
		for number := range parts - 1 {
			wait := startPart(t, number+2, parts)
			defer wait()
		}
		run(Part{Number: 1, Of: parts})
	}
}

// leaveWithFirst ends the process when the one that has started it ends.
func leaveWithFirst() {
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(1)
}

// hasRun is what a process says after its part, failed or not.
func hasRun(part, parts int) string { return fmt.Sprintf("part %d of %d has run", part, parts) }

// startPart starts a process with a part of the test t. wait takes up what it
// finds.
func startPart(t *testing.T, number, parts int) (wait func()) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	limit := time.Duration(0)
	if end, ok := t.Deadline(); ok {
		limit = max(time.Until(end)*99/100, time.Second) // it tells where it hangs before go test ends both
	}
	args := []string{fmt.Sprint("-part=", number), "-test.run=^" + t.Name() + "$", fmt.Sprint("-test.timeout=", limit)}
	for _, same := range []string{"test.v", "test.short"} {
		args = append(args, fmt.Sprintf("-%s=%v", same, flag.Lookup(same).Value))
	}
	cmd := exec.CommandContext(t.Context(), self, args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	alive, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		defer alive.Close()
		err := cmd.Wait()
		switch ran := strings.Contains(out.String(), hasRun(number, parts)); {
		case err != nil || !ran:
			t.Errorf("part %d, run: %v: %v\n%s", number, ran, err, &out)
		case testing.Verbose():
			t.Logf("part %d:\n%s", number, &out)
		}
	}
}
