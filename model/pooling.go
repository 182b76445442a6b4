package model

import (
	"fmt"

	"github.com/sinterml/sinter"
)

// Pooling says how the hidden states of a text become one vector.
type Pooling uint8

const (
	PoolMean       Pooling = iota // their mean
	PoolCLS                       // the first
	PoolMax                       // the largest of each component
	PoolMeanSqrtLN                // their sum over the square root of their number
)

// poolingConfig is 1_Pooling/config.json.
type poolingConfig struct {
	CLS      bool `json:"pooling_mode_cls_token"`
	Mean     bool `json:"pooling_mode_mean_tokens"`
	Max      bool `json:"pooling_mode_max_tokens"`
	SqrtLen  bool `json:"pooling_mode_mean_sqrt_len_tokens"`
	Weighted bool `json:"pooling_mode_weightedmean_tokens"`
	Last     bool `json:"pooling_mode_lasttoken"`
}

func (c poolingConfig) pooling() (Pooling, error) {
	var modes []Pooling
	for _, m := range []struct {
		on bool
		p  Pooling
	}{{c.CLS, PoolCLS}, {c.Mean, PoolMean}, {c.Max, PoolMax}, {c.SqrtLen, PoolMeanSqrtLN}} {
		if m.on {
			modes = append(modes, m.p)
		}
	}
	if c.Weighted || c.Last || len(modes) != 1 {
		return 0, fmt.Errorf("pooling %+v is not supported: exactly one of cls, mean, max, mean_sqrt_len", c)
	}
	return modes[0], nil
}

// apply pools x [N, width] to [B, width].
func (p Pooling) apply(x, offsets sinter.Tensor) sinter.Tensor {
	starts := offsets.Narrow(0, sinter.N(0), offsets.Dim(0).Plus(-1))
	switch p {
	case PoolCLS:
		return x.Take(starts, 0)
	case PoolMax:
		return sinter.SegmentMax(x, offsets)
	case PoolMeanSqrtLN:
		ends := offsets.Narrow(0, sinter.N(1), offsets.Dim(0).Plus(-1))
		return sinter.SegmentSum(x, offsets).Div(ends.Sub(starts).Cast(sinter.F32).Sqrt().Unsqueeze(1))
	}
	return sinter.SegmentMean(x, offsets)
}

// module is an entry of modules.json.
type module struct {
	Path string `json:"path"`
	Type string `json:"type"`
}

// readPipeline reads what follows the network: pooling, normalisation and the
// length limit.
func (e *Encoder) readPipeline(s *source, c *bertConfig) error {
	var modules []module
	if _, err := s.config("modules.json", &modules); err != nil {
		return err
	}
	for _, m := range modules {
		switch m.Type {
		case "sentence_transformers.models.Transformer":
		case "sentence_transformers.models.Normalize":
			e.Normalize = true
		case "sentence_transformers.models.Pooling":
			file := m.Path + "/config.json"
			var pc poolingConfig
			ok, err := s.config(file, &pc)
			if err == nil && !ok {
				err = fmt.Errorf("model: %s is missing, modules.json names it", s.path(file))
			}
			if err != nil {
				return err
			}
			if e.Pooling, err = pc.pooling(); err != nil {
				return fmt.Errorf("model: %s: %w", s.path(file), err)
			}
		default:
			return fmt.Errorf("model: %s: module %q is not supported", s.path("modules.json"), m.Type)
		}
	}
	var limit struct {
		MaxSeqLength int `json:"max_seq_length"`
	}
	if _, err := s.config("sentence_bert_config.json", &limit); err != nil {
		return err
	}
	e.MaxTokens = c.Positions
	if limit.MaxSeqLength < 0 {
		return fmt.Errorf("model: %s: max_seq_length is %d", s.path("sentence_bert_config.json"), limit.MaxSeqLength)
	}
	if limit.MaxSeqLength > 0 {
		e.MaxTokens = min(e.MaxTokens, limit.MaxSeqLength)
	}
	return nil
}
