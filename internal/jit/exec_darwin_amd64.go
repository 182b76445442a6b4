package jit

import "errors"

// mapFile has no counterpart on macOS: there is no memfd.
func mapFile([]byte) ([]byte, error) { return nil, errors.ErrUnsupported }
