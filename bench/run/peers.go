package main

import (
	"fmt"
	"slices"
	"strings"
)

// peerRow is a row of bench/peers/encode.py: one side at one size.
type peerRow struct {
	Batch   int     `json:"batch"`
	Tokens  int     `json:"tokens"`
	Threads int     `json:"threads"`
	Name    string  `json:"name"`
	DType   string  `json:"dtype"`
	Rate    float64 `json:"rate"`
	Bound   float64 `json:"bound"`
	Ratio   float64 `json:"ours_over_it"`
	Cosine  float64 `json:"least_cosine"`
}

func ours(name string) bool { return strings.HasPrefix(name, "sinter ") }

// peersSection is a table of what everyone reaches, and beside the rivals how
// many times that we do.
func peersSection(folder string) (string, *chart, error) {
	var text strings.Builder
	var plot *chart
	for _, threads := range []string{"1", "2"} {
		rows, err := rowsOf[peerRow](folder, "peers-"+threads)
		if err != nil {
			return "", nil, err
		}
		if len(rows) == 0 {
			text.WriteString(missing("peers-"+threads) + "\n\n")
			continue
		}
		fmt.Fprintf(&text, "%s\n", peersTable(rows))
		if plot == nil {
			plot = peersPlot(rows)
		}
	}
	return text.String(), plot, nil
}

func peersTable(rows []peerRow) table {
	t := table{{fmt.Sprintf("texts/s, threads: %d", rows[0].Threads)}}
	var names []string
	for _, r := range rows {
		if !slices.Contains(names, r.Name) {
			names = append(names, r.Name)
			t.add(r.Name)
		}
		if size := fmt.Sprintf("%d x %d", r.Batch, r.Tokens); !slices.Contains(t[0], size) {
			t[0] = append(t[0], size)
		}
		cell := rate(r.Rate)
		if !ours(r.Name) {
			cell = fmt.Sprintf("%s (ours %.2fx)", cell, r.Ratio)
		}
		line := 1 + slices.Index(names, r.Name)
		t[line] = append(t[line], cell)
	}
	t[0] = append(t[0], "least cosine")
	for i, name := range names {
		least := 1.0
		for _, r := range rows {
			if r.Name == name {
				least = min(least, r.Cosine)
			}
		}
		t[i+1] = append(t[i+1], fmt.Sprintf("%.5f", least))
	}
	return t
}

func peersPlot(rows []peerRow) *chart {
	c := &chart{title: fmt.Sprintf("Texts a second beside other libraries, threads: %d", rows[0].Threads)}
	for _, r := range rows {
		title := fmt.Sprintf("%d x %d tokens", r.Batch, r.Tokens)
		if n := len(c.panels); n == 0 || c.panels[n-1].title != title {
			c.panels = append(c.panels, panel{title: title})
		}
		p := &c.panels[len(c.panels)-1]
		p.bars = append(p.bars, bar{label: r.Name, dtype: r.DType, value: r.Rate, peer: !ours(r.Name)})
	}
	return c
}

// mixedRow is a row of bench/peers/mixed.py.
type mixedRow struct {
	Texts   int     `json:"texts"`
	Threads int     `json:"threads"`
	Name    string  `json:"name"`
	DType   string  `json:"dtype"`
	Rate    float64 `json:"rate"`
	Bound   float64 `json:"bound"`
	Over    float64 `json:"over_peer"`
	Mean    float64 `json:"mean_cosine"`
	Least   float64 `json:"least_cosine"`
}

func mixedSection(folder string) (string, *chart, error) {
	t := table{{"threads", "", "texts/s", "of sentence-transformers f32", "share of the bound", "what the bound would be", "cosine: mean", "least"}}
	plot := &chart{title: "1,000 texts of mixed lengths, texts a second"}
	for _, threads := range []string{"1", "2"} {
		rows, err := rowsOf[mixedRow](folder, "mixed-"+threads)
		if err != nil {
			return "", nil, err
		}
		if len(rows) == 0 {
			t.add(threads, missing("mixed-"+threads), "", "", "", "", "", "")
			continue
		}
		p := panel{title: "threads: " + threads}
		for _, r := range rows {
			t.add(threads, r.Name, rate(r.Rate), fmt.Sprintf("%.2fx", r.Over), fmt.Sprintf("%.2f", r.Rate/r.Bound),
				fmt.Sprintf("%.2fx", r.Over*r.Bound/r.Rate), fmt.Sprintf("%.5f", r.Mean), fmt.Sprintf("%.5f", r.Least))
			p.bars = append(p.bars, bar{label: strings.Replace(r.Name, "sentence-transformers", "s.-transformers", 1), dtype: r.DType, value: r.Rate, peer: !ours(r.Name)})
		}
		plot.panels = append(plot.panels, p)
	}
	return t.String(), plot, nil
}
