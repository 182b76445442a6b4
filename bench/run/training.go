package main

import (
	"fmt"

	"github.com/sinterml/sinter/bench"
)

// trainRow is a row of bench/peers/train.py: a net on both sides.
type trainRow struct {
	Net     string  `json:"net"`
	Threads int     `json:"threads"`
	DType   string  `json:"dtype"`
	Seconds float64 `json:"seconds"`
	Share   float64 `json:"share"`
	Peer    string  `json:"peer"`
	Theirs  float64 `json:"peer_seconds"`
	Ratio   float64 `json:"ours_over_its_time"`
}

// trainingSection is a step of each net beside the bound, then beside others.
func trainingSection(folder string) (string, *chart, error) {
	rows, err := rowsOf[bench.Row](folder, "steps")
	if err != nil {
		return "", nil, err
	}
	steps := table{{"a step of", "threads", "time", "share of the bound", "loss off by"}}
	for _, r := range rows {
		steps.add(r.Name+" "+r.DType, fmt.Sprint(r.Threads), milliseconds(r.Seconds), share(r), fmt.Sprintf("%.1e", r.Accuracy))
	}
	if len(rows) == 0 {
		steps.add(missing("steps"), "", "", "", "")
	}
	beside := table{{"a step of", "threads", "ours", "theirs", "ours / theirs", "share of the bound"}}
	for _, threads := range []string{"1", "2"} {
		rows, err := rowsOf[trainRow](folder, "train-"+threads)
		if err != nil {
			return "", nil, err
		}
		for _, r := range rows {
			beside.add(r.Net+" "+r.DType, threads, milliseconds(r.Seconds), fmt.Sprintf("%s (%s)", milliseconds(r.Theirs), r.Peer), fmt.Sprintf("%.2f", r.Ratio), fmt.Sprintf("%.2f", r.Share))
		}
		if len(rows) == 0 {
			beside.add(missing("train-"+threads), threads, "", "", "", "")
		}
	}
	return steps.String() + "\n" + beside.String(), nil, nil
}
