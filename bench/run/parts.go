package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/sinterml/sinter/bench"
)

// part is a command whose rows the page shows.
type part struct {
	name    string
	command []string // what it prints, or writes to outFile, is the rows as JSON
	model   bool     // it needs the publisher's files
	python  bool     // it is a script, as all that need those
}

// These stand in commands for what differs between machines.
const (
	pythonWord = "python3"
	modelWord  = "MODEL_DIR"
	outFile    = "ROWS.json"
)

// allParts are in the order in which they are best run: the short ones first.
// With rounds above 0 the scripts beside other libraries take as many.
func allParts(python, model string, rounds int) []part {
	isa := bench.ISAs()[0]
	sinter := func(words string) []string {
		return strings.Fields("go run ./cmd/sinter bench " + words + " --json")
	}
	parts := []part{
		{name: "startup", command: strings.Fields("go run ./bench/startup -json")},
		{name: "compile", command: sinter("compile --isa " + isa)},
		{name: "concurrent", command: strings.Fields("go run ./bench/concurrent -json")},
		{name: "encoder", command: strings.Fields("go run ./examples/encoder --json")},
		{name: "embed", command: sinter("embed --isa " + isa)},
		{name: "fused", command: sinter("fused --isa " + isa)},
	}
	for _, dtype := range dtypes {
		parts = append(parts, part{name: "gemm-" + dtype, command: sinter(fmt.Sprintf("gemm --isa %s --dtype %s --draw 20 --seed 1", isa, dtype))})
	}
	parts = append(parts, part{name: "gemm-avx2", command: sinter("gemm --isa avx2 --dtype f32")})
	for _, threads := range []string{"1", "2"} {
		for _, p := range []struct{ name, script string }{{"mixed-", "mixed.py"}, {"peers-", "encode.py"}} {
			command := []string{pythonWord, "bench/peers/" + p.script, modelWord, "--threads", threads}
			if rounds > 0 {
				command = append(command, "--rounds", strconv.Itoa(rounds))
			}
			parts = append(parts, part{name: p.name + threads, model: true, command: append(command, "--json", outFile)})
		}
	}
	parts = append(parts, part{name: "steps", command: sinter("train --isa " + isa)})
	for _, threads := range []string{"1", "2"} {
		command := []string{pythonWord, "bench/peers/train.py", "--threads", threads}
		if rounds > 0 {
			command = append(command, "--rounds", strconv.Itoa(rounds))
		}
		parts = append(parts, part{name: "train-" + threads, python: true, command: append(command, "--json", outFile)})
	}
	for i := range parts {
		parts[i].fill(python, model)
	}
	return parts
}

// fill puts in what this machine has; shown takes it out again.
func (p *part) fill(python, model string) {
	for i, word := range p.command {
		switch {
		case i == 0 && word == pythonWord:
			p.command[i] = python
		case word == modelWord && model != "":
			p.command[i] = model
		}
	}
}

// shown is the command as it stands on the page.
func (p *part) shown() string {
	words := append([]string{}, p.command...)
	if p.model || p.python {
		words[0] = pythonWord
	}
	if p.model {
		words[2] = modelWord
	}
	return strings.Join(words, " ")
}

// record is the rows of a part, as they are kept.
type record struct {
	Command string          `json:"command"`
	Seconds float64         `json:"seconds"` // that it took
	Machine bench.Machine   `json:"machine"`
	Output  json.RawMessage `json:"output"`
}

// measure runs the command and keeps its rows in the place of those before.
func (p part) measure(ctx context.Context) (err error) {
	if p.model && p.command[2] == modelWord {
		return errors.New("give -model DIR, the publisher's files of all-MiniLM-L6-v2")
	}
	fmt.Fprintf(os.Stderr, "%s: %s\n", p.name, p.shown())
	temp, err := os.MkdirTemp("", "rows")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	words := append([]string{}, p.command...)
	toFile := words[len(words)-1] == outFile
	if toFile {
		words[len(words)-1] = filepath.Join(temp, outFile)
	}
	var out bytes.Buffer
	c := exec.CommandContext(ctx, words[0], words[1:]...)
	c.Stdout, c.Stderr = &out, os.Stderr
	if toFile {
		c.Stdout = os.Stderr
	}
	start := time.Now()
	if err := c.Run(); err != nil {
		return err
	}
	r := record{Command: p.shown(), Seconds: time.Since(start).Seconds(), Machine: bench.ThisMachine(), Output: out.Bytes()}
	if toFile {
		if r.Output, err = os.ReadFile(words[len(words)-1]); err != nil {
			return err
		}
	}
	data, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return fmt.Errorf("its rows: %w", err)
	}
	fmt.Fprintf(os.Stderr, "%s: %.0f s\n", p.name, r.Seconds)
	return os.WriteFile(recordFile(folder, p.name), append(data, '\n'), 0o644)
}

func recordFile(folder, name string) string { return filepath.Join(folder, name+".json") }

func readRecord(folder, name string) (r record, err error) {
	data, err := os.ReadFile(recordFile(folder, name))
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	return r, err
}

// rowsOf reads the rows of a part, which a command prints as {"results": []} and
// a script as a bare list. A part that was never measured has none.
func rowsOf[T any](folder, name string) ([]T, error) {
	r, err := readRecord(folder, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var rows []T
	if strings.HasPrefix(string(bytes.TrimSpace(r.Output)), "[") {
		err = json.Unmarshal(r.Output, &rows)
	} else {
		var report struct{ Results *[]T }
		report.Results = &rows
		err = json.Unmarshal(r.Output, &report)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return rows, nil
}
