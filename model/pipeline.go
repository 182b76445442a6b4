package model

import (
	"fmt"
	"math"
	"strings"

	"github.com/sinterml/sinter"
)

// module is an entry of modules.json.
type module struct {
	Path string `json:"path"`
	Type string `json:"type"`
}

// step is a module behind pooling: it maps vectors [B, width].
type step interface {
	apply(x sinter.Tensor) sinter.Tensor
}

// unitLength is the module Normalize.
type unitLength struct{}

func (unitLength) apply(x sinter.Tensor) sinter.Tensor {
	norm := x.Square().SumKeep(-1).Sqrt()
	return x.Div(norm.Maximum(sinter.Scalar(1e-12)))
}

// shorter keeps so many components.
type shorter int

func (n shorter) apply(x sinter.Tensor) sinter.Tensor {
	return x.Narrow(1, sinter.N(0), sinter.N(int(n)))
}

const maxModules, maxPath = 16, 255

// readModules reads what follows the network. A folder without modules.json is
// that of a plain network: sentence-transformers takes the mean of its states, with a
// warning.
func (e *Encoder) readModules(s *source) error {
	const file = "modules.json"
	var modules []module
	ok, err := s.config(file, &modules)
	if err != nil {
		return err
	}
	e.width = e.net.dims().hidden
	if !ok {
		e.Pooling, e.AssumedPooling = []Pooling{PoolMean}, true
		return nil
	}
	if len(modules) > maxModules {
		return fmt.Errorf("model: %s: %d modules are more than %d", s.path(file), len(modules), maxModules)
	}
	for i, m := range modules {
		if err := e.readModule(s, i, m); err != nil {
			return err
		}
	}
	if e.Pooling == nil {
		return fmt.Errorf("model: %s names no pooling: it is not a sentence encoder", s.path(file))
	}
	return nil
}

// readModule reads one. Their types have been in several places of
// sentence-transformers; the last part of the name stayed.
func (e *Encoder) readModule(s *source, i int, m module) error {
	name, ours := strings.CutPrefix(m.Type, "sentence_transformers.")
	name = name[strings.LastIndexByte(name, '.')+1:]
	switch {
	case len(m.Path) > maxPath:
		return fmt.Errorf("model: %s: module %d has a path of %d bytes", s.path("modules.json"), i, len(m.Path))
	case ours && i == 0 && name == "Transformer":
		if m.Path != "" {
			return fmt.Errorf("model: %s: the network is in the folder %.80q: only beside that file is supported", s.path("modules.json"), m.Path)
		}
		return nil
	case ours && name == "Pooling" && e.Pooling == nil:
		return e.readPooling(s, m.Path)
	case ours && name == "Normalize" && e.Pooling != nil:
		e.Normalize = true
		e.steps = append(e.steps, unitLength{})
		return s.checkSentence(m.Path)
	case ours && name == "Dense" && e.Pooling != nil:
		d, err := e.readDense(s, m.Path)
		if err != nil {
			return err
		}
		e.Normalize = false
		e.steps = append(e.steps, d)
		e.width = d.config.Out
		return nil
	}
	return fmt.Errorf("model: %s: module %d, %.80q, is not supported: only a Transformer, Pooling, and any of Dense and Normalize", s.path("modules.json"), i, m.Type)
}

// moduleFile is a file in a module's folder.
func moduleFile(folder, name string) string {
	if folder == "" {
		return name
	}
	return folder + "/" + name
}

// required reads the configuration of a module.
func (s *source) required(file string, v any) error {
	ok, err := s.config(file, v)
	if err == nil && !ok {
		err = fmt.Errorf("model: %s is missing, modules.json names it", s.path(file))
	}
	return err
}

func (e *Encoder) readPooling(s *source, folder string) error {
	file := moduleFile(folder, "config.json")
	var c poolingConfig
	if err := s.required(file, &c); err != nil {
		return err
	}
	if c.width != 0 && c.width != e.width {
		return fmt.Errorf("model: %s: word_embedding_dimension is %d, hidden_size in config.json %d", s.path(file), c.width, e.width)
	}
	e.Pooling, e.excludesPrompt = c.poolings, c.excludePrompt
	e.width *= len(c.poolings)
	return nil
}

// ioNames are what a module reads and writes.
type ioNames struct {
	Input  *string `json:"module_input_name"`
	Output *string `json:"module_output_name"`
}

const sentence = "sentence_embedding"

func (n ioNames) check() error {
	for key, name := range map[string]*string{"module_input_name": n.Input, "module_output_name": n.Output} {
		if name != nil && *name != sentence {
			return fmt.Errorf("%s %.80q is not supported: only %s", key, *name, sentence)
		}
	}
	return nil
}

// checkSentence makes sure that a module which may have a configuration is
// about the text's vector.
func (s *source) checkSentence(folder string) error {
	if folder == "" {
		return nil
	}
	file := moduleFile(folder, "config.json")
	var n ioNames
	if _, err := s.config(file, &n); err != nil {
		return err
	}
	if err := n.check(); err != nil {
		return fmt.Errorf("model: %s: %w", s.path(file), err)
	}
	return nil
}

// readMaxTokens finds the length that texts are cut to: what
// sentence_bert_config.json says, else tokenizer_config.json, and never more
// than the network has positions for.
func readMaxTokens(s *source, most int) (int, error) {
	name, c, err := s.input()
	if err != nil {
		return 0, err
	}
	if c.Max != nil {
		return checkMax(s.path(name), "max_seq_length", *c.Max, most)
	}
	var t struct {
		Max *float64 `json:"model_max_length"` // 1e30 for no limit
	}
	if _, err := s.config(tokenizerConfig, &t); err != nil {
		return 0, err
	}
	if t.Max != nil {
		return checkMax(s.path(tokenizerConfig), "model_max_length", *t.Max, most)
	}
	return most, nil
}

func checkMax(file, key string, value float64, most int) (int, error) {
	if value < 1 || value != math.Trunc(value) {
		return 0, fmt.Errorf("model: %s: %s is %v", file, key, value)
	}
	return int(min(value, float64(most))), nil
}
