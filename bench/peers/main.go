// Command peers is our side of the scripts beside it: it embeds what it is asked
// to and says what came out, or how fast that was, or how fast a net trains.
//
// A question is a line of JSON on standard input, with ids of tokens or texts,
// an answer one on standard output:
//
//	{"dtype": "int8", "ids": [[101, 2023, 102]]}
//	{"vectors": [[0.01, ...]]}
//	{"dtype": "f32", "texts": ["a text"], "seconds": 0.5}
//	{"rate": 312.3, "bound": 350.1}
//	{"dtype": "f32", "net": "gpt", "seconds": 0.5}
//	{"rate": 51.7, "bound": 66.2}
//	{"dtype": "f32", "net": "gpt6", "file": "gpt6.safetensors", "steps": 2}
//	{"losses": [4.27, 4.28]}
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/bench"
	"github.com/sinterml/sinter/embed"
)

type question struct {
	DType   string    `json:"dtype"`
	IDs     [][]int32 `json:"ids"`
	Texts   []string  `json:"texts"`   // instead of IDs
	Net     string    `json:"net"`     // to train, see bench/training
	File    string    `json:"file"`    // to begin a net with, see training.Step.Load
	Steps   int       `json:"steps"`   // to train it for, instead of Seconds
	Seconds float64   `json:"seconds"` // to measure for, in whole passes; 0: embed once
}

type answer struct {
	Vectors [][]float32 `json:"vectors,omitempty"`
	Losses  []float64   `json:"losses,omitempty"`
	Rate    float64     `json:"rate,omitempty"`  // texts or steps a second
	Bound   float64     `json:"bound,omitempty"` // what the peak of the processor, measured just before and after, allows
}

// side is what serves questions.
type side struct {
	threads  int
	device   *sinter.Device
	steps    map[string]*trained // by net and number format
	sizes    bench.Encoder
	encoders map[string]*embed.Encoder // by number format
	peaks    map[string]*bench.Peak
}

// main takes the instruction set from SINTER_CPU, as sinter does.
func main() {
	model := flag.String("model", "", "folder of the model")
	threads := flag.Int("threads", 1, "threads")
	flag.Parse()
	runtime.GOMAXPROCS(*threads) // tokenizing and collecting garbage count too
	if err := serve(*model, os.Getenv("SINTER_CPU"), *threads); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func open(ctx context.Context, model, isa string, threads int) (*side, error) {
	d, err := sinter.OpenCPU(sinter.CPUOptions{ISA: isa, Threads: threads})
	if err != nil {
		return nil, err
	}
	if isa == "" {
		isa = bench.ISAs()[0]
	}
	s := &side{threads: threads, device: d, steps: map[string]*trained{}, encoders: map[string]*embed.Encoder{}, peaks: map[string]*bench.Peak{}}
	for _, name := range []string{"f32", "bf16", "int8"} {
		if s.peaks[name], err = bench.NewPeak(isa, name); err != nil {
			return nil, err
		}
	}
	if model == "" { // nothing will be embedded
		return s, nil
	}
	if s.sizes, err = bench.ReadEncoder(os.DirFS(model)); err != nil {
		return nil, err
	}
	for name, p := range map[string]sinter.Precision{"f32": sinter.F32, "bf16": sinter.BF16, "int8": sinter.Int8} {
		if s.encoders[name], err = embed.New(ctx, embed.Options{Model: model, Device: d, Precision: p}); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func serve(model, isa string, threads int) error {
	ctx := context.Background()
	s, err := open(ctx, model, isa, threads)
	if err != nil {
		return err
	}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<24)
	out := json.NewEncoder(os.Stdout)
	for in.Scan() {
		var q question
		if err := json.Unmarshal(in.Bytes(), &q); err != nil {
			return err
		}
		a, err := s.answer(ctx, q)
		if err != nil {
			return err
		}
		if err := out.Encode(a); err != nil {
			return err
		}
	}
	return in.Err()
}

func (s *side) answer(ctx context.Context, q question) (a answer, err error) {
	if q.Net != "" {
		return s.train(ctx, q)
	}
	e := s.encoders[q.DType]
	if e == nil {
		return a, fmt.Errorf("dtype %q: use f32, bf16 or int8", q.DType)
	}
	if q.Seconds == 0 {
		a.Vectors, err = q.embed(ctx, e)
		return a, err
	}
	if q.Texts == nil { // warm, as encode.py does it with others; a pass over many texts needs no such
		if _, err := e.EncodeIDs(ctx, q.IDs); err != nil {
			return a, err
		}
	}
	flops, peak := q.flops(s.sizes, e), s.peak(q.DType)
	start, n := time.Now(), 0
	for time.Since(start).Seconds() < q.Seconds {
		vectors, err := q.embed(ctx, e)
		if err != nil {
			return a, err
		}
		n += len(vectors)
	}
	a.Rate = float64(n) / time.Since(start).Seconds()
	a.Bound = max(peak, s.peak(q.DType)) / flops // the machine at its best, before or after
	return a, nil
}

func (s *side) peak(dtype string) float64 {
	return s.peaks[dtype].Rate(s.threads, 10*time.Millisecond)
}

func (q question) embed(ctx context.Context, e *embed.Encoder) ([][]float32, error) {
	if q.Texts != nil {
		return e.Encode(ctx, q.Texts)
	}
	return e.EncodeIDs(ctx, q.IDs)
}

// flops is the work of a text, on average.
func (q question) flops(sizes bench.Encoder, e *embed.Encoder) float64 {
	sum := 0.0
	for _, ids := range q.IDs {
		sum += sizes.Flops(len(ids))
	}
	for _, text := range q.Texts {
		sum += sizes.Flops(len(e.Tokenizer().EncodeMax(text, e.MaxTokens()).IDs))
	}
	return sum / float64(len(q.IDs)+len(q.Texts))
}
