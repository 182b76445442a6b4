// Command peers is our side of encode.py: it embeds what it is asked to, as
// often as fits the time, and says how fast that was.
//
// A question is a line of JSON on standard input, an answer one on standard
// output:
//
//	{"dtype": "int8", "ids": [[101, 2023, 102]], "seconds": 0.5}
//	{"rate": 812.3, "vectors": [[0.01, ...]]}
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/embed"
)

type question struct {
	DType   string    `json:"dtype"`
	IDs     [][]int32 `json:"ids"`
	Seconds float64   `json:"seconds"`
}

type answer struct {
	Rate    float64     `json:"rate"` // texts a second
	Vectors [][]float32 `json:"vectors"`
}

func main() {
	model := flag.String("model", "", "folder of the model")
	threads := flag.Int("threads", 1, "threads")
	flag.Parse()
	if err := serve(*model, *threads); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func serve(model string, threads int) error {
	ctx := context.Background()
	d, err := sinter.OpenCPU(sinter.CPUOptions{Threads: threads})
	if err != nil {
		return err
	}
	encoders := map[string]*embed.Encoder{}
	for name, p := range map[string]sinter.Precision{"f32": sinter.F32, "bf16": sinter.BF16, "int8": sinter.Int8} {
		if encoders[name], err = embed.New(ctx, embed.Options{Model: model, Device: d, Precision: p}); err != nil {
			return err
		}
	}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<24)
	out := json.NewEncoder(os.Stdout)
	for in.Scan() {
		var q question
		if err := json.Unmarshal(in.Bytes(), &q); err != nil {
			return err
		}
		e := encoders[q.DType]
		if e == nil {
			return fmt.Errorf("dtype %q: use f32, bf16 or int8", q.DType)
		}
		a, err := measure(ctx, e, q)
		if err != nil {
			return err
		}
		if err := out.Encode(a); err != nil {
			return err
		}
	}
	return in.Err()
}

func measure(ctx context.Context, e *embed.Encoder, q question) (a answer, err error) {
	if a.Vectors, err = e.EncodeIDs(ctx, q.IDs); err != nil { // warm
		return a, err
	}
	start, n := time.Now(), 0
	for time.Since(start).Seconds() < q.Seconds {
		if _, err := e.EncodeIDs(ctx, q.IDs); err != nil {
			return a, err
		}
		n += len(q.IDs)
	}
	a.Rate = float64(n) / time.Since(start).Seconds()
	return a, nil
}
