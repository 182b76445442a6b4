package cstyle_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/emit/cstyle"
	"github.com/sinterml/sinter/internal/emit/entry"
	"github.com/sinterml/sinter/internal/loop"
)

// Kernels with one operand, with two, and with one and as many arguments.
const (
	one   = "kernel %q\nparam x f32[9] read\nparam y f32[9] write\nfor global i < 9 {\n\ty[i] = x[i]\n}\n"
	two   = "kernel %q\nparam x f32[9] read\nparam y f32[9] write\nparam z f32[9] read\nfor global i < 9 {\n\ty[i] = x[i] + z[i]\n}\n"
	sizes = "kernel %q\nsymbol n 1 2\nsymbol m 1 4\nparam x f32[9] read\nparam y f32[9] write\nfor global i < 1 {\n\ty[i*size(n)] = x[i*size(m)]\n}\n"
)

// Kernels whose arguments are of the same kinds share entry points, Together at
// most, and each is called by the number that is told of it.
func TestTogether(t *testing.T) {
	style := *cstyle.OpenCLForProcessor
	style.Together = 3
	var kernels []*entry.Kernel
	for i, text := range []string{one, two, one, one, one, sizes, two, one, one} {
		k := parse(t, fmt.Sprintf(text, "k"), loop.Grouping{Width: 16})
		kernels = append(kernels, &entry.Kernel{Entry: fmt.Sprint("k", i), Work: k, Items: 1, Near: make([]bool, len(k.Params))})
	}
	kernels = append(kernels, cstyle.GemmForProcessor("product", product(), entry.Tile{}))
	p, err := style.Write(kernels)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]entry.Member{
		"k0": {Of: "of_k0", Number: 0}, "k2": {Of: "of_k0", Number: 1}, "k3": {Of: "of_k0", Number: 2},
		"k4": {Of: "of_k4", Number: 0}, "k7": {Of: "of_k4", Number: 1}, "k8": {Of: "of_k4", Number: 2},
		"k1": {Of: "of_k1", Number: 0}, "k6": {Of: "of_k1", Number: 1},
	}
	if fmt.Sprint(p.Shared) != fmt.Sprint(want) {
		t.Errorf("shared are %v, want %v", p.Shared, want)
	}
	entries := map[string]string{}
	for _, e := range regexp.MustCompile(`(?ms)^__kernel void (\w+)\((.*?)^}`).FindAllStringSubmatch(p.Source, -1) {
		entries[e[1]] = e[2]
	}
	if len(entries) != 5 || !strings.Contains(entries["product"], "\twork_product(p0, o1,") {
		t.Errorf("entry points are %v, want three that are shared, and two more", entries)
	}
	for name, m := range want {
		call := fmt.Sprintf("case %d: work_%s((__global const float *)a0, a1, (__global float *)a2, a3, ", m.Number, name)
		if !strings.Contains(entries[m.Of], call) {
			t.Errorf("%s has no %q:\n%s", m.Of, call, entries[m.Of])
		}
	}
}
