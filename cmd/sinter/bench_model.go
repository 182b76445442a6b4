package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/bench"
	"github.com/sinterml/sinter/embed"
	"github.com/sinterml/sinter/model"
)

// embedShapes are batches by tokens: a query, a text, and batches of texts.
var embedShapes = [][2]int{{1, 12}, {1, 128}, {8, 128}, {32, 128}}

func (a *app) encoderSizes() (bench.Encoder, error) {
	files, err := a.modelFS()
	if err != nil {
		return bench.Encoder{}, err
	}
	sizes, err := bench.ReadEncoder(files)
	if err != nil {
		return sizes, fmt.Errorf("model %s: %w", a.modelName(), err)
	}
	return sizes, nil
}

func (a *app) benchEmbed(ctx context.Context, b *benchRun) error {
	sizes, err := a.encoderSizes()
	if err != nil {
		return err
	}
	reference, err := a.referenceEmbeddings(ctx, sizes)
	if err != nil {
		return err
	}
	b.left = len(reference.shapes) * len(b.isas) * len(b.dtypes)
	for _, isa := range b.isas {
		for _, dtype := range b.dtypes {
			if err := b.embed(ctx, isa, dtype, sizes, reference); err != nil {
				return err
			}
		}
	}
	return nil
}

// embed measures one instruction set and number format. Encoders and their
// packed weights are given back before the next.
func (b *benchRun) embed(ctx context.Context, isa, dtype string, sizes bench.Encoder, reference embedReference) (err error) {
	encoders := map[int]*embed.Encoder{}
	defer func() {
		for _, e := range encoders {
			err = errors.Join(err, e.Close())
		}
		err = errors.Join(err, b.closeDevices())
	}()
	for _, threads := range b.threads {
		d, err := b.device(isa, threads)
		if err != nil {
			return err
		}
		if encoders[threads], err = b.app.encoderOn(ctx, d, dtype); err != nil {
			return err
		}
	}
	for _, shape := range reference.shapes {
		ids := embedIDs(shape[0], shape[1], sizes.Vocab)
		flops, read := float64(shape[0])*sizes.Flops(shape[1]), sizes.Weights()*weightBits(dtype)/8
		if b.other {
			flops, read = 0, 0 // its peak is not known
		}
		err := b.measure(ctx, bench.Case{
			Name: "embed", Set: "model", ISA: isa, DType: dtype, Shape: shape[:],
			Work: float64(shape[0]), Unit: "seq/s", Flops: flops, Read: read,
			Run: func(ctx context.Context, threads int) error {
				_, err := encoders[threads].EncodeIDs(ctx, ids)
				return err
			},
			Accuracy: func(ctx context.Context, threads int) (float64, error) {
				vectors, err := encoders[threads].EncodeIDs(ctx, ids)
				if err != nil {
					return 0, err
				}
				return meanCosine(vectors, reference.vectors[shape[1]]), nil
			},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// weightBits is what a weight has at least in the memory of a processor.
func weightBits(dtype string) int {
	switch dtype {
	case "bf16", "f16":
		return 16
	case "int8":
		return 8
	case "int4":
		return 4
	}
	return 32
}

// meanCosine compares embeddings with as many references as there are.
func meanCosine(vectors, references [][]float32) float64 {
	sum := 0.0
	n := min(len(vectors), len(references))
	for i := range n {
		sum += float64(embed.Cosine(vectors[i], references[i]))
	}
	return sum / float64(n)
}

// encoderOn opens the model of the settings on a device.
func (a *app) encoderOn(ctx context.Context, d *sinter.Device, dtype string) (*embed.Encoder, error) {
	o := embed.Options{Model: a.settings.model, Device: d, Precision: precisionOf(dtype), Compile: a.compileOptions()}
	if o.Model == "" {
		o.FS = defaultModel()
	}
	return embed.New(ctx, o)
}

// maxReferences is how many texts of a batch are compared: as many as the
// interpreter embeds in seconds.
const maxReferences = 4

// embedReference is what a benchmark of embeddings is compared with.
type embedReference struct {
	shapes  [][2]int            // embedShapes with no more tokens than the model takes
	vectors map[int][][]float32 // of the first texts of a length
}

// referenceEmbeddings has the interpreter embed, in f32, the first texts of
// each length.
func (a *app) referenceEmbeddings(ctx context.Context, sizes bench.Encoder) (r embedReference, err error) {
	d, err := sinter.Open("interp")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	e, err := a.encoderOn(ctx, d, dtypeOf(sinter.F32))
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	texts := map[int]int{} // compared, by length
	for _, shape := range embedShapes {
		if most := e.MaxTokens(); most > 0 {
			shape[1] = min(shape[1], most)
		}
		r.shapes = append(r.shapes, shape)
		texts[shape[1]] = max(texts[shape[1]], min(shape[0], maxReferences))
	}
	r.vectors = map[int][][]float32{}
	for tokens, n := range texts {
		if r.vectors[tokens], err = e.EncodeIDs(ctx, embedIDs(n, tokens, sizes.Vocab)); err != nil {
			return r, err
		}
	}
	return r, nil
}

// embedIDs draws texts; the first of a length are always the same.
func embedIDs(batch, tokens, vocab int) [][]int32 {
	r := rand.New(rand.NewPCG(uint64(tokens), 2))
	ids := make([][]int32, batch)
	for i := range ids {
		for range tokens {
			ids[i] = append(ids[i], int32(r.IntN(vocab)))
		}
	}
	return ids
}

// benchCompile times the way from a model's weights to a program.
func (a *app) benchCompile(ctx context.Context, b *benchRun) (err error) {
	m, err := a.openModel()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	for _, isa := range b.isas {
		var cold, warm []float64
		for range 7 {
			if err := ctx.Err(); err != nil {
				return err
			}
			c, w, err := a.timeCompile(m, isa)
			if err != nil {
				return err
			}
			cold, warm = append(cold, c), append(warm, w)
		}
		if err := b.add(b.compileRow("compile-cold", isa, cold), b.compileRow("compile-warm", isa, warm)); err != nil {
			return err
		}
	}
	return nil
}

// timeCompile traces and compiles on a fresh device, and again.
func (a *app) timeCompile(m *model.Encoder, isa string) (cold, warm float64, err error) {
	d, err := sinter.OpenCPU(sinter.CPUOptions{ISA: isa})
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	o := a.compileOptions()
	o.Device = d
	var seconds [2]float64
	for i := range seconds {
		start := time.Now()
		p, err := embed.Compile(m, o)
		if err != nil {
			return 0, 0, err
		}
		seconds[i] = time.Since(start).Seconds()
		defer p.Close()
	}
	return seconds[0], seconds[1], nil
}

func (b *benchRun) compileRow(name, isa string, seconds []float64) bench.Row {
	slices.Sort(seconds)
	middle := seconds[len(seconds)/2]
	return bench.Row{
		Name: name, Shape: []int{}, DType: b.app.dtype(), ISA: isa, Threads: 1,
		Seconds: middle, Rate: 1 / middle, Unit: "programs/s", Set: "model",
	}
}
