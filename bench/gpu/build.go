//go:build !static

package main

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

// packed is what the files of tests end in.
const packed = ".gz"

// buildAll builds the program, and its tests, packed to be carried.
func buildAll(ctx context.Context, dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := goTool(ctx, "build", "-o", filepath.Join(dir, "gpu"), "./bench/gpu"); err != nil {
		return err
	}
	for _, p := range programs {
		file := filepath.Join(dir, p.file)
		if err := goTool(ctx, "test", "-o", file, "-c", "./"+p.folder); err != nil {
			return err
		}
		if err := pack(file); err != nil {
			return err
		}
	}
	n, err := size(os.DirFS(dir))
	fmt.Printf("%s: %.1f MB\n", dir, n/1e6)
	return err
}

// mostBytes is how large what is carried to a machine may be.
const mostBytes = 60e6

// size is what the program and its tests take.
func size(dir fs.FS) (total float64, err error) {
	for _, name := range append([]string{"gpu"}, packedTests()...) {
		info, err := fs.Stat(dir, name)
		if err != nil {
			return total, err
		}
		total += float64(info.Size())
	}
	if total > mostBytes {
		return total, fmt.Errorf("%.1f MB, and at most %.0f are to be carried", total/1e6, mostBytes/1e6)
	}
	return total, nil
}

func packedTests() []string {
	var names []string
	for _, p := range programs {
		names = append(names, p.file+packed)
	}
	return names
}

// goTool builds without symbols.
func goTool(ctx context.Context, command string, args ...string) error {
	c := exec.CommandContext(ctx, "go", append([]string{command, "-trimpath", "-ldflags=-s -w"}, args...)...)
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("go %s %v: %w", command, args, err)
	}
	return nil
}

// pack puts a packed file in the place of a file.
func pack(name string) (err error) {
	from, err := os.Open(name)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.Create(name + packed)
	if err != nil {
		return err
	}
	z, err := gzip.NewWriterLevel(to, gzip.BestCompression)
	if err != nil {
		return err
	}
	_, err = io.Copy(z, from)
	if err := errors.Join(err, z.Close(), to.Close()); err != nil {
		return err
	}
	return os.Remove(name)
}

// unpack puts a test of the folder of this program where it can be run.
func (s *settings) unpack(file string) (_ string, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if s.tests == "" {
		if s.tests, err = os.MkdirTemp("", "sinter-gpu-"); err != nil {
			return "", err
		}
	}
	from, err := os.Open(filepath.Join(filepath.Dir(self), file+packed))
	if err != nil {
		return "", fmt.Errorf("%w: build it with -build", err)
	}
	defer from.Close()
	z, err := gzip.NewReader(from)
	if err != nil {
		return "", err
	}
	name := filepath.Join(s.tests, file)
	to, err := os.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o700)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(to, z)
	return name, errors.Join(err, to.Close())
}
