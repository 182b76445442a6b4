package main

import (
	"bufio"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/sinterml/sinter/nn"
	"github.com/sinterml/sinter/safetensors"
)

const weightsFile = "model.safetensors"

// save writes a folder that is the model with the block in place of its last:
// the other files as they are, and the other weights too.
func save(ctx context.Context, dir string, fsys fs.FS, f *safetensors.File, c *config, t *tuned) error {
	if err := copyFiles(dir, fsys); err != nil {
		return err
	}
	tensors, err := replaced(ctx, f, c, t)
	if err != nil {
		return err
	}
	out, err := os.Create(filepath.Join(dir, weightsFile))
	if err != nil {
		return err
	}
	w := bufio.NewWriter(out)
	return errors.Join(safetensors.Write(w, tensors, f.Metadata()), w.Flush(), out.Close())
}

// replaced are the tensors of the file with those of the block as they are now,
// in f32.
func replaced(ctx context.Context, f *safetensors.File, c *config, t *tuned) ([]safetensors.Tensor, error) {
	prefix, err := blockPrefix(f, c)
	if err != nil {
		return nil, err
	}
	state, err := nn.State(t)
	if err != nil {
		return nil, err
	}
	tensors, err := nn.Snapshot(ctx, state)
	if err != nil {
		return nil, err
	}
	ours := map[string]bool{}
	for i := range tensors {
		tensors[i].Name = fileName(prefix, tensors[i].Name)
		ours[tensors[i].Name] = true
	}
	for _, name := range f.Names() {
		if !ours[strings.TrimSuffix(name, scaleSuffix)] {
			other, _ := f.Tensor(name)
			tensors = append(tensors, other)
		}
	}
	return tensors, nil
}

func copyFiles(dir string, fsys fs.FS) error {
	return fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		to := filepath.Join(dir, filepath.FromSlash(name))
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return os.MkdirAll(to, 0o777)
		case path.Base(name) == weightsFile:
			return nil
		}
		content, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		return os.WriteFile(to, content, 0o666)
	})
}
