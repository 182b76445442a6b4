package main

import "io/fs"

// What stands where --model is not given.
const (
	defaultModelName = ""
	defaultModelText = "none: it must be given"
)

func defaultModel() (fs.FS, error) {
	return nil, usagef("no model: give --model with a folder, a file in it, or a name in the local hub cache")
}
