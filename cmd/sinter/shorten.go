package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// shorten are the flags of commands whose vectors may be shortened.
type shorten struct {
	dim int  // 0: as they are
	any bool // whatever the model says
}

func (s *shorten) register(set *pflag.FlagSet) {
	set.IntVar(&s.dim, "dim", 0, "keep the first `N` numbers of each vector, for models that list N (default all)")
	set.BoolVar(&s.any, "any-dim", false, "let --dim shorten the vectors of a model that does not say it was trained for that")
}

func (s *shorten) check(set *pflag.FlagSet) error {
	switch {
	case set.Changed("dim") && s.dim < 1:
		return usagef("--dim %d: use at least 1", s.dim)
	case s.any && !set.Changed("dim"):
		return usagef("--any-dim is about --dim: give that too")
	}
	return nil
}

// checkShorten refuses what would silently be worse: the first numbers of a
// vector are a good vector only if the model was trained for it (Matryoshka
// representation learning), which it says by the sizes in config.json.
func (a *app) checkShorten(s shorten) error {
	if s.dim == 0 || s.any {
		return nil
	}
	files, err := a.modelFS()
	if err != nil {
		return err
	}
	data, err := readConfig(files)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // opening the model says more
	}
	if err != nil {
		return err
	}
	var config struct {
		Sizes []int `json:"matryoshka_dimensions"`
		Width int   `json:"hidden_size"`
	}
	if err := json.Unmarshal(data, &config); err != nil {
		return fmt.Errorf("model %s: config.json: matryoshka_dimensions: %w", a.modelName(), err)
	}
	switch {
	case s.dim == config.Width || slices.Contains(config.Sizes, s.dim):
		return nil
	case len(config.Sizes) > 0:
		return usagef("--dim %d: model %s was trained for %s", s.dim, a.modelName(), strings.Trim(strings.ReplaceAll(fmt.Sprint(config.Sizes), " ", ", "), "[]"))
	}
	return usagef("--dim %d: model %s does not list sizes that its vectors may be shortened to (matryoshka_dimensions in config.json): if its authors say so elsewhere, add --any-dim", s.dim, a.modelName())
}

// maxModelConfig bounds a config.json, which opening the model says more of.
const maxModelConfig = 1 << 20

func readConfig(files fs.FS) ([]byte, error) {
	f, err := files.Open("config.json")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxModelConfig))
}
