// Package minilm holds the sentence encoder all-MiniLM-L6-v2 inside the binary,
// with weights of 8 bits: 23 MB, for those who import it.
//
// The model is by the authors of sentence-transformers, under the Apache
// License 2.0 (data/LICENSE): https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2
//
// The files in data were made from the publisher's by the command below.
package minilm

import (
	"embed"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
	"unsafe"

	"github.com/sinterml/sinter"
)

//go:generate go run ./make -from $MINILM -to data

//go:embed data/config.json data/modules.json data/sentence_bert_config.json data/1_Pooling/config.json data/tokenizer.json data/LICENSE
var small embed.FS

// As a string the weights stay in the binary's read-only pages; a []byte would
// be writable, an embed.FS copies what it is asked for.
//
//go:embed data/model.safetensors
var weights string

const weightsName = "model.safetensors"

// FS is the folder of the model. It also has the methods
// Bytes(name string) ([]byte, bool), which gives the weights where they lie in
// the binary, not to be changed, and Digest() string, a hash of all files.
var FS fs.FS = files{}

type files struct{}

// Open opens a file or folder of the model.
func (files) Open(name string) (fs.File, error) {
	switch name {
	case weightsName:
		return &weightsFile{strings.NewReader(weights)}, nil
	case ".":
		return newRoot()
	}
	f, err := small.Open(path.Join("data", name))
	if !fs.ValidPath(name) || err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return f, nil
}

// Precision is what embed.New computes this model's products in where its
// options do not say.
const Precision = sinter.Int8

// Precision is what the model asks to be computed in.
func (files) Precision() sinter.Precision { return Precision }

// digest is the SHA-256 of all files of the model: TestDigest says what it must
// be.
const digest = "2e2e8d54e3d22aafb270c1bf3ca5aa4d19b5218188ac51324e376ee541571b13"

// Digest tells this model from others, without reading it.
func (files) Digest() string { return digest }

// Bytes gives the bytes of the weights.
func (files) Bytes(name string) ([]byte, bool) {
	if name != weightsName {
		return nil, false
	}
	return unsafe.Slice(unsafe.StringData(weights), len(weights)), true
}

// weightsFile is the file of the weights.
type weightsFile struct{ *strings.Reader }

func (f *weightsFile) Close() error               { return nil }
func (f *weightsFile) Stat() (fs.FileInfo, error) { return weightsInfo{}, nil }

type weightsInfo struct{}

func (weightsInfo) Name() string               { return weightsName }
func (weightsInfo) Size() int64                { return int64(len(weights)) }
func (weightsInfo) Mode() fs.FileMode          { return 0o444 }
func (weightsInfo) ModTime() time.Time         { return time.Time{} }
func (weightsInfo) IsDir() bool                { return false }
func (weightsInfo) Sys() any                   { return nil }
func (weightsInfo) Type() fs.FileMode          { return 0 }
func (weightsInfo) Info() (fs.FileInfo, error) { return weightsInfo{}, nil }

// root is the folder itself: what is embedded as files, and the weights.
type root struct {
	fs.File
	entries []fs.DirEntry
}

func newRoot() (fs.File, error) {
	dir, err := small.Open("data")
	if err != nil {
		return nil, err
	}
	entries, err := small.ReadDir("data")
	if err != nil {
		return nil, err
	}
	entries = append(entries, weightsInfo{})
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return &root{dir, entries}, nil
}

// Stat renames the embedded folder to ".".
func (r *root) Stat() (fs.FileInfo, error) {
	info, err := r.File.Stat()
	return rootInfo{info}, err
}

type rootInfo struct{ fs.FileInfo }

func (rootInfo) Name() string { return "." }

// ReadDir lists the folder as fs.ReadDirFile says.
func (r *root) ReadDir(n int) ([]fs.DirEntry, error) {
	if n <= 0 {
		n = len(r.entries)
	} else if len(r.entries) == 0 {
		return nil, io.EOF
	}
	n = min(n, len(r.entries))
	list := r.entries[:n:n]
	r.entries = r.entries[n:]
	return list, nil
}
