// Command make quantises a sentence encoder for package minilm: matrices
// become 8-bit integers with one factor a row, so that the largest weight of
// a row is 127; vectors stay f32.
//
//	go run ./make -from ~/.cache/sinter-models/minilm -to data
package main

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/safetensors"
)

func main() {
	from := flag.String("from", "", "the publisher's folder")
	to := flag.String("to", "data", "where to write")
	flag.Parse()
	if err := run(*from, *to); err != nil {
		fmt.Fprintln(os.Stderr, "make:", err)
		os.Exit(1)
	}
}

// copied are the files taken over as they are.
var copied = []string{"config.json", "modules.json", "sentence_bert_config.json", "1_Pooling/config.json", "tokenizer.json"}

func run(from, to string) error {
	for _, name := range copied {
		data, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			return err
		}
		out := filepath.Join(to, name)
		if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(out, data, 0o644); err != nil {
			return err
		}
	}
	in, err := safetensors.Open(filepath.Join(from, "model.safetensors"))
	if err != nil {
		return err
	}
	defer in.Close()
	var tensors []safetensors.Tensor
	for _, name := range in.Names() {
		t, _ := in.Tensor(name)
		switch {
		case strings.HasSuffix(name, "position_ids") || strings.HasPrefix(name, "pooler."):
			// Not part of the encoder.
		case t.DType == sinter.F32 && len(t.Shape) == 2:
			tensors = append(tensors, quantise(t)...)
		case t.DType == sinter.F32:
			tensors = append(tensors, t)
		default:
			return fmt.Errorf("tensor %q has dtype %v", name, t.DType)
		}
	}
	var out bytes.Buffer
	meta := map[string]string{"format": "sinter", "layout": "1", "source": "sentence-transformers/all-MiniLM-L6-v2, Apache-2.0"}
	if err := safetensors.Write(&out, tensors, meta); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(to, "model.safetensors"), out.Bytes(), 0o644)
}

// quantise rounds a matrix [rows, columns] to q with w = q*scale[row].
func quantise(t safetensors.Tensor) []safetensors.Tensor {
	rows, cols := t.Shape[0], t.Shape[1]
	q := make([]byte, rows*cols)
	scales := make([]byte, 4*rows)
	for r := range rows {
		at := func(c int) float32 {
			return math.Float32frombits(binary.LittleEndian.Uint32(t.Data[4*(r*cols+c):]))
		}
		largest := float32(0)
		for c := range cols {
			largest = max(largest, at(c), -at(c))
		}
		scale := largest / 127
		if scale == 0 {
			scale = 1
		}
		for c := range cols {
			q[r*cols+c] = byte(int8(math.RoundToEven(float64(at(c) / scale))))
		}
		binary.LittleEndian.PutUint32(scales[4*r:], math.Float32bits(scale))
	}
	return []safetensors.Tensor{
		{Name: t.Name, DType: sinter.I8, Shape: t.Shape, Data: q},
		{Name: t.Name + ".scale", DType: sinter.F32, Shape: []int{rows, 1}, Data: scales},
	}
}
