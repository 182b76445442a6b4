//go:build !(linux || darwin) || android || ios || !(amd64 || arm64)

package dynlib

// KeepSignals does nothing where there are no signals that a library could
// take.
func KeepSignals() (restore func()) { return func() {} }
