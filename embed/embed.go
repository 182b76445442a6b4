// Package embed turns texts into vectors whose inner product says how alike
// the texts are in meaning.
package embed

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/hub"
	"github.com/sinterml/sinter/model"
	"github.com/sinterml/sinter/tokenizer"
)

// Options say which model to use and how. One of Model and FS is needed:
// minilm.FS is a model inside the binary.
type Options struct {
	Model string // a folder, a file in it, or the name of a model in the local hub cache
	FS    fs.FS  // a file system with the model at its root; used where Model is empty
	// Prompt names one of the model's prompts, which then stands before every
	// text of Encode; "" is its default, if it has one. PromptText is a text for
	// that instead.
	Prompt, PromptText string
	// Dim shortens vectors to their first components, for models trained to
	// have what matters most there: of unit length again where the whole
	// vectors are. 0 is all, or what the model asks for.
	Dim       int
	Precision sinter.Precision // of products; 0: what FS asks for by a method Precision() sinter.Precision, else F32
	Device    *sinter.Device   // nil: the best
	// BatchTokens is how many tokens run at a time, which bounds memory; 0 is 1024, on
	// devices of kind cuda, hip and metal 8192. Those have a caller's next batch before
	// they are done with one, which takes memory for two, where there is as much.
	BatchTokens int
	// KeptBatch has BatchTokens, if that is 0, be what RecommendBatch found earlier
	// for this model and device, where that was faster than as many as without it.
	// The device "cpu" keeps these.
	KeptBatch bool
	// Compile is passed on where it is set: NoOpt, Trace and Check; Device and Precision are those above.
	Compile sinter.Options
}

const (
	// Larger batches are no faster, as what lies between two kernels outgrows the
	// caches: BenchmarkMixed is 3 % slower at 2048 tokens and 7 % at 8192.
	cpuBatchTokens = 1024
	// 1024 tokens are work for an eighth of a large GPU: an H200 does most at 8192.
	gpuBatchTokens = 8192
)

// ErrNoModel is returned by New where Options name no model.
var ErrNoModel = errors.New("embed: no model: set Options.Model to a folder, or Options.FS to minilm.FS for the one that comes with sinter")

// Encoder embeds texts. It serves any number of goroutines at once. The zero
// Encoder is an error when used.
type Encoder struct {
	model   *model.Encoder
	prompts prompts
	program *sinter.Program
	batch   int
	queue   coalescer
	uses    uses
}

var (
	errZero        = errors.New("embed: the zero Encoder embeds nothing: make one with New")
	errNoTokenizer = errors.New("embed: the model has no tokenizer.json: without it texts cannot be read")
	errNilContext  = errors.New("embed: the context is nil: use context.Background()")
	errClosed      = fmt.Errorf("embed: the encoder is %w", sinter.ErrClosed)
)

// New reads a model and compiles it: one program, for texts of any number and
// length.
func New(ctx context.Context, o Options) (*Encoder, error) {
	switch {
	case ctx == nil:
		return nil, errNilContext
	}
	if err := o.checkBatch(); err != nil {
		return nil, err
	}
	m, err := open(o)
	if err != nil {
		return nil, err
	}
	e := &Encoder{model: m}
	if err := e.prepare(ctx, o); err != nil {
		_ = m.Close()
		return nil, err
	}
	return e, nil
}

// prepare makes the program for an open model.
func (e *Encoder) prepare(ctx context.Context, o Options) error {
	if e.model.Tokenizer == nil {
		return errNoTokenizer
	}
	if o.Dim != 0 {
		if err := e.model.Shorten(o.Dim); err != nil {
			return fmt.Errorf("embed: %w", err)
		}
	}
	var err error
	if e.prompts, err = choosePrompts(e.model, o); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if e.program, err = Compile(e.model, o.compile()); err != nil {
		return fmt.Errorf("embed: %w", err)
	}
	switch {
	case o.BatchTokens != 0:
		e.batch = o.BatchTokens
	case o.KeptBatch:
		e.batch = e.kept(ctx)
	default:
		e.batch = usualBatch(e.program.Info().Device)
	}
	e.queue.run, e.queue.tokens = e.run, e.batch
	e.queue.most, e.queue.ahead = batchesAtOnce(e.program.Info().Device)
	return nil
}

// checkBatch refuses a size of batches that there is not.
func (o Options) checkBatch() error {
	if o.BatchTokens < 0 {
		return fmt.Errorf("embed: batches of %d tokens: use 1 or more, or 0 for what the device usually has", o.BatchTokens)
	}
	return nil
}

// compile is the options of the program.
func (o Options) compile() sinter.Options {
	co := o.Compile
	co.Device, co.Precision = o.Device, o.precision()
	return co
}

// precision is what was asked for: by the options, or else by the model.
func (o Options) precision() sinter.Precision {
	asks, ok := o.FS.(interface{ Precision() sinter.Precision })
	if o.Precision == 0 && o.Model == "" && ok {
		return asks.Precision()
	}
	return o.Precision
}

func open(o Options) (*model.Encoder, error) { return find(o, model.Open, model.OpenFS) }

// find opens the model that the options name.
func find[M any](o Options, open func(string) (*M, error), openFS func(fs.FS) (*M, error)) (*M, error) {
	switch {
	case o.Model != "":
		dir, err := hub.Find(o.Model)
		if err != nil {
			return nil, err
		}
		return open(dir)
	case o.FS != nil:
		return openFS(o.FS)
	}
	return nil, ErrNoModel
}

// maxRows bounds the tokens, and the texts, of one run.
const maxRows = 1 << 24

// Graph is the program of an encoder: inputs "ids" (i32 [tokens]) and
// "offsets" (i32 [texts+1]), output the embeddings.
func Graph(m *model.Encoder) *sinter.Graph {
	ids := sinter.Input("ids", sinter.I32, sinter.Sym("tokens", 0, maxRows))
	offsets := sinter.Input("offsets", sinter.I32, sinter.Sym("texts", 0, maxRows).Plus(1))
	return sinter.Capture(m.Forward(model.Inputs{IDs: ids, Offsets: offsets}).Embedding)
}

// Compile compiles Graph.
func Compile(m *model.Encoder, o sinter.Options) (*sinter.Program, error) {
	return sinter.Compile(Graph(m), o)
}

// Dim is the length of the vectors.
func (e *Encoder) Dim() int {
	if e.zero() {
		return 0
	}
	return e.model.Width()
}

// AssumedPooling tells that the model's folder does not say how vectors are made:
// it has no modules.json. They are the mean of a network's states then, as
// sentence-transformers makes them, which are seldom good for comparing texts.
func (e *Encoder) AssumedPooling() bool { return !e.zero() && e.model.AssumedPooling }

// Tokenizer is the model's.
func (e *Encoder) Tokenizer() *tokenizer.Tokenizer {
	if e.zero() {
		return nil
	}
	return e.model.Tokenizer
}

// MaxTokens is the length, special tokens included, that texts are cut to.
func (e *Encoder) MaxTokens() int {
	if e.zero() {
		return 0
	}
	return e.model.MaxTokens
}

func (e *Encoder) zero() bool { return e == nil || e.model == nil }

// Close frees the program and the model once what runs has ended. Later calls
// are errors: sinter.ErrClosed.
func (e *Encoder) Close() error {
	if e.zero() {
		return errZero
	}
	if !e.uses.close() {
		return errClosed
	}
	return errors.Join(e.program.Close(), e.model.Close())
}

// Encode embeds texts and returns a vector of length Dim for each, in order.
// A text longer than the model takes is cut. An empty one has the vector of
// nothing but special tokens. Each vector is the same, bit for bit, whatever
// the other texts are. The prompt of Options stands before each text.
func (e *Encoder) Encode(ctx context.Context, texts []string) ([][]float32, error) {
	return e.encode(ctx, func(p prompts) string { return p.any }, texts)
}

// EncodeQuery is Encode for texts that others are searched for by, with the
// model's prompt for those. A model without one has no prompt here.
func (e *Encoder) EncodeQuery(ctx context.Context, texts []string) ([][]float32, error) {
	return e.encode(ctx, func(p prompts) string { return p.query }, texts)
}

// EncodePassage is Encode for texts that are searched, with the model's prompt
// for those. A model without one has no prompt here.
func (e *Encoder) EncodePassage(ctx context.Context, texts []string) ([][]float32, error) {
	return e.encode(ctx, func(p prompts) string { return p.passage }, texts)
}

func (e *Encoder) encode(ctx context.Context, prompt func(prompts) string, texts []string) ([][]float32, error) {
	if err := e.check(ctx); err != nil {
		return nil, err
	}
	p := prompt(e.prompts)
	ids := make([][]int32, len(texts))
	err := parallel(ctx, len(texts), func(i int) { ids[i] = e.tokens(p+texts[i], e.model.MaxTokens) })
	if err != nil {
		return nil, err
	}
	return e.EncodeIDs(ctx, ids)
}

// Tokens are the ids of a text with its prompt, special tokens included, at
// most max: with MaxTokens, those that Encode reads. With max 0 there is no
// limit.
func (e *Encoder) Tokens(text string, max int) []int32 {
	if e.zero() {
		return nil
	}
	return e.tokens(e.prompts.any+text, max)
}

func (e *Encoder) tokens(text string, max int) []int32 {
	if e.model.LowerCase {
		text = lowerCase(text)
	}
	return e.model.Tokenizer.EncodeMax(text, max).IDs
}

// lowerCase is a text in lower case, as tokenizers make it: of one letter the small
// form is two runes.
func lowerCase(text string) string {
	return strings.ToLower(strings.ReplaceAll(text, "İ", "i\u0307"))
}

// EncodeIDs embeds texts given as token ids, special tokens included. The mean
// of none is 0; models that take another one of the hidden states need a token.
func (e *Encoder) EncodeIDs(ctx context.Context, ids [][]int32) ([][]float32, error) {
	if err := e.check(ctx); err != nil {
		return nil, err
	}
	if e.needsToken() {
		if i := slices.IndexFunc(ids, func(t []int32) bool { return len(t) == 0 }); i >= 0 {
			return nil, fmt.Errorf("embed: text %d has no tokens, of which the model's pooling takes one: leave it out", i)
		}
	}
	if !e.uses.begin() {
		return nil, errClosed
	}
	defer e.uses.end()
	return e.queue.all(ctx, split(ids, e.batch))
}

// needsToken tells whether the pooling of a text without tokens would be the
// state of another text, or no number.
func (e *Encoder) needsToken() bool {
	return slices.ContainsFunc(e.model.Pooling, func(p model.Pooling) bool { return p != model.PoolMean })
}

func (e *Encoder) check(ctx context.Context) error {
	switch {
	case e.zero():
		return errZero
	case ctx == nil:
		return errNilContext
	case e.uses.ended(): // before texts are read
		return errClosed
	}
	return ctx.Err()
}

// run embeds one batch.
func (e *Encoder) run(ctx context.Context, texts [][]int32, tokens int) ([][]float32, error) {
	flat := make([]int32, 0, tokens)
	offsets := make([]int32, 1, len(texts)+1)
	for _, t := range texts {
		flat = append(flat, t...)
		offsets = append(offsets, int32(len(flat)))
	}
	values, err := runValues(ctx, e.program, e.model, inputs(flat, offsets))
	if err != nil {
		return nil, err
	}
	dim := e.Dim()
	vectors := make([][]float32, len(texts))
	for i := range vectors {
		vectors[i] = values[i*dim : (i+1)*dim : (i+1)*dim]
	}
	return vectors, nil
}

// parallel calls f for each of n texts, on all processors where there are many.
func parallel(ctx context.Context, n int, f func(i int)) error {
	const piece = 64
	work := func(from, to int) {
		for i := from; i < to; i++ {
			f(i)
		}
	}
	if n <= piece {
		work(0, n)
		return ctx.Err()
	}
	next := make(chan int)
	var wait sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for from := range next {
				work(from, min(from+piece, n))
			}
		})
	}
	for from := 0; from < n && ctx.Err() == nil; from += piece {
		next <- from
	}
	close(next)
	wait.Wait()
	return ctx.Err()
}

// Cosine is the cosine of the angle between two vectors; 0 where one is 0, and
// NaN where their lengths differ.
func Cosine(a, b []float32) float32 {
	if len(a) != len(b) {
		return float32(math.NaN())
	}
	var ab, aa, bb float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		ab, aa, bb = ab+float64(x*y), aa+float64(x*x), bb+float64(y*y)
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return float32(ab / math.Sqrt(aa*bb))
}
