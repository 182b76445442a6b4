package model

import (
	"fmt"
	"strings"

	"github.com/sinterml/sinter"
)

// denseConfig is config.json of the module Dense.
type denseConfig struct {
	ioNames
	In         int     `json:"in_features"`
	Out        int     `json:"out_features"`
	Bias       *bool   `json:"bias"`
	Activation *string `json:"activation_function"` // a class of torch
	Residual   bool    `json:"use_residual"`
}

// denseActivations are what the last part of that class may be.
var denseActivations = map[string]func(sinter.Tensor) sinter.Tensor{
	"Identity": func(x sinter.Tensor) sinter.Tensor { return x },
	"Tanh":     sinter.Tensor.Tanh,
	"ReLU":     sinter.Tensor.ReLU,
	"GELU":     sinter.Tensor.GELU,
	"SiLU":     sinter.Tensor.SiLU,
	"Sigmoid":  sinter.Tensor.Sigmoid,
}

// dense is a layer behind pooling.
type dense struct {
	config     denseConfig
	activation func(sinter.Tensor) sinter.Tensor
	weights    struct {
		Weight   sinter.Tensor `weight:"linear.weight" shape:"out in"`
		Bias     sinter.Tensor `weight:"linear.bias" shape:"out" when:"bias"`
		Residual sinter.Tensor `weight:"residual.weight" shape:"out in" when:"residual"`
	}
}

// readDense reads the layer in a folder, weights and all.
func (e *Encoder) readDense(s *source, folder string) (*dense, error) {
	file := moduleFile(folder, "config.json")
	d := &dense{}
	if err := s.required(file, &d.config); err != nil {
		return nil, err
	}
	if err := d.check(e.width); err != nil {
		return nil, fmt.Errorf("model: %s: %w", s.path(file), err)
	}
	c := &d.config
	weights := moduleFile(folder, weightFile)
	f, err := s.weightFile(weights)
	if err != nil {
		return nil, fmt.Errorf("model: %s, a layer behind pooling, in the format safetensors: %w", s.path(weights), err)
	}
	files := newWeightFiles(s.path(weights), f)
	e.files = append(e.files, files)
	b := &binder{files: files, sizes: map[string]int{
		"in": c.In, "out": c.Out, "bias": one(c.Bias == nil || *c.Bias), "residual": one(c.Residual && c.In != c.Out),
	}}
	return d, b.bind("", &d.weights)
}

func (d *dense) check(width int) error {
	c := &d.config
	if err := c.ioNames.check(); err != nil {
		return err
	}
	if c.In != width {
		return fmt.Errorf("in_features is %d, the vectors have %d", c.In, width)
	}
	if err := checkSizes(size{"out_features", c.Out, 1, maxSize}); err != nil {
		return err
	}
	name := "Tanh"
	if c.Activation != nil {
		name = (*c.Activation)[strings.LastIndexByte(*c.Activation, '.')+1:]
	}
	if d.activation = denseActivations[name]; d.activation == nil {
		return fmt.Errorf("activation_function %.80q is not supported", *c.Activation)
	}
	return nil
}

func (d *dense) apply(x sinter.Tensor) sinter.Tensor {
	y := d.activation(sinter.Linear(x, d.weights.Weight, d.weights.Bias))
	switch {
	case !d.config.Residual:
		return y
	case d.config.In == d.config.Out:
		return y.Add(x)
	}
	return y.Add(sinter.Linear(x, d.weights.Residual, sinter.Tensor{}))
}
