//go:build !static

// Command gpu tests and times a GPU in one go: the suite of devices, operators,
// encoders and training against their references, then rates beside what the
// hardware allows and beside PyTorch, where that is installed. It goes on
// after what fails, prints a table and writes a report.
//
//	go run ./bench/gpu -build DIR    # the program and its tests, for a machine without Go
//	DIR/gpu                          # there, in the root of a checkout: 10 minutes at most
//	DIR/gpu -only 'rates: gemm'      # a part of it
//	DIR/gpu -device cuda:1 -also ''  # another GPU, and by CUDA alone
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"strings"
	"time"

	"github.com/sinterml/sinter"
	_ "github.com/sinterml/sinter/gpu"
)

// limit is how long all steps may take together.
const limit = 9*time.Minute + 30*time.Second

// settings are what the command is asked for.
type settings struct {
	device   string
	also     []string // kinds of drivers by which it is tested as well
	hardware string   // what CUDA calls it
	only     *regexp.Regexp
	small    bool
	out      string
	child    string // the step that this process is
	root     string // of the repository: models and references are read from there
	tests    string // folder of the tests that have been unpacked
}

// step is a part of the report: a process of its own, as a GPU that fails takes
// its process with it.
type step struct {
	Name    string
	Seconds float64
	Passed  int      `json:",omitempty"` // tests
	Failed  []string `json:",omitempty"`
	Skipped int      `json:",omitempty"`
	Rows    []row    `json:",omitempty"`
	Error   string   `json:",omitempty"`
	Output  string   `json:",omitempty"` // its end, where something failed
}

// report is what is written.
type report struct {
	Time    time.Time
	Device  sinter.DeviceInfo
	Devices []sinter.DeviceInfo
	Steps   []step
}

func main() {
	var s settings
	build := flag.String("build", "", "build the program and its tests into this `folder`, and nothing else")
	only := flag.String("only", "", "only steps whose names match this `expression`")
	flag.StringVar(&s.device, "device", "cuda", "`name` of the device")
	also := flag.String("also", "vulkan", "`kinds` of drivers, with commas between, by which the same GPU is tested and timed after that")
	flag.StringVar(&s.root, "root", ".", "`folder` of the repository")
	flag.StringVar(&s.out, "out", "gpu.json", "`file` for the report")
	flag.BoolVar(&s.small, "small", false, "tiny sizes, to try the program")
	flag.StringVar(&s.child, "step", "", "be this step alone, for the program itself")
	flag.StringVar(&s.hardware, "hardware", "", "what CUDA calls the device, for the program itself")
	flag.Parse()
	if *also != "" {
		s.also = strings.Split(*also, ",")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	if s.only, err = regexp.Compile(*only); err == nil {
		switch {
		case *build != "":
			err = buildAll(ctx, *build)
		case s.child != "":
			err = s.be(ctx, os.Stdout)
		default:
			err = s.run(ctx, os.Stdout)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gpu:", err)
		os.Exit(1)
	}
}

// errFailed is what a run ends with in which anything did.
var errFailed = errors.New("not everything passed")

// run runs all steps and writes the report after each: one that takes the
// machine with it leaves what was before.
func (s *settings) run(ctx context.Context, w io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	defer func() { _ = os.RemoveAll(s.tests) }()
	r := report{Time: time.Now(), Devices: sinter.Devices()}
	for _, d := range r.Devices {
		if d.Reason == "" {
			fmt.Fprintf(w, "%s: %s, %s, %d MiB\n", d.Name, d.Description, d.Driver, d.Memory>>20)
		} else {
			fmt.Fprintf(w, "%s: %s: %s\n", d.Name, d.Reason, d.Remedy)
		}
	}
	g, err := find(r.Devices, s.device, s.also)
	if err != nil {
		return err
	}
	r.Device = g.info
	failed := false
	for _, p := range s.parts(g) {
		if !s.only.MatchString(p.name) {
			continue
		}
		fmt.Fprintf(w, "\n== %s\n", p.name)
		done := s.start(ctx, p)
		failed = failed || done.failed()
		done.print(w)
		r.Steps = append(r.Steps, done)
		if err := s.write(&r); err != nil {
			return err
		}
	}
	if failed {
		return errFailed
	}
	return nil
}

func (s *settings) write(r *report) error {
	data, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(s.out, append(data, '\n'), 0o600)
}

func (d *step) failed() bool { return d.Error != "" || len(d.Failed) > 0 }

func (d *step) print(w io.Writer) {
	for _, row := range d.Rows {
		fmt.Fprintln(w, row)
	}
	if d.Passed+len(d.Failed) > 0 {
		fmt.Fprintf(w, "%d passed, %d failed, %d skipped\n", d.Passed, len(d.Failed), d.Skipped)
	}
	for _, name := range d.Failed {
		fmt.Fprintln(w, "  FAILED", name)
	}
	if d.Error != "" {
		fmt.Fprintln(w, "  ERROR", d.Error)
	}
	fmt.Fprintf(w, "%.1f s\n", d.Seconds)
}

// start runs one part in a process of its own and reads what it prints.
func (s *settings) start(ctx context.Context, p part) step {
	ctx, cancel := context.WithTimeout(ctx, p.limit)
	defer cancel()
	begun := time.Now()
	if p.missing != nil {
		return step{Name: p.name, Error: p.missing.Error()}
	}
	if ctx.Err() != nil {
		return step{Name: p.name, Error: fmt.Sprintf("no time is left of %v: -only asks for a part", limit)}
	}
	c := p.command(ctx, s)
	c.WaitDelay = time.Second
	out, err := c.CombinedOutput()
	done := step{Name: p.name, Seconds: time.Since(begun).Seconds()}
	done.read(string(out), p.device)
	switch {
	case ctx.Err() != nil:
		done.Error = fmt.Sprintf("not done after %.0f s", done.Seconds)
	case err != nil && len(done.Failed) == 0:
		done.Error = err.Error()
	case err == nil && p.device != "" && done.Passed == 0:
		done.Error = "no test ran"
	}
	if done.failed() {
		const end = 20000
		done.Output = string(out[max(0, len(out)-end):])
	}
	return done
}

// rowMark begins the lines of rows: drivers print on standard output too.
const rowMark = "gpu-row "

// Lines of go test -v: how a test ended, which test speaks, and what it says.
var (
	outcome = regexp.MustCompile(`^\s*--- (PASS|FAIL|SKIP): (\S+)`)
	speaker = regexp.MustCompile(`^=== (?:RUN|CONT|NAME)\s+(\S+)`)
	says    = regexp.MustCompile(`^\s+\S+\.go:\d+: (.*)`)
)

// read takes up what a step prints. A whole test that is skipped, or all of it on
// the device, has failed: a single case may be one that the device does not have.
func (d *step) read(out, device string) {
	said, now := map[string]string{}, ""
	for line := range strings.Lines(out) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), rowMark); ok {
			d.readRow(text)
			continue
		}
		if m := speaker.FindStringSubmatch(line); m != nil {
			now = m[1]
		} else if m := says.FindStringSubmatch(line); m != nil {
			said[now] = m[1]
		}
		switch m := outcome.FindStringSubmatch(line); {
		case m == nil:
		case m[1] == "PASS":
			d.Passed++
		case m[1] == "SKIP" && device != "" && (!strings.Contains(m[2], "/") || strings.HasSuffix(m[2], "/"+device)):
			d.Failed = append(d.Failed, m[2]+" was skipped: "+said[m[2]])
		case m[1] == "SKIP":
			d.Skipped++
		case said[m[2]] != "":
			d.Failed = append(d.Failed, m[2]+": "+said[m[2]])
		default:
			d.Failed = append(d.Failed, m[2])
		}
	}
}

func (d *step) readRow(text string) {
	var r row
	if json.Unmarshal([]byte(text), &r) != nil {
		return
	}
	d.Rows = append(d.Rows, r)
	if r.Wrong != "" {
		d.Failed = append(d.Failed, r.Name+" "+r.DType+": "+r.Wrong)
	}
}

// again is this program as a step.
func again(ctx context.Context, s *settings, name, device, hardware string) *exec.Cmd {
	args := []string{"-step", name, "-device", device, "-hardware", hardware, "-root", s.root}
	if s.small {
		args = append(args, "-small")
	}
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	return exec.CommandContext(ctx, self, args...)
}
