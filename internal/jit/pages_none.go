//go:build !unix && !windows

package jit

import "errors"

const offHeap = false

func mapPages(n int) ([]byte, error) { return alignedBytes(n), nil }

func unmapPages([]byte) error { return nil }

func denyPages([]byte) error { return errors.ErrUnsupported }
