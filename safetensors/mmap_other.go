//go:build !unix

package safetensors

// mapFile gives a file's bytes and the function that gives them back.
func mapFile(path string) ([]byte, func() error, error) { return readFile(path) }
