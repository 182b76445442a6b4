package main

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	store "github.com/sinterml/sinter/cmd/sinter/internal/index"
	"github.com/sinterml/sinter/hub"
	"github.com/sinterml/sinter/model"
)

// What the vectors of a text depend on, besides the model's files.
const (
	// vectorVersion changes with the code that makes vectors of a model's files,
	// where it makes others than before, by more than rounding.
	vectorVersion = 1
	// splitVersion changes with passage.Splitter, where it splits otherwise:
	// files are then split again, and what is new is embedded.
	splitVersion = 1
)

// modelIdentity names the contents of a model's files. It is computed for
// every search, so it reads little: the model in the binary knows its own
// digest, small files are read, and of large ones the digest is remembered in
// a file in folder for as long as the system says that they are the same.
func (a *app) modelIdentity(folder string) (store.Key, error) {
	if a.settings.model == "" {
		if m, ok := defaultModel().(interface{ Digest() string }); ok {
			return store.KeyOf("model in the binary", m.Digest()), nil
		}
	}
	dir, err := hub.Find(a.settings.model)
	if err != nil {
		return store.Key{}, err
	}
	d := digests{file: filepath.Join(folder, "models.json"), known: map[string]store.File{}}
	d.load()
	key, err := d.folder(dir)
	if err != nil {
		return key, err
	}
	d.save()
	if prompts := model.KnownPrompts(dir); prompts != nil { // which no file says
		key = store.KeyOf(key.String(), fmt.Sprint(prompts))
	}
	return key, nil
}

// digests are those of large files, by absolute path.
type digests struct {
	file    string
	known   map[string]store.File
	changed bool
}

// load reads what was remembered. Without it files are read again.
func (d *digests) load() {
	data, err := os.ReadFile(d.file)
	if err == nil {
		err = json.Unmarshal(data, &d.known)
	}
	if err != nil {
		d.known = map[string]store.File{}
	}
}

// save remembers digests, if there is a place to.
func (d *digests) save() {
	if !d.changed {
		return
	}
	if data, err := json.Marshal(d.known); err == nil && os.MkdirAll(filepath.Dir(d.file), 0o700) == nil {
		_ = store.WriteFile(d.file, data)
	}
}

// folder names the files of a model that may have a say in its vectors: its
// weights, its configuration and its tokenizer.
func (d *digests) folder(dir string) (store.Key, error) {
	files := os.DirFS(dir)
	var parts []string
	err := fs.WalkDir(files, ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && name != "." && (strings.HasPrefix(e.Name(), ".") || strings.Contains(name, "/")):
			return fs.SkipDir
		case e.IsDir() || !slices.Contains([]string{".json", ".safetensors", ".txt", ".model"}, path.Ext(name)):
			return nil
		}
		key, err := d.digest(filepath.Join(dir, filepath.FromSlash(name)))
		parts = append(parts, name, key.String())
		return err
	})
	if err != nil {
		return store.Key{}, fmt.Errorf("model %s: %w", dir, err)
	}
	return store.KeyOf(parts...), nil
}

// digest hashes a file, or remembers what it was.
func (d *digests) digest(name string) (store.Key, error) {
	const small = 1 << 20 // bytes, which take less than a millisecond
	info, err := os.Stat(name)
	if err != nil {
		return store.Key{}, err
	}
	if !info.Mode().IsRegular() { // a link to a folder, or what the model will not be read from
		return store.Key{}, nil
	}
	abs, err := filepath.Abs(name)
	if err != nil {
		return store.Key{}, err
	}
	stat := store.StatOf(info)
	if f := d.known[abs]; f.Same(stat) {
		return f.Content, nil
	}
	begun := time.Now().UnixNano()
	f, err := os.Open(name)
	if err != nil {
		return store.Key{}, err
	}
	defer f.Close()
	h := store.NewHash()
	if _, err := io.Copy(h, f); err != nil {
		return store.Key{}, err
	}
	key := h.Key()
	if info.Size() > small {
		d.known[abs] = store.File{Stat: stat, Read: begun, Content: key}
		d.changed = true
	}
	return key, nil
}
