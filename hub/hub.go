// Package hub finds models on this machine: folders, files in them, and what
// other programs have put into the cache of the Hugging Face hub. It never
// touches the network.
package hub

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// Find returns the folder of a model: name is that folder, a file in it, or
// the name of a model in the hub cache ("sentence-transformers/all-MiniLM-L6-v2").
func Find(name string) (string, error) {
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		return name, nil
	case err == nil:
		return filepath.Dir(name), nil
	case !errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("hub: %w", err)
	}
	cache := Cache()
	if cache == "" || !hubName(name) {
		return "", fmt.Errorf("hub: no folder or file %q", name)
	}
	repo := filepath.Join(cache, "models--"+strings.ReplaceAll(name, "/", "--"))
	dir, err := snapshot(repo)
	if _, gone := errors.AsType[*revisionError](err); gone {
		return "", fmt.Errorf("hub: model %s in the cache %s: %w", name, cache, err)
	}
	if err != nil {
		return "", fmt.Errorf("hub: no folder %q, and no model of that name in the cache %s: give a folder, or download the model first", name, cache)
	}
	return dir, nil
}

// Cache is the folder of the hub cache, from the variables that other programs
// go by; "" where there is no home.
func Cache() string {
	for _, name := range []string{"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"} { // the second is the old name
		if dir := os.Getenv(name); dir != "" {
			return expand(dir)
		}
	}
	if dir := os.Getenv("HF_HOME"); dir != "" {
		return filepath.Join(expand(dir), "hub")
	}
	if dir := os.Getenv("XDG_CACHE_HOME"); dir != "" {
		return filepath.Join(expand(dir), "huggingface", "hub")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".cache", "huggingface", "hub")
}

var variable = regexp.MustCompile(`\$(\w+|\{\w+\})`)

// expand puts the home in place of "~" at the front, and values in place of
// variables that are set, as those programs do where no shell has done it.
func expand(path string) string {
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || os.IsPathSeparator(rest[0])) {
		if home, err := os.UserHomeDir(); err == nil {
			path = home + rest
		}
	}
	return variable.ReplaceAllStringFunc(path, func(name string) string {
		if value, ok := os.LookupEnv(strings.Trim(name, "${}")); ok {
			return value
		}
		return name
	})
}

// Names are the models in the hub cache, sorted. That they are whole is not
// checked.
func Names() []string {
	entries, err := os.ReadDir(Cache())
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries { // sorted by file name
		if name, ok := strings.CutPrefix(e.Name(), "models--"); ok && e.IsDir() {
			names = append(names, strings.Replace(name, "--", "/", 1))
		}
	}
	return names
}

// hubName tells whether name can be a model's name there: one or two parts.
func hubName(name string) bool {
	parts := strings.Split(name, "/")
	for _, p := range parts {
		if !isName(p) {
			return false
		}
	}
	return len(parts) <= 2
}

// isName tells whether s names something right inside a folder.
func isName(s string) bool {
	return s != "" && s != "." && s != ".." && !strings.ContainsAny(s, `/\:`)
}

// revisionError is a refs/main whose revision is not there, as an update that was
// broken off leaves it. Another revision has other weights: nobody asked for it.
type revisionError struct {
	revision string
	newest   string // the folder of what is there
}

func (e *revisionError) Error() string {
	return fmt.Sprintf("refs/main names the revision %.60q, which is not there: download the model again, or give the folder %s for the newest that is", e.revision, e.newest)
}

// snapshot is the revision that refs/main names, or the newest where there is no
// such file.
func snapshot(repo string) (string, error) {
	latest, err := newest(repo)
	if err != nil {
		return "", err
	}
	data, err := os.ReadFile(filepath.Join(repo, "refs", "main"))
	if err != nil {
		return latest, nil
	}
	rev := strings.TrimSpace(string(data))
	dir := filepath.Join(repo, "snapshots", rev)
	if info, err := os.Stat(dir); err == nil && info.IsDir() && isName(rev) {
		return dir, nil
	}
	return "", &revisionError{rev, latest}
}

// newest is the folder of the revision that was fetched last.
func newest(repo string) (string, error) {
	entries, err := os.ReadDir(filepath.Join(repo, "snapshots"))
	if err != nil {
		return "", err
	}
	newest, when := "", time.Time{}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && e.IsDir() && (newest == "" || info.ModTime().After(when)) {
			newest, when = filepath.Join(repo, "snapshots", e.Name()), info.ModTime()
		}
	}
	if newest == "" {
		return "", fs.ErrNotExist
	}
	return newest, nil
}
