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
}{{"f32", sinter.F32}, {"bf16", sinter.BF16}, {"int8", sinter.Int8}}

// laterDTypes are those that are to come.
var laterDTypes = []string{"f16", "int4"}

func dtypeNames() []string {
	var names []string
	for _, d := range dtypes {
		names = append(names, d.name)
	}
	return names
}

// checkDType refuses a format that is not known; said is where it stands.
func checkDType(said, name string) error {
	known := strings.Join(dtypeNames(), ", ")
	switch {
	case slices.Contains(laterDTypes, name):
		return usagef("%s %s is not supported yet: use %s", said, name, known)
	case !slices.Contains(dtypeNames(), name):
		return usagef("%s %q: use %s", said, name, known)
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
