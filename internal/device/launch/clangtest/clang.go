// Package clangtest has the compiler of the system, clang, stand in for drivers
// of GPUs that are not here: it compiles HIP for AMD's GPUs, looks at Metal's
// text, and compiles both for the processor, where a Backend runs them.
package clangtest

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/internal/emit/cstyle"
)

// headers stand in for those of HIP and Metal.
//
//go:embed testdata/hip.h testdata/metal_stdlib testdata/run.c
var headers embed.FS

// Clang is a compiler with a folder of its own.
type Clang struct {
	path string
	dir  string
}

// Find finds the system's newest clang; gfx1100 is known from version 15. It has
// to be there where everything is to be tested.
func Find(t testing.TB) *Clang {
	t.Helper()
	c := &Clang{dir: t.TempDir()}
	for _, name := range []string{"clang-19", "clang-18", "clang-17", "clang-16", "clang-15", "clang"} {
		if path, err := exec.LookPath(name); err == nil {
			c.path = path
			break
		}
	}
	if c.path == "" {
		effort.Missing(t, "no clang to compile HIP and Metal with: install the package clang-15 or a later one")
	}
	files, err := fs.Sub(headers, "testdata")
	if err == nil {
		err = os.CopyFS(c.dir, files)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// version is what the compiler and the headers here say of themselves, on which it
// depends what is accepted.
func (c *Clang) version(t testing.TB) string {
	t.Helper()
	out, err := exec.Command(c.path, "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, header := range []string{"testdata/hip.h", "testdata/metal_stdlib"} {
		text, err := headers.ReadFile(header)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, text...)
	}
	return string(out) + strings.Join(cstyle.HIPOptions, " ")
}

// run compiles source, the text of a file, and names the file that it makes.
func (c *Clang) run(ctx context.Context, source, out string, args ...string) (string, error) {
	in, err := os.CreateTemp(c.dir, "*.txt")
	if err == nil {
		_, err = in.WriteString(source)
	}
	if err != nil {
		return "", err
	}
	if err := in.Close(); err != nil {
		return "", err
	}
	if out != "" {
		out = strings.TrimSuffix(in.Name(), ".txt") + out
		args = append(args, "-o", out)
	}
	log, err := exec.CommandContext(ctx, c.path, append(args, in.Name())...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("clang: %w\n%s", err, log)
	}
	return out, nil
}

// Usage is what a kernel takes of an AMD GPU.
type Usage struct {
	Kernel           string
	Registers        int // vector registers of a work-item
	Spills           int // vector registers that lie in memory
	ScalarSpills     int // scalar registers that lie in vector registers
	Private, Shared  int // bytes of a work-item and of a group
	ScalarRegisters  int
	WavefrontOfItems int
}

// HIP compiles a program for a GPU, as its driver would without the library of
// functions.
func (c *Clang) HIP(ctx context.Context, arch, source string) ([]Usage, error) {
	args := append([]string{"-x", "hip", "--offload-arch=" + arch, "--cuda-device-only", "-nogpulib", "-nogpuinc", "-S", "-w"}, cstyle.HIPOptions...)
	out, err := c.run(ctx, source, ".s", args...)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(out)
	if err != nil {
		return nil, err
	}
	return usages(string(text))
}

var (
	kernelNotes = regexp.MustCompile(`(?s)amdhsa\.kernels:(.*?)\namdhsa\.`)
	note        = regexp.MustCompile(`(?m)^    \.(name|vgpr_count|vgpr_spill_count|sgpr_count|sgpr_spill_count|private_segment_fixed_size|group_segment_fixed_size|wavefront_size): +(\S+)$`)
)

// usages reads the notes at the end of an assembly text: a list of kernels, each
// with its properties in alphabetical order.
func usages(text string) ([]Usage, error) {
	part := kernelNotes.FindStringSubmatch(text)
	if part == nil {
		return nil, fmt.Errorf("clang: no notes on kernels in %d bytes of assembly", len(text))
	}
	var all []Usage
	for _, k := range strings.Split(part[1], "\n  - ")[1:] {
		var u Usage
		for _, m := range note.FindAllStringSubmatch("\n    "+k, -1) {
			n, _ := strconv.Atoi(m[2])
			switch m[1] {
			case "name":
				u.Kernel = m[2]
			case "vgpr_count":
				u.Registers = n
			case "sgpr_count":
				u.ScalarRegisters = n
			case "vgpr_spill_count":
				u.Spills = n
			case "sgpr_spill_count":
				u.ScalarSpills = n
			case "private_segment_fixed_size":
				u.Private = n
			case "group_segment_fixed_size":
				u.Shared = n
			case "wavefront_size":
				u.WavefrontOfItems = n
			}
		}
		all = append(all, u)
	}
	return all, nil
}

// Metal looks for mistakes in a program.
func (c *Clang) Metal(ctx context.Context, source string) error {
	_, err := c.run(ctx, source, "", "-x", "c++", "-std=c++14", "-fsyntax-only", "-nostdinc", "-I", c.dir, "-Wno-everything", "-Werror=double-promotion")
	return err
}

// library compiles a program and what runs it for the processor.
func (c *Clang) library(ctx context.Context, source string, hip bool) (string, error) {
	args := append([]string{"-shared", "-fPIC", "-O1", "-ffp-contract=off"}, native...)
	object := filepath.Join(c.dir, "run.o")
	if _, err := os.Stat(object); err != nil {
		out, err := exec.CommandContext(ctx, c.path, append(args[1:], "-c", filepath.Join(c.dir, "run.c"), "-o", object)...).CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("clang: %w\n%s", err, out)
		}
	}
	args = append(args, object, "-lm", "-nostdinc", "-w", "-x", "c++")
	if hip {
		args = append(args, "-std=c++17", "-include", filepath.Join(c.dir, "hip.h"))
	} else {
		args = append(args, "-std=c++14", "-DRUN", "-I", c.dir)
	}
	return c.run(ctx, source, ".so", args...)
}
