//go:build !static

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/internal/device"
	"github.com/sinterml/sinter/internal/device/cuda"
	"github.com/sinterml/sinter/internal/device/cuda/cu"
	"github.com/sinterml/sinter/internal/device/cuda/cu/cutest"
	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/internal/gputest"
)

// TestMain is the program too, with a GPU that the processor simulates.
func TestMain(m *testing.M) {
	device.Register(device.Driver{
		Name: "simulated",
		List: func() ([]device.Properties, error) { return []device.Properties{{Description: "a simulated GPU"}}, nil },
		Open: func(int) (device.Device, error) {
			api := (&cutest.Fake{Compute: true}).API()
			all, err := api.Devices()
			if err != nil {
				return nil, err
			}
			return cuda.New(api, all[0], nil)
		},
	})
	if slices.Contains(os.Args, "-step") {
		main()
		return
	}
	os.Exit(m.Run())
}

// TestSteps has the measurements run at tiny sizes, each in its own process: but
// for that of the encoder, which takes minutes here.
func TestSteps(t *testing.T) {
	s := &settings{device: "simulated", root: filepath.Join("..", ".."), small: true, out: filepath.Join(t.TempDir(), "gpu.json"), only: regexp.MustCompile("^(rates: [^e]|texts)")}
	if effort.Now() < effort.CI {
		s.only = regexp.MustCompile("^rates: (gemm|memory)")
	}
	var out bytes.Buffer
	if err := s.run(context.Background(), &out); err != nil {
		t.Errorf("%v\n%s", err, out.String())
	}
	var r report
	data, err := os.ReadFile(s.out)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &r); err != nil || len(r.Steps) < 2 || r.Device.Name != "simulated" {
		t.Fatalf("%d steps on %q, %v", len(r.Steps), r.Device.Name, err)
	}
	var formats []string
	for _, step := range r.Steps {
		for _, row := range step.Rows {
			if row.Name == "gemm" {
				formats = append(formats, row.DType)
			}
		}
		if len(step.Rows) == 0 || step.Error != "" {
			t.Errorf("%s: %d rows, %s\n%s", step.Name, len(step.Rows), step.Error, step.Output)
		}
		for _, row := range step.Rows {
			if row.Wrong != "" || row.Rate <= 0 || !strings.Contains(out.String(), row.Name) {
				t.Errorf("%+v", row)
			}
		}
	}
	if want := []string{"f32", "tf32", "bf16", "f16", "int8"}; !slices.Equal(formats, want) {
		t.Errorf("products of %v, not %v", formats, want)
	}
}

// TestTF32 has products in TF32 ask for it, and no others.
func TestTF32(t *testing.T) {
	for _, f := range formats {
		w := (&meter{}).gemm([3]int{3, 4, 5}, f)
		if asks := w.precision == sinter.TF32; asks != (w.DType == "tf32") || asks && w.output.DType() != sinter.F32 {
			t.Errorf("%s: precision %v, %v", w.DType, w.precision, w.output.DType())
		}
	}
}

// TestRead tells tests that pass from those that fail and are skipped. The last
// are failures where it is the device that is not there, or all of a test.
func TestRead(t *testing.T) {
	const out = "=== RUN   A\n=== RUN   A/b\n=== RUN   A/cuda\n    a_test.go:99: no device \"cuda\"\n=== RUN   A/c\n    a_test.go:7: no f64\n=== RUN   E\n    e_test.go:3: set it\n" +
		"--- FAIL: A (0.00s)\n    --- PASS: A/b (0.00s)\n    --- SKIP: A/cuda (0.1s)\n    --- SKIP: A/c (0.1s)\n--- SKIP: E (0.1s)\nnoise" +
		"\n" + rowMark + `{"Name":"gemm","DType":"f32","Wrong":"far off"}` + "\n" + rowMark + "{\n"
	var d step
	d.read(out, "cuda")
	if want := []string{"A", `A/cuda was skipped: no device "cuda"`, "E was skipped: set it", "gemm f32: far off"}; d.Passed != 1 || d.Skipped != 1 || len(d.Rows) != 1 || !slices.Equal(d.Failed, want) {
		t.Errorf("%+v", d)
	}
}

// TestGoesOn has a step that ends by a signal, cannot be started, tests nothing, or
// tests that skip the device and end well: the report says so.
func TestGoesOn(t *testing.T) {
	s := &settings{device: "simulated"}
	for name, c := range map[string]struct {
		command []string
		wants   string
	}{
		"killed":  {[]string{"sh", "-c", "echo last words; kill -9 $$"}, "killed"},
		"missing": {[]string{filepath.Join(t.TempDir(), "none")}, "no such file"},
		"silent":  {[]string{"true"}, "no test ran"},
		"refused": {[]string{"sh", "-c", `printf '=== RUN   A/cuda:1\n    a.go:9: no GPU\n--- PASS: A (0.0s)\n    --- SKIP: A/cuda:1 (0.0s)\nPASS\n'`}, "A/cuda:1 was skipped: no GPU"},
	} {
		got := s.start(context.Background(), part{name: name, limit: limit, device: "cuda:1", command: func(ctx context.Context, _ *settings) *exec.Cmd {
			return exec.CommandContext(ctx, c.command[0], c.command[1:]...)
		}})
		var out bytes.Buffer
		got.print(&out)
		if !got.failed() || !strings.Contains(out.String(), c.wants) || name == "killed" && !strings.Contains(got.Output, "last words") {
			t.Errorf("%s: %+v\n%s", name, got, out.String())
		}
	}
}

// TestFind looks GPUs up by all of their names, and by other drivers.
func TestFind(t *testing.T) {
	all := []sinter.DeviceInfo{
		{Name: "cuda:0", Kind: "cuda", Alternatives: []string{"vulkan:1", "opencl:0"}},
		{Name: "cuda:1", Kind: "cuda"},
		{Name: "hip", Kind: "hip", Reason: "no library", Remedy: "install it"},
		{Name: "vulkan:0", Kind: "vulkan"},
	}
	for _, c := range []struct{ name, opened, cuda, other, wants string }{
		{"cuda", "cuda:0", "cuda:0", "vulkan:1", ""},
		{"cuda:0", "cuda:0", "cuda:0", "vulkan:1", ""},
		{"opencl", "opencl:0", "cuda:0", "vulkan:1", ""},
		{"vulkan:1", "vulkan:1", "cuda:0", "", ""},
		{"vulkan", "vulkan:0", "", "", ""},
		{"cuda:1", "cuda:1", "cuda:1", "", "no device of kind vulkan is known to be cuda:1: there are cuda:0, vulkan:1, opencl:0, cuda:1, vulkan:0; -also '' leaves it out"},
		{"hip", "", "", "", `no device "hip": no library: install it`},
		{"hip:1", "", "", "", `no device "hip:1": no library: install it`},
		{"cuda:2", "", "", "", `no device "cuda:2": there are cuda:0`},
	} {
		g, err := find(all, c.name, []string{"vulkan"})
		var o other
		if len(g.others) > 0 {
			o = g.others[0]
			err = errors.Join(err, o.missing)
		}
		if g.name != c.opened || g.cuda != c.cuda || o.name != c.other || (err != nil) != (c.wants != "") || err != nil && !strings.HasPrefix(err.Error(), c.wants) {
			t.Errorf("%s: %+v, %v", c.name, g, err)
		}
	}
}

// TestParts has every part run on the GPU that was asked for, and again by the
// other driver that has it.
func TestParts(t *testing.T) {
	s := &settings{root: "root", tests: t.TempDir()}
	missing := errors.New("no loader")
	g := gpu{name: "cuda:1", cuda: "cuda:1", others: []other{{kind: "vulkan", name: "vulkan:2"}, {kind: "opencl", missing: missing}}}
	commands := map[string]string{}
	for _, p := range s.parts(g) {
		c := p.command(context.Background(), s)
		commands[p.name] = strings.Join(slices.Concat(c.Env, c.Args), " ")
		if lacks := strings.HasPrefix(p.name, "opencl: "); lacks != (p.missing != nil) {
			t.Errorf("%s: %v", p.name, p.missing)
		} else if lacks {
			if got := s.start(context.Background(), p); got.Error != missing.Error() {
				t.Errorf("%+v", got)
			}
		}
	}
	want := map[string]string{"torch": "torch_rates.py 1"}
	for prefix, device := range map[string]string{"": "cuda:1", "vulkan: ": "vulkan:2"} {
		for _, p := range programs {
			want[prefix+p.name] = gputest.Variable + "=" + device
		}
		for _, m := range measures {
			want[prefix+m.name] = "-device " + device + " -hardware cuda:1"
		}
	}
	for name, part := range want {
		if !strings.Contains(commands[name], part) {
			t.Errorf("%s: %q has no %q", name, commands[name], part)
		}
	}
	if n := len(programs) + len(measures); len(commands) != 3*n+1 {
		t.Errorf("%d parts", len(commands))
	}
}

// TestSize refuses a program and tests that are too large to be carried, and a part
// that is not there.
func TestSize(t *testing.T) {
	for _, c := range []struct {
		bytes int64
		lacks string
		fails bool
	}{{mostBytes / 8, "", false}, {mostBytes / 4, "", true}, {1, programs[1].file + packed, true}} {
		dir := t.TempDir()
		for _, name := range append(packedTests(), "gpu", "gpu.json") {
			if name != c.lacks {
				file := filepath.Join(dir, name)
				if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Truncate(file, c.bytes)); err != nil { // a file of nothing
					t.Fatal(err)
				}
			}
		}
		if n, err := size(os.DirFS(dir)); (err != nil) != c.fails || !c.fails && n != float64(c.bytes)*float64(1+len(programs)) {
			t.Errorf("%d bytes each: %v, %v", c.bytes, n, err)
		}
	}
}

// TestModelIsCarriedOnce: the model in a binary is a third of what may be carried,
// so that it is in the tests of one package alone.
func TestModelIsCarriedOnce(t *testing.T) {
	with := 0
	for _, p := range programs {
		if _, err := os.ReadDir("../../" + p.folder); err != nil { // go test keeps the result until what was read changes
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-test", "../../"+p.folder).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if regexp.MustCompile(`(?m)/model/minilm( \[.*)?$`).Match(out) {
			with++
		}
	}
	if with != 1 {
		t.Errorf("%d programs of tests have the model, not one", with)
	}
}

// TestBounds compares what is computed with what NVIDIA says of H200.
func TestBounds(t *testing.T) {
	b := boundsFor(&cu.Device{Major: 9, Units: 132, MHz: 1830, MemoryMHz: 3201, BusBits: 6016})
	for name, want := range map[string]float64{"f32": 62, "tf32": 494.7, "bf16": 989, "int8": 1979} {
		if got := b.flops[name] / 1e12; got < 0.98*want || got > 1.02*want {
			t.Errorf("%s: %.0f TFLOP/s, not %.0f", name, got, want)
		}
	}
	if got := b.bytes / 1e12; got < 4.7 || got > 4.9 {
		t.Errorf("%.2f TB/s", got)
	}
}
