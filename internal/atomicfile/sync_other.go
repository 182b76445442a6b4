//go:build !unix

package atomicfile

// SyncDir has nothing to do: names are kept with what they name.
func SyncDir(string) error { return nil }
