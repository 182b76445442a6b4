package main

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"
)

// promptFlag is what commands have that embed texts for a purpose.
type promptFlag struct{ name string }

func (f *promptFlag) register(set *pflag.FlagSet) {
	set.StringVar(&f.name, "prompt", "", "put the model's prompt `NAME`, such as query or passage, before each text (default the model's own choice, mostly none)")
}

func (f *promptFlag) check(set *pflag.FlagSet) error {
	if set.Changed("prompt") && f.name == "" {
		return usagef("--prompt is empty: give the name of one of the model's prompts")
	}
	return nil
}

// textEmbedder embeds texts and keeps account of what was lost on the way.
type textEmbedder struct {
	encoder  *encoder
	dim      int // of the vectors
	encoding encodingWarning
	cut      cutWarning
}

// newTextEmbedder opens the encoder for the texts of a source.
func (a *app) newTextEmbedder(ctx context.Context, prompt string, s shorten, from textSource) (*textEmbedder, error) {
	if err := a.checkShorten(s); err != nil { // before the weights are read
		return nil, err
	}
	work := float64(unknown)
	if texts, bytes, ok := from.size(); ok && a.settings.device == "auto" {
		files, err := a.modelFS()
		if err != nil {
			return nil, err
		}
		work = workOf(files, texts, bytes)
	}
	e, err := a.openEncoderFor(ctx, prompt, s.dim, work)
	if err != nil {
		return nil, err
	}
	a.warnPooling(e)
	return &textEmbedder{encoder: e, dim: e.Dim(), cut: cutWarning{tokens: e.MaxTokens()}}, nil
}

func (t *textEmbedder) close() { _ = t.encoder.Close() }

// embed embeds texts of which the first has the index given.
func (t *textEmbedder) embed(ctx context.Context, first int, texts []string) ([]embedded, error) {
	indices := make([]int, len(texts))
	for i := range indices {
		indices[i] = first + i
	}
	return t.embedAt(ctx, indices, texts)
}

// embedAt embeds texts that have the indices given.
func (t *textEmbedder) embedAt(ctx context.Context, indices []int, texts []string) ([]embedded, error) {
	rows := make([]embedded, len(texts))
	ids := make([][]int32, len(texts))
	for i, text := range texts {
		t.encoding.look(indices[i], text)
		var cut bool
		ids[i], cut = t.tokens(text)
		t.cut.look(indices[i], cut)
		rows[i] = embedded{Index: indices[i], Tokens: len(ids[i]), Truncated: cut}
	}
	vectors, err := t.encoder.EncodeIDs(ctx, ids)
	if err != nil {
		return nil, err
	}
	for i, v := range vectors {
		rows[i].Embedding = v
	}
	return rows, nil
}

// tokens are those that the model reads of a text, and whether there are more.
func (t *textEmbedder) tokens(text string) (ids []int32, cut bool) {
	most := t.encoder.MaxTokens()
	ids = t.encoder.Tokens(text, most)
	if most <= 0 || len(ids) < most {
		return ids, false
	}
	return ids, len(t.encoder.Tokens(text, most+1)) > most
}

// warn says what was lost.
func (t *textEmbedder) warn(a *app) {
	a.warnEncoding(t.encoding)
	a.warnCut(t.cut)
}

// cutWarning counts texts that are longer than the model takes.
type cutWarning struct{ tokens, texts, first int }

func (w *cutWarning) look(index int, cut bool) {
	if !cut {
		return
	}
	if w.texts == 0 {
		w.first = index
	}
	w.texts++
}

func (a *app) warnCut(w cutWarning) {
	if w.texts > 0 && !a.settings.quiet {
		fmt.Fprintf(a.stderr, "sinter: texts cut to the %d tokens that the model takes: %d, the first is text %d\n", w.tokens, w.texts, w.first)
	}
}
