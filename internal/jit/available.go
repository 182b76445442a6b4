package jit

import "sync"

// Available reports whether this process can run generated code. It maps a
// page once to find out.
var Available = sync.OnceValue(func() bool {
	c, err := Map([]byte{0})
	if err != nil {
		return false
	}
	return c.Close() == nil
})
