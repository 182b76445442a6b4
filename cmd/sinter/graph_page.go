package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/embed"
)

// graphPicture prints the model's program as a drawing, or writes its page, with
// what was measured if that is asked for.
func (a *app) graphPicture(ctx context.Context, f graphFlags) (err error) {
	m, err := a.openModel()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	o := a.compileOptions()
	if o.Device, err = a.openDevice(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.Device.Close()) }()
	p, err := sinter.Compile(embed.Graph(m), o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	if f.dot {
		_, err := io.WriteString(a.stdout, p.DOT())
		return err
	}
	if err := f.run.fit(m.MaxTokens); err != nil {
		return err
	}
	out, err := a.createOutput(f.html)
	if err != nil {
		return fmt.Errorf("--html: %w", err)
	}
	defer func() { err = out.close(err) }()
	rows := f.run.batch * f.run.tokens
	h := sinter.HTMLOptions{Title: a.modelName(), Sizes: map[string]int{"tokens": rows, "texts": f.run.batch}}
	if f.run.on {
		in, err := a.randomTexts(f.run)
		if err != nil {
			return err
		}
		if err := a.measureInto(ctx, o.Device, &h, profileRuns, f.run.timeline, func(ctx context.Context) error {
			outs, err := p.Run(ctx, in)
			for _, x := range outs {
				x.Release()
			}
			return err
		}); err != nil {
			return err
		}
	}
	return p.HTML(out, h)
}

// randomTexts are inputs of the model's program.
func (a *app) randomTexts(f profileFlags) (map[string]sinter.Tensor, error) {
	sizes, err := a.encoderSizes()
	if err != nil {
		return nil, err
	}
	var ids []int32
	offsets := []int32{0}
	for _, text := range embedIDs(f.batch, f.tokens, sizes.Vocab) {
		ids = append(ids, text...)
		offsets = append(offsets, int32(len(ids)))
	}
	return map[string]sinter.Tensor{"ids": sinter.Of(ids, len(ids)), "offsets": sinter.Of(offsets, len(offsets))}, nil
}

// measureInto adds what was measured of run on a device to what a page shows.
func (a *app) measureInto(ctx context.Context, d *sinter.Device, h *sinter.HTMLOptions, runs int, timeline string, run func(context.Context) error) (err error) {
	if h.Profile, _, err = a.timeKernels(ctx, runs, timeline, run); err != nil {
		return err
	}
	kernels := h.Profile.Kernels()
	h.Limits, err = a.limitsOf(ctx, d, kernels)
	if err == nil {
		for _, text := range doubts(kernels, h.Limits) {
			a.warn("%s", text)
		}
	}
	return err
}

// writePage writes the page of p to a file.
func (a *app) writePage(name string, p *sinter.Program, h sinter.HTMLOptions) (err error) {
	out, err := a.createOutput(name)
	if err != nil {
		return fmt.Errorf("--html: %w", err)
	}
	defer func() { err = out.close(err) }()
	return p.HTML(out, h)
}
