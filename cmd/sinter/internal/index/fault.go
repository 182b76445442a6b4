package index

import (
	"fmt"
	"runtime/debug"
)

// DamageError is a file that does not hold what was written.
type DamageError struct {
	File   string
	Reason string
}

func (e *DamageError) Error() string { return fmt.Sprintf("%s is damaged: %s", e.File, e.Reason) }

// guard turns a fault in memory that is mapped from a file, and a panic of what
// reads the file, into a DamageError.
func guard(file string, f func() error) error {
	return guardAny(func(uintptr) string { return file }, f)
}

// guardAny is guard where an address tells the file, 0 for a panic. A file that
// shrinks while it is mapped leaves pages behind that cannot be read.
func guardAny(file func(address uintptr) string, f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch fault := recover().(type) {
		case nil:
		case interface{ Addr() uintptr }:
			err = &DamageError{file(fault.Addr()), "it cannot be read where it is mapped into memory: was it cut short?"}
		default:
			err = &DamageError{file(0), fmt.Sprint(fault)}
		}
	}()
	return f()
}
