package main

import (
	"strings"
	"testing"
)

func TestBenchTrain(t *testing.T) {
	table := ok(t, "", "bench", "train", "--net", "mlp", "--profile", "--threads", "1")
	if !strings.HasPrefix(table, "  KERNELS") || !strings.Contains(table, "matmul") || !strings.Contains(table, "a run takes") {
		t.Errorf("the profile is\n%s", table)
	}
	if plan := ok(t, "", "bench", "train", "--net", "gpt", "--stage", "plan"); !strings.HasPrefix(plan, "plan\n") || !strings.Contains(plan, "attention") {
		t.Errorf("the plan is\n%.500s", plan)
	}
	for _, args := range [][]string{{"--net", "gpt7"}, {"--stage", "run"}, {"--stage", "plan", "--profile"}, {"--dtype", "int8"}, {"--dtype", "tf32"}} {
		if status, _, _ := runCommand(t, nil, "", append([]string{"bench", "train"}, args...)...); status != 2 {
			t.Errorf("%v: status %d, want 2", args, status)
		}
	}
}
