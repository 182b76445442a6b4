package main

import (
	"io/fs"

	"github.com/sinterml/sinter/model/minilm"
)

// The model that stands where --model is not given: the one in the binary.
const (
	defaultModelName = "all-MiniLM-L6-v2"
	defaultModelText = "the one in the binary, " + defaultModelName
)

func defaultModel() fs.FS { return minilm.FS }
