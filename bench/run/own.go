package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sinterml/sinter/bench"
)

var dtypes = []string{"f32", "bf16", "int8"}

// pick are the rows that f holds for.
func pick[T any](rows []T, f func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(rows), func(r T) bool { return !f(r) })
}

// share is a row's, with what makes it doubtful.
func share(r bench.Row) string {
	if r.Noisy {
		return fmt.Sprintf("%.2f (noisy)", r.Share)
	}
	return fmt.Sprintf("%.2f", r.Share)
}

// machineSection says where all was measured, and the peaks found there.
func machineSection(folder string) (string, *chart, error) {
	r, err := readRecord(folder, "gemm-f32")
	if err != nil {
		return missing("gemm-f32") + "\n", nil, nil
	}
	var peaks []string
	for _, dtype := range dtypes {
		rows, err := rowsOf[bench.Row](folder, "gemm-"+dtype)
		if err != nil {
			return "", nil, err
		}
		highest := 0.0
		for _, row := range rows {
			if row.Threads == 1 {
				highest = max(highest, row.Bound)
			}
		}
		if highest > 0 {
			peaks = append(peaks, fmt.Sprintf("%s %s", dtype, rate(highest)))
		}
	}
	m := r.Machine
	return fmt.Sprintf("%s (%s), %d threads, caches of %d kB, %d kB and %d MB, %s. The highest peaks seen on one thread, in GFLOP/s: %s.\n",
		m.CPU, m.Arch, m.Threads, m.L1D>>10, m.L2>>10, m.L3>>20, m.Go, strings.Join(peaks, ", ")), nil, nil
}

// shares sums up rows on a number of threads.
func shares(rows []bench.Row, set string, threads int) string {
	var all []float64
	noisy := 0
	for _, r := range rows {
		if r.Set == set && r.Threads == threads {
			all = append(all, r.Share)
			if r.Noisy {
				noisy++
			}
		}
	}
	if len(all) == 0 {
		return "-"
	}
	slices.Sort(all)
	text := fmt.Sprintf("%.2f, least %.2f", (all[len(all)/2]+all[(len(all)-1)/2])/2, all[0])
	if noisy > 0 {
		text += fmt.Sprintf(" (%d of %d noisy)", noisy, len(all))
	}
	return text
}

// shapeName is a row's shape as a title.
func shapeName(shape []int) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(shape), "[]"), " ", " x ")
}

func productsSection(folder string) (string, *chart, error) {
	t := table{{"products", "one thread: median", "two threads", "20 drawn shapes, one thread", "two threads"}}
	plot := &chart{title: "Share of the bound: products [M, N, K] of nine shapes, one thread", full: 1}
	for _, part := range []string{"gemm-f32", "gemm-bf16", "gemm-int8", "gemm-avx2"} {
		rows, err := rowsOf[bench.Row](folder, part)
		if err != nil {
			return "", nil, err
		}
		if len(rows) == 0 {
			t.add(missing(part), "", "", "", "")
			continue
		}
		t.add(rows[0].DType+" on "+rows[0].ISA, shares(rows, "nine", 1), shares(rows, "nine", 2), shares(rows, "drawn", 1), shares(rows, "drawn", 2))
		if part != "gemm-avx2" {
			plot.addShares(pick(rows, func(r bench.Row) bool { return r.Set == "nine" && r.Threads == 1 }))
		}
	}
	return t.String(), plot, nil
}

// addShares adds a bar to the panel of each row's shape.
func (c *chart) addShares(rows []bench.Row) {
	for _, r := range rows {
		title := shapeName(r.Shape)
		at := slices.IndexFunc(c.panels, func(p panel) bool { return p.title == title })
		if at < 0 {
			at = len(c.panels)
			c.panels = append(c.panels, panel{title: title})
		}
		c.panels[at].bars = append(c.panels[at].bars, bar{label: r.DType, dtype: r.DType, value: r.Share})
	}
}

// modelsSection is the encoders: the published one at four sizes, and one as a
// user writes it in turns with that.
func modelsSection(folder string) (string, *chart, error) {
	rows, err := rowsOf[bench.Row](folder, "embed")
	if err != nil {
		return "", nil, err
	}
	encoders, err := rowsOf[bench.Row](folder, "encoder")
	if err != nil {
		return "", nil, err
	}
	if len(rows) == 0 {
		return missing("embed") + "\n", nil, nil
	}
	t := table{{"texts x tokens", "", "one thread", "share of the bound", "two threads", "share", "mean cosine"}}
	pair := func(name string, one bench.Row, rows []bench.Row) {
		cells := []string{shapeName(one.Shape), name, rate(one.Rate) + " texts/s", share(one), "", "", fmt.Sprintf("%.5f", one.Accuracy)}
		for _, two := range rows {
			if two.Threads == 2 && two.Name == one.Name && two.DType == one.DType && slices.Equal(two.Shape, one.Shape) {
				cells[4], cells[5] = rate(two.Rate)+" texts/s", share(two)
			}
		}
		t.add(cells...)
	}
	one := func(r bench.Row) bool { return r.Threads == 1 }
	for _, r := range pick(rows, one) {
		pair("MiniLM "+r.DType, r, rows)
	}
	for _, r := range pick(encoders, one) {
		name := map[string]string{"encoder": "an encoder of odd widths, ", "minilm": "MiniLM beside it, "}[r.Name]
		pair(name+r.DType, r, encoders)
	}
	plot := &chart{title: "Share of the bound: MiniLM, texts x tokens, one thread", full: 1}
	plot.addShares(pick(rows, one))
	return t.String(), plot, nil
}

func fusedSection(folder string) (string, *chart, error) {
	rows, err := rowsOf[bench.Row](folder, "fused")
	if err != nil || len(rows) == 0 {
		return missing("fused") + "\n", nil, err
	}
	t := table{{"from memory, [rows, columns]", "one thread", "share of the bound", "two threads: share"}}
	for _, r := range rows {
		if r.Threads != 1 {
			continue
		}
		two := pick(rows, func(o bench.Row) bool { return o.Threads == 2 && o.Name == r.Name })
		cell := "-"
		if len(two) > 0 {
			cell = share(two[0])
		}
		t.add(fmt.Sprintf("%s, %s", r.Name, shapeName(r.Shape)), fmt.Sprintf("%.1f GB/s", r.Rate), share(r), cell)
	}
	return t.String(), nil, nil
}

// startupRow is a row of bench/startup.
type startupRow struct {
	DType   string  `json:"dtype"`
	Seconds float64 `json:"median_seconds"`
	Least   float64 `json:"least_seconds"`
	Peak    int64   `json:"peak_bytes"`
}

func startupSection(folder string) (string, *chart, error) {
	processes, err := rowsOf[startupRow](folder, "startup")
	if err != nil {
		return "", nil, err
	}
	programs, err := rowsOf[bench.Row](folder, "compile")
	if err != nil {
		return "", nil, err
	}
	t := table{{"", "median", "least", "peak memory"}}
	if len(processes) == 0 {
		t.add(missing("startup"), "", "", "")
	}
	for _, r := range processes {
		t.add(fmt.Sprintf("the process `sinter embed --dtype %s hello`", r.DType), milliseconds(r.Seconds), milliseconds(r.Least), fmt.Sprintf("%.0f MB", float64(r.Peak)/1e6))
	}
	if len(programs) == 0 {
		t.add(missing("compile"), "", "", "")
	}
	names := map[string]string{"compile-cold": "MiniLM traced and compiled", "compile-warm": "the same where the program is known"}
	for _, r := range programs {
		t.add(fmt.Sprintf("%s, %s", names[r.Name], r.DType), milliseconds(r.Seconds), "", "")
	}
	return t.String(), nil, nil
}

func milliseconds(seconds float64) string { return rate(1e3*seconds) + " ms" }

// concurrentRow is a row of bench/concurrent.
type concurrentRow struct {
	Callers   int     `json:"callers"`
	Tokens    int     `json:"tokens"`
	DType     string  `json:"dtype"`
	Rate      float64 `json:"rate"`
	BatchRate float64 `json:"batch_rate"`
	Ratio     float64 `json:"ratio"`
	P50       float64 `json:"p50_seconds"`
	P99       float64 `json:"p99_seconds"`
	Alone     float64 `json:"alone_seconds"`
	Peak      int64   `json:"peak_bytes"`
	BatchPeak int64   `json:"batch_peak_bytes"`
}

func concurrentSection(folder string) (string, *chart, error) {
	rows, err := rowsOf[concurrentRow](folder, "concurrent")
	if err != nil || len(rows) == 0 {
		return missing("concurrent") + "\n", nil, err
	}
	t := table{{"callers x tokens", "together", "as one batch", "ratio", "a caller waits: median", "p99", "alone", "peak memory", "of the batch"}}
	for _, r := range rows {
		t.add(fmt.Sprintf("%d x %d, %s", r.Callers, r.Tokens, r.DType), rate(r.Rate)+" texts/s", rate(r.BatchRate), fmt.Sprintf("%.2f", r.Ratio),
			milliseconds(r.P50), milliseconds(r.P99), milliseconds(r.Alone), fmt.Sprintf("%.0f MB", float64(r.Peak)/1e6), fmt.Sprintf("%.0f MB", float64(r.BatchPeak)/1e6))
	}
	return t.String(), nil, nil
}

// partsSection says how each part is measured again, and how long that takes.
func partsSection(folder string) (string, *chart, error) {
	t := table{{"part", "what it runs", "took"}}
	for _, p := range allParts(pythonWord, modelWord, 0) {
		command, took := p.shown(), "-"
		if r, err := readRecord(folder, p.name); err == nil {
			command, took = r.Command, fmt.Sprintf("%.0f s", r.Seconds)
		}
		t.add(p.name, "`"+command+"`", took)
	}
	return t.String(), nil, nil
}
