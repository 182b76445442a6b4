package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/embed"
	"github.com/sinterml/sinter/hub"
	"github.com/sinterml/sinter/model"
	"github.com/sinterml/sinter/tokenizer"
)

// modelFS is the files of the model that the settings name.
func (a *app) modelFS() (fs.FS, error) {
	if a.settings.model == "" {
		return defaultModel(), nil
	}
	dir, err := hub.Find(a.settings.model)
	if err != nil {
		return nil, err
	}
	return hub.Folder(dir), nil
}

// modelArgument takes the model of a command that may have it as its argument, which
// goes before that of the configuration file.
func (a *app) modelArgument(args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case args[0] == "":
		return usagef("the model is empty: give a folder, a file, or a name in the hub cache")
	case a.origins["model"] == fromFlag && a.settings.model != args[0]:
		return usagef("a model as argument and another by --model: give one")
	}
	a.settings.model = args[0]
	return nil
}

// modelName is what output calls the model.
func (a *app) modelName() string {
	if a.settings.model == "" {
		return defaultModelName
	}
	return a.settings.model
}

// openModel reads the weights; openEncoder also compiles them.
func (a *app) openModel() (*model.Encoder, error) {
	if a.settings.model == "" {
		return model.OpenFS(defaultModel())
	}
	dir, err := hub.Find(a.settings.model)
	if err != nil {
		return nil, err
	}
	return model.Open(dir)
}

// encoder is an open model with the device it runs on.
type encoder struct {
	*embed.Encoder
	device *sinter.Device
}

func (e *encoder) Close() error { return errors.Join(e.Encoder.Close(), e.device.Close()) }

func (a *app) openEncoder(ctx context.Context) (*encoder, error) {
	return a.openEncoderFor(ctx, "", 0, unknown)
}

// openEncoderFor also says which of the model's prompts stands before texts, how
// long vectors are to be, 0 being as the model has them, and how much work there
// is, in multiply-adds.
func (a *app) openEncoderFor(ctx context.Context, prompt string, dim int, work float64) (*encoder, error) {
	o := embed.Options{Model: a.settings.model, Prompt: prompt, Dim: dim, Precision: precisionOf(a.dtype()), Compile: a.compileOptions(), KeptBatch: work == unknown}
	if o.Model == "" {
		o.FS = defaultModel()
	}
	d, err := a.openDeviceFor(ctx, task{work, unknown})
	if err != nil {
		return nil, err
	}
	o.Device = d
	e, err := embed.New(ctx, o)
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return &encoder{e, d}, nil
}

// warnPooling tells of a model that does not say how its vectors are made.
func (a *app) warnPooling(e *encoder) {
	if e.AssumedPooling() {
		a.warn("model %s has no modules.json: vectors are the mean of its states, which are seldom good for comparing texts", a.modelName())
	}
}

// opening is an encoder that is being opened.
type opening struct {
	done    chan struct{}
	encoder *encoder
	err     error
}

// startEncoder opens the encoder beside what else there is to do.
func (a *app) startEncoder(ctx context.Context) *opening {
	o := &opening{done: make(chan struct{})}
	go func() {
		defer close(o.done)
		o.encoder, o.err = a.openEncoder(ctx)
	}()
	return o
}

func (o *opening) wait() (*encoder, error) {
	<-o.done
	return o.encoder, o.err
}

// close closes the encoder, if it could be opened.
func (o *opening) close() error {
	if e, _ := o.wait(); e != nil {
		return e.Close()
	}
	return nil
}

func (a *app) compileOptions() sinter.Options {
	return sinter.Options{NoOpt: a.settings.noOpt, Precision: precisionOf(a.dtype())}
}

// openTokenizer reads a model's tokenizer and leaves its weights alone.
func (a *app) openTokenizer() (*tokenizer.Tokenizer, error) {
	files, err := a.modelFS()
	if err != nil {
		return nil, err
	}
	t, err := tokenizer.Load(files, "tokenizer.json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("model %s has no tokenizer.json: is it the folder of a model?", a.modelName())
	}
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", a.modelName(), err)
	}
	return t, nil
}
