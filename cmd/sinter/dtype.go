package main

import (
	"slices"
	"strings"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/model/minilm"
)

// dtypes are the number formats that --dtype knows, and what they stand for.
var dtypes = []struct {
	name      string
	precision sinter.Precision
	// onCPU says that processors multiply in it, which benchmarks show: others
	// are there computed in f32.
	onCPU bool
}{{"f32", sinter.F32, true}, {"tf32", sinter.TF32, false}, {"bf16", sinter.BF16, true}, {"f16", sinter.F16, false}, {"int8", sinter.Int8, true}, {"int4", sinter.Int4, false}}

func dtypeNames() []string {
	var names []string
	for _, d := range dtypes {
		names = append(names, d.name)
	}
	return names
}

// cpuDTypes are those that processors multiply in.
func cpuDTypes() []string {
	var names []string
	for _, d := range dtypes {
		if d.onCPU {
			names = append(names, d.name)
		}
	}
	return names
}

// checkDType refuses a format that is not known; said is where it stands.
func checkDType(said, name string) error {
	if !slices.Contains(dtypeNames(), name) {
		return usagef("%s %q: use %s", said, name, strings.Join(dtypeNames(), ", "))
	}
	return nil
}

// dtype is the number format to compute in: that of --dtype, or else of the
// model.
func (a *app) dtype() string {
	switch {
	case a.settings.dtype != "":
		return a.settings.dtype
	case a.settings.model == "":
		return dtypeOf(minilm.Precision)
	}
	return dtypeOf(sinter.F32)
}

func dtypeOf(p sinter.Precision) string {
	for _, d := range dtypes {
		if d.precision == p {
			return d.name
		}
	}
	return ""
}

func precisionOf(dtype string) sinter.Precision {
	for _, d := range dtypes {
		if d.name == dtype {
			return d.precision
		}
	}
	return 0
}
