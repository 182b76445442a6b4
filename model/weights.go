package model

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"

	"github.com/sinterml/sinter/safetensors"
)

// weightFiles are the weights of a model: one file, or parts of it with an
// index that says in which part each tensor is.
type weightFiles struct {
	path  string // of the file, or of the index, for messages
	names []string
	parts []*safetensors.File
	in    map[string]*safetensors.File // by tensor; nil where there is one part
}

const (
	weightFile  = "model.safetensors"
	weightIndex = "model.safetensors.index.json"
	// maxParts bounds the files of one model.
	maxParts = 1000
)

// weights opens the weights of a folder: mapped where they are files.
func (s *source) weights() (*weightFiles, error) {
	f, err := s.weightFile(weightFile)
	if err == nil {
		return newWeightFiles(s.path(weightFile), f), nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var index struct {
		Of map[string]string `json:"weight_map"`
	}
	ok, indexErr := s.config(weightIndex, &index)
	switch {
	case indexErr != nil:
		return nil, indexErr
	case !ok && s.has("pytorch_model.bin"):
		return nil, fmt.Errorf("model: %s has its weights in pytorch_model.bin, which is a program: convert it, docs/models.md has a line for that: %w", s.name, err)
	case !ok:
		return nil, fmt.Errorf("model: %s has no %s: is it the folder of a model, in that format? %w", s.name, weightFile, err)
	}
	w := &weightFiles{path: s.path(weightIndex), in: map[string]*safetensors.File{}}
	if err := w.open(s, index.Of); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

func newWeightFiles(path string, f *safetensors.File) *weightFiles {
	return &weightFiles{path: path, names: f.Names(), parts: []*safetensors.File{f}}
}

// weightFile opens one file, of the folder alone.
func (s *source) weightFile(name string) (*safetensors.File, error) {
	if !fs.ValidPath(name) {
		return nil, fmt.Errorf("model: %.80q leads out of the folder %s", name, s.name)
	}
	if b, ok := s.fsys.(bytesFS); ok {
		if data, ok := b.Bytes(name); ok {
			return safetensors.Parse(s.path(name), data)
		}
	}
	file, size, err := s.open(name)
	if err != nil {
		return nil, fmt.Errorf("model: %s: %w", s.path(name), err)
	}
	if f, ok := file.(*os.File); ok {
		return safetensors.OpenFile(s.path(name), f)
	}
	_ = file.Close()
	data, err := s.read(name, size)
	if err != nil {
		return nil, fmt.Errorf("model: %s: %w", s.path(name), err)
	}
	return safetensors.Parse(s.path(name), data)
}

// open opens the parts that an index names.
func (w *weightFiles) open(s *source, of map[string]string) error {
	opened := map[string]*safetensors.File{}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		part := of[name]
		if part != path.Base(part) || !fs.ValidPath(part) || part == "." {
			return fmt.Errorf("model: %s: tensor %.80q is in %.80q, which is no file beside the index", w.path, name, part)
		}
		if opened[part] == nil {
			if len(opened) == maxParts {
				return fmt.Errorf("model: %s names more than %d files", w.path, maxParts)
			}
			f, err := s.weightFile(part)
			if err != nil {
				return err
			}
			opened[part] = f
			w.parts = append(w.parts, f)
		}
		w.in[name] = opened[part]
		w.names = append(w.names, name)
	}
	return nil
}

func (w *weightFiles) tensor(name string) (safetensors.Tensor, bool) {
	if w.in == nil {
		return w.parts[0].Tensor(name)
	}
	f, ok := w.in[name]
	if !ok {
		return safetensors.Tensor{}, false
	}
	return f.Tensor(name)
}

func (w *weightFiles) has(name string) bool {
	_, ok := w.tensor(name)
	return ok
}

func (w *weightFiles) close() error {
	var err error
	for _, f := range w.parts {
		err = errors.Join(err, f.Close())
	}
	return err
}
