package sinter_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/embed"
	"github.com/sinterml/sinter/internal/effort"
	"github.com/sinterml/sinter/internal/reftest"
	"github.com/sinterml/sinter/model"
	"github.com/sinterml/sinter/model/minilm"
	"github.com/sinterml/sinter/safetensors"
)

const weightsFile = "model.safetensors"

// modelFiles reads the files of a small encoder of the reference data.
func modelFiles(t testing.TB) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{}
	root := os.DirFS(reftest.Dir(t, "bert/cls"))
	err := fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(path, "reference") {
			return err
		}
		data, err := fs.ReadFile(root, path)
		files[path] = &fstest.MapFile{Data: data}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// with is files with one of them changed.
func with(files fstest.MapFS, name string, data []byte) fstest.MapFS {
	changed := maps.Clone(files)
	changed[name] = &fstest.MapFile{Data: data}
	return changed
}

// load reads a model and embeds two texts with it.
func load(files fs.FS, d *sinter.Device) error {
	m, err := model.OpenFS(files)
	if err != nil {
		return err
	}
	defer m.Close()
	p, err := embed.Compile(m, sinter.Options{Device: d})
	if err != nil {
		return err
	}
	defer p.Close()
	out, err := p.Run(context.Background(), map[string]sinter.Tensor{
		"ids": sinter.Of([]int32{1, 2, 3, 0, 5}, 5), "offsets": sinter.Of([]int32{0, 2, 5}, 3)})
	if err != nil {
		return err
	}
	_, err = sinter.Values[float32](context.Background(), out[0])
	return err
}

// A model file that is cut short anywhere is an error.
func TestTruncatedModels(t *testing.T) {
	d := openCPU(t, sinter.CPUOptions{})
	files := modelFiles(t)
	if err := load(files, d); err != nil {
		t.Fatal(err)
	}
	for name, f := range files {
		cuts := []int{0, 1, 7, 8, 9, len(f.Data) / 2, len(f.Data) - 1}
		if name == weightsFile {
			header := 8 + int(binary.LittleEndian.Uint64(f.Data))
			for at := 0; at < header; at += 61 {
				cuts = append(cuts, at)
			}
			for at := header; at < len(f.Data); at += 4999 {
				cuts = append(cuts, at)
			}
		}
		for _, n := range cuts {
			if n >= 0 && n < len(f.Data) && whole(f.Data[:n]) != whole(f.Data) && load(with(files, name, f.Data[:n]), d) == nil {
				t.Errorf("%s cut to %d bytes of %d is read", name, n, len(f.Data))
			}
		}
	}
}

// whole is data without the line end that may be missing.
func whole(data []byte) string { return strings.TrimSpace(string(data)) }

// Files that are missing are errors, or have a default.
func TestMissingModelFiles(t *testing.T) {
	d := openCPU(t, sinter.CPUOptions{})
	files := modelFiles(t)
	for name := range files {
		without := maps.Clone(files)
		delete(without, name)
		err := load(without, d)
		if err == nil && (name == weightsFile || name == "config.json") {
			t.Errorf("without %s a model is read", name)
		}
		if err != nil && !strings.Contains(err.Error(), filepath.Base(name)) {
			t.Errorf("the error without %s does not name it: %v", name, err)
		}
	}
	for _, o := range []embed.Options{{}, {Model: "no/such/model"}, {Model: t.TempDir()}, {FS: fstest.MapFS{}}, {FS: minilm.FS, BatchTokens: -1},
		{FS: minilm.FS, Precision: 200}, {FS: minilm.FS, Device: &sinter.Device{}}, {FS: files}} { // the last has no tokenizer
		if e, err := embed.New(context.Background(), o); err == nil {
			t.Errorf("%+v: no error", o)
			_ = e.Close()
		}
	}
	//lint:ignore SA1012 nil is the case
	if _, err := embed.New(nil, embed.Options{FS: minilm.FS}); err == nil {
		t.Error("a nil context: no error")
	}
}

// A header with flipped bits is an error or a model, and never more memory
// than the file could fill.
func TestFlippedModelHeaders(t *testing.T) {
	d := openCPU(t, sinter.CPUOptions{})
	files := modelFiles(t)
	data := files[weightsFile].Data
	header := 8 + int(binary.LittleEndian.Uint64(data))
	step := effort.Of(71, 23, 7, 7) // primes, lest the same bits be hit
	read := 0
	for at := 0; at < header; at += step {
		changed := bytes.Clone(data)
		changed[at] ^= 1 << (at % 8)
		if load(with(files, weightsFile, changed), d) == nil {
			read++
		}
	}
	for name, value := range map[string]uint64{"no header": 0, "a header to the end": uint64(len(data) - 8), "a header past the end": uint64(len(data)), "a huge header": 1 << 63} {
		changed := bytes.Clone(data)
		binary.LittleEndian.PutUint64(changed, value)
		if load(with(files, weightsFile, changed), d) == nil {
			t.Errorf("%s is read", name)
		}
	}
	if read > header/step/2 {
		t.Errorf("%d of %d changed headers are read", read, header/step)
	}
	config := files["config.json"].Data
	for at := range config {
		changed := bytes.Clone(config)
		changed[at] ^= 1 << (at % 7)
		_ = load(with(files, "config.json", changed), d) // an error or not
	}
}

// Ids outside the vocabulary are errors that say so.
func TestWrongIDs(t *testing.T) {
	m, err := model.OpenFS(modelFiles(t))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	p, err := embed.Compile(m, sinter.Options{Device: openCPU(t, sinter.CPUOptions{})})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for _, id := range []int32{-1, 1 << 30, -1 << 31} {
		_, err := p.Run(context.Background(), map[string]sinter.Tensor{"ids": sinter.Of([]int32{1, 2, id}, 3), "offsets": sinter.Of([]int32{0, 3}, 2)})
		var e *sinter.IndexError
		if !errors.As(err, &e) || e.Index != int64(id) || e.At != 2 || e.Op != "gather" {
			t.Errorf("id %d: %v", id, err)
		}
	}
	for _, offsets := range [][]int32{{}, {0}, {1, 3}, {0, 4}, {0, 2, 1, 3}, {0, -1, 3}, {0, 1 << 30, 3}} {
		_, err := p.Run(context.Background(), map[string]sinter.Tensor{"ids": sinter.Of([]int32{1, 2, 3}, 3), "offsets": sinter.Of(offsets, len(offsets))})
		if err == nil {
			t.Errorf("offsets %v: no error", offsets)
		}
	}
}

// A file that shrinks under its mapping makes runs fail; the process lives.
func TestModelFileShrinks(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, modelFiles(t)); err != nil {
		t.Fatal(err)
	}
	m, err := model.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for _, isa := range []string{"", "generic"} {
		p, err := embed.Compile(m, sinter.Options{Device: openCPU(t, sinter.CPUOptions{ISA: isa})})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		if err := os.Truncate(filepath.Join(dir, weightsFile), 0); err != nil {
			t.Skip("a mapped file cannot be truncated here:", err)
		}
		_, err = p.Run(context.Background(), map[string]sinter.Tensor{"ids": sinter.Of([]int32{1, 2}, 2), "offsets": sinter.Of([]int32{0, 2}, 2)})
		if err == nil || !strings.Contains(err.Error(), "truncated") {
			t.Errorf("%q: %v", isa, err)
		}
	}
}

// Nor does it end with a weight of such a file, wherever that is used.
func TestWeightsOfShrunkFile(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	if err := os.CopyFS(dir, modelFiles(t)); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, weightsFile)
	f, err := safetensors.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	w, ok := f.Tensor(f.Names()[0])
	if !ok || w.DType != sinter.F32 {
		t.Fatalf("%+v", w)
	}
	x := sinter.Weight(w.Name, w.DType, w.Data, w.Shape...)
	defer f.Close()
	if err := os.Truncate(name, 0); err != nil {
		t.Skip("a mapped file cannot be truncated here:", err)
	}
	if _, err := sinter.Values[float32](ctx, x); err == nil {
		t.Skip("files are not mapped here")
	}
	if x.String() == "" || sinter.Capture(x).String() == "" {
		t.Error("nothing is printed")
	}
	interp, err := sinter.Open("interp")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []*sinter.Device{interp, openCPU(t, sinter.CPUOptions{})} {
		if _, err := sinter.Eval(sinter.WithDevice(ctx, d), x.Neg()); err == nil {
			t.Errorf("%v computed with it", d)
		}
	}
	if sinter.Weight("b", sinter.Bool, w.Data, len(w.Data)).Err() == nil {
		t.Error("a weight was read that is gone")
	}
}

// Texts of any bytes have an embedding.
func TestHostileTexts(t *testing.T) {
	ctx := context.Background()
	e, err := embed.New(ctx, embed.Options{FS: minilm.FS})
	if err != nil {
		t.Fatal(err)
	}
	all := []string{"", " ", "\x00", "\xff\xfe\xfd", "a\xc3", strings.Repeat("\xf0\x28\x8c\x28", 50), "\u202e\u0301\u0301", strings.Repeat("long ", 5000),
		strings.Repeat("x", 100_000), "\U0010FFFF", "[CLS] [SEP] [MASK]", "👩‍👩‍👧‍👦", "\r\n\t"}
	v, err := e.Encode(ctx, all)
	if err != nil || len(v) != len(all) {
		t.Fatalf("%d vectors: %v", len(v), err)
	}
	for i, text := range all {
		one, err := e.Encode(ctx, []string{text})
		if err != nil || !slices.Equal(one[0], v[i]) {
			t.Errorf("%.20q alone differs (%v)", text, err)
		}
		if norm := embed.Cosine(v[i], v[i]); !(norm >= 0.999) {
			t.Errorf("%.20q has no direction: %v", text, norm)
		}
	}
	//lint:ignore SA1012 nil is the case
	if _, err := e.Encode(nil, all); err == nil {
		t.Error("a nil context: no error")
	}
	if v, err := e.Encode(ctx, nil); err != nil || len(v) != 0 {
		t.Errorf("no texts: %v, %v", v, err)
	}
	for _, ids := range [][]int32{{-1}, {1 << 30}} {
		if _, err := e.EncodeIDs(ctx, [][]int32{{101, 102}, ids}); err == nil {
			t.Errorf("ids %v: no error", ids)
		}
	}
	if v, err := e.EncodeIDs(ctx, [][]int32{{}}); err != nil || len(v) != 1 {
		t.Errorf("a text without a token: %v, %v", v, err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Encode(ctx, all); !errors.Is(err, sinter.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if err := e.Close(); !errors.Is(err, sinter.ErrClosed) {
		t.Errorf("closed twice: %v", err)
	}
}
