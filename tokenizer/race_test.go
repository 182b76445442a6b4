//go:build race

package tokenizer

// underRace says that times are those of the race detector.
const underRace = true
