//go:build !race

package tokenizer

const underRace = false
