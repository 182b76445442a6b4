package hub

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Folder is the files of a model's folder as a file system. What it opens are
// regular files inside the folder: models come from strangers, and a link
// could lead to any file of this machine, a pipe or a device hold its reader
// for ever. Links inside the folder are followed, and in a snapshot of the hub
// cache those to the blobs beside it, of which it is made.
type Folder string

// Open opens a file, as fs.FS wants it; what it returns is an *os.File.
func (f Folder) Open(name string) (fs.File, error) {
	file, err := f.open(name)
	var path *fs.PathError
	switch {
	case err == nil:
		return file, nil
	case errors.As(err, &path): // of where a link leads
		err = path.Err
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: err}
}

func (f Folder) open(name string) (*os.File, error) {
	if f == "" {
		return nil, errors.New("no folder is named")
	}
	if !fs.ValidPath(name) {
		return nil, errors.New("not a path inside the folder")
	}
	local, err := filepath.Localize(name)
	if err != nil {
		return nil, errors.New("not a path inside the folder")
	}
	dir, err := filepath.Abs(string(f)) // as bound is
	if err != nil {
		return nil, err
	}
	bound, err := f.bound()
	if err != nil {
		return nil, err
	}
	target, err := filepath.EvalSymlinks(filepath.Join(dir, local))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, missing(dir, local, err)
	}
	if err != nil {
		return nil, err
	}
	inside, err := filepath.Rel(bound, target)
	if err != nil || !filepath.IsLocal(inside) {
		return nil, fmt.Errorf("a link that leads out of the folder, to %s: put the file itself there", target)
	}
	root, err := os.OpenRoot(bound)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	// Opening a pipe waits for its other end, opening a device can do something.
	info, err := root.Lstat(inside)
	if err != nil {
		return nil, err
	}
	if err := checkRegular(info); err != nil {
		return nil, err
	}
	file, err := root.OpenFile(inside, openFlags, 0)
	if err != nil {
		return nil, err
	}
	info, err = file.Stat() // the same file, one hopes
	if err == nil {
		err = checkRegular(info)
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

// missing is the error of a file that is not there, err, unless there is a link of
// that name: then the file is there but its contents are not, as after a download
// that was not finished.
func missing(dir, local string, err error) error {
	for name := local; name != "."; name = filepath.Dir(name) {
		info, lstatErr := os.Lstat(filepath.Join(dir, name))
		if lstatErr == nil && info.Mode()&fs.ModeSymlink != 0 {
			target, _ := os.Readlink(filepath.Join(dir, name)) // for the message alone
			return fmt.Errorf("a link to %s, where there is no such file: was the model loaded whole?", target)
		}
	}
	return err
}

// bound is the folder that files may lie in, without links.
func (f Folder) bound() (string, error) {
	dir, err := filepath.Abs(string(f))
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	snapshots := filepath.Dir(dir)
	repo := filepath.Dir(snapshots)
	if filepath.Base(snapshots) == "snapshots" && strings.HasPrefix(filepath.Base(repo), "models--") {
		return repo, err
	}
	return dir, err
}

func checkRegular(info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return errors.New("it is a folder")
	case !info.Mode().IsRegular():
		return fmt.Errorf("it is no regular file (%v)", info.Mode().Type())
	}
	return nil
}
