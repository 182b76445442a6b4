package hiprt

import "github.com/sinterml/sinter/internal/dynlib"

// BindFile makes the table from a library that a test has built.
func BindFile(path string) (*API, error) {
	lib, err := dynlib.Open(dynlib.Spec{API: "HIP", Linux: []string{path}, Darwin: []string{path}})
	if err != nil {
		return nil, err
	}
	return bind(lib, lib)
}
