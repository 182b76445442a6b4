// Package planted holds defects: small changes to the compiler that a person
// could well make, each with the tests that have to notice. A defect that they
// do not notice says that a test is missing. The tables are by part of the
// house; Try plants one, without touching any file of the repository.
package planted

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sinterml/sinter/internal/cpuid"
	"github.com/sinterml/sinter/internal/effort"
)

// Defect is one change to one file.
type Defect struct {
	Name     string
	File     string // from the root of the repository
	Old, New string // Old is in File exactly once
	Package  string // whose tests have to notice, from the root
	Run      string // which of its tests, as for go test -run
	Needs    need   // of the processor, for the tests to run what is changed
}

// need is what a processor has to have.
type need uint8

const (
	anything    need = iota
	machineCode      // AVX2, in any case
	avx512
	avx512BF16
	avx512VNNI
	amx
	amxFP16
	neon       // arm64, in any case
	neonMatrix // with matrix instructions of bytes and of bf16
)

// Runs tells whether what is changed can run here: by this processor or by
// simulation of its instruction sets.
func (d *Defect) Runs(has *cpuid.Features) bool { return d.native(has) || d.simulated(has) }

// simulated tells whether tests built with the tag of that name run what this
// processor does not.
func (d *Defect) simulated(has *cpuid.Features) bool {
	return has.AVX2 && !d.native(has) && d.Needs >= avx512 && d.Needs <= amxFP16
}

func (d *Defect) native(has *cpuid.Features) bool {
	wide := has.AVX512F && has.AVX512BW && has.AVX512DQ && has.AVX512VL
	switch d.Needs {
	case machineCode:
		return has.AVX2
	case avx512:
		return wide
	case avx512BF16:
		return wide && has.AVX512BF16
	case avx512VNNI:
		return wide && has.AVX512VNNI
	case amx:
		return has.HasAMX()
	case amxFP16:
		return has.HasAMX() && (has.AMXFP16 || cpuid.HidesAMXFP16())
	case neon:
		return has.NEON
	case neonMatrix:
		return has.NEON && has.I8MM && has.BF16
	}
	return true
}

// Defects are all there are.
func Defects() []Defect {
	return slices.Concat(rewriteDefects, scheduleDefects, loopDefects, emitDefects, wideDefects, neonDefects, productDefects, productMemoryDefects, linearDefects, pairDefects, amxDefects, attentionDefects, unitDefects, groupDefects, packDefects, epilogueDefects, gradientDefects, gradientTileDefects, runDefects, launchDefects, profileDefects, checkDefects, modelDefects, edgeDefects)
}

// Plant makes the defect in the text of its file.
func (d *Defect) Plant(text string) (string, error) {
	if n := strings.Count(text, d.Old); n != 1 {
		return "", fmt.Errorf("%s: the text to be changed in %s is there %d times, want once: adapt the defect", d.Name, d.File, n)
	}
	return strings.Replace(text, d.Old, d.New, 1), nil
}

// Try runs the tests with the defect planted and returns those that failed:
// none if it survives. root is the folder of the repository, temp one to write
// to. A defect that does not compile, or tests that do not exist, are an error.
func (d *Defect) Try(ctx context.Context, root, temp string) (failed []string, err error) {
	file, err := filepath.Abs(filepath.Join(root, d.File))
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	changed, err := d.Plant(string(text))
	if err != nil {
		return nil, err
	}
	instead := filepath.Join(temp, filepath.Base(file))
	if err := os.WriteFile(instead, []byte(changed), 0o644); err != nil {
		return nil, err
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{file: instead}})
	if err != nil {
		return nil, err
	}
	list := filepath.Join(temp, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o644); err != nil {
		return nil, err
	}
	failed, err = d.test(ctx, root, "-overlay", list)
	if err != nil {
		err = fmt.Errorf("%s: %w", d.Name, err)
	}
	return failed, err
}

// TryWithout runs the tests of a defect on the repository as it is.
func (d *Defect) TryWithout(ctx context.Context, root string) (failed []string, err error) {
	return d.test(ctx, root)
}

// A defect may hang its tests: that is noticed after this time.
const testTimeout = "6m"

func (d *Defect) test(ctx context.Context, root string, more ...string) (failed []string, err error) {
	args := append([]string{"test", "-json", "-vet=off", "-p=1", "-timeout=" + testTimeout, "-run=" + d.Run}, more...)
	if has := cpuid.Host().Features; d.simulated(&has) {
		args = append(args, "-tags=simulate")
	}
	cmd := exec.CommandContext(ctx, "go", append(args, "./"+d.Package)...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), effort.AsCI+"=1") // an ordinary run tries fewer cases
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	runErr := cmd.Run()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	failed, err = failures(&out)
	var exit *exec.ExitError
	if err == nil && len(failed) == 0 && runErr != nil {
		err = runErr
		if errors.As(runErr, &exit) {
			err = fmt.Errorf("go test ended with %d and no failure", exit.ExitCode())
		}
	}
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, problems.String())
	}
	return failed, err
}

// event is a line of go test -json.
type event struct {
	Action, Test, Output, FailedBuild string
}

// failures reads the events of one package. A test binary that ends without a
// verdict on a test, as by a signal, is a failure of the whole package.
func failures(r io.Reader) (failed []string, err error) {
	ran, whole := false, false
	var build strings.Builder
	for lines := json.NewDecoder(r); ; {
		var e event
		switch err := lines.Decode(&e); {
		case err == io.EOF && build.Len() > 0:
			return nil, fmt.Errorf("no test binary:\n%s", build.String())
		case err == io.EOF && !ran:
			return nil, errors.New("no test has that name")
		case err == io.EOF && whole && len(failed) == 0:
			return []string{"all"}, nil
		case err == io.EOF:
			return failed, nil
		case err != nil:
			return nil, fmt.Errorf("output of go test: %w", err)
		}
		switch {
		case e.Action == "build-output" || e.FailedBuild != "":
			build.WriteString(e.Output)
			if e.FailedBuild != "" {
				build.WriteString(e.FailedBuild + " does not build\n")
			}
		case e.Action == "run":
			ran = true
		case e.Action == "fail" && e.Test != "":
			failed = append(failed, e.Test)
		case e.Action == "fail":
			whole = true
		}
	}
}
