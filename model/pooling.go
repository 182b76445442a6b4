package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sinterml/sinter"
)

// Pooling says how the hidden states of a text become one vector.
type Pooling uint8

const (
	PoolMean         Pooling = iota // their mean
	PoolCLS                         // the first
	PoolMax                         // the largest of each component
	PoolMeanSqrtLN                  // their sum over the square root of their number
	PoolWeightedMean                // their mean, the n-th with the weight n
	PoolLast                        // the last
)

// poolingNames are what files call them: before sentence-transformers 6 a key
// each, in this order where there are several, and since then one key.
var poolingNames = []struct {
	old, name string
	pooling   Pooling
}{
	{"pooling_mode_cls_token", "cls", PoolCLS},
	{"pooling_mode_max_tokens", "max", PoolMax},
	{"pooling_mode_mean_tokens", "mean", PoolMean},
	{"pooling_mode_mean_sqrt_len_tokens", "mean_sqrt_len_tokens", PoolMeanSqrtLN},
	{"pooling_mode_weightedmean_tokens", "weightedmean", PoolWeightedMean},
	{"pooling_mode_lasttoken", "lasttoken", PoolLast},
}

// poolingConfig is 1_Pooling/config.json.
type poolingConfig struct {
	poolings      []Pooling
	width         int // of the hidden states; 0: not said
	excludePrompt bool
}

// UnmarshalJSON reads both forms.
func (c *poolingConfig) UnmarshalJSON(data []byte) error {
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(data, &keys); err != nil {
		return err
	}
	for _, key := range []string{"word_embedding_dimension", "embedding_dimension"} {
		if raw, ok := keys[key]; ok {
			if err := json.Unmarshal(raw, &c.width); err != nil {
				return fmt.Errorf("%s: %w", key, err)
			}
		}
	}
	if raw, ok := keys["include_prompt"]; ok {
		include := true
		if err := json.Unmarshal(raw, &include); err != nil {
			return fmt.Errorf("include_prompt: %w", err)
		}
		c.excludePrompt = !include
	}
	if raw, ok := keys["pooling_mode"]; ok {
		return c.readModes(raw)
	}
	for _, p := range poolingNames {
		on := false
		if raw, ok := keys[p.old]; ok {
			if err := json.Unmarshal(raw, &on); err != nil {
				return fmt.Errorf("%s: %w", p.old, err)
			}
		}
		if on {
			c.poolings = append(c.poolings, p.pooling)
		}
	}
	if c.poolings == nil {
		c.poolings = []Pooling{PoolMean}
	}
	return nil
}

// readModes reads the newer form: a name, or a list of names.
func (c *poolingConfig) readModes(raw []byte) error {
	var modes []string
	if err := json.Unmarshal(raw, &modes); err != nil {
		modes = make([]string, 1)
		if err := json.Unmarshal(raw, &modes[0]); err != nil {
			return errors.New("pooling_mode is neither a name nor a list of names")
		}
	}
	for _, m := range modes {
		known := false
		for _, p := range poolingNames {
			if known = p.name == m; known {
				c.poolings = append(c.poolings, p.pooling)
				break
			}
		}
		if !known {
			return fmt.Errorf("pooling_mode %.80q is not known: one of %s", m, strings.Join(poolingModes(), ", "))
		}
	}
	if len(c.poolings) == 0 || len(c.poolings) > len(poolingNames) {
		return fmt.Errorf("pooling_mode has %d names, want 1 to %d", len(c.poolings), len(poolingNames))
	}
	return nil
}

func poolingModes() []string {
	var names []string
	for _, p := range poolingNames {
		names = append(names, p.name)
	}
	slices.Sort(names)
	return names
}

// apply pools x [N, width] to [B, width].
func (p Pooling) apply(x, offsets sinter.Tensor) sinter.Tensor {
	starts := offsets.Narrow(0, sinter.N(0), offsets.Dim(0).Plus(-1))
	ends := offsets.Narrow(0, sinter.N(1), offsets.Dim(0).Plus(-1))
	switch p {
	case PoolCLS:
		return x.Take(starts, 0)
	case PoolLast:
		return x.Take(ends.Sub(sinter.Scalar(1)), 0)
	case PoolMax:
		return sinter.SegmentMax(x, offsets)
	case PoolMeanSqrtLN:
		return sinter.SegmentSum(x, offsets).Div(ends.Sub(starts).Cast(sinter.F32).Sqrt().Unsqueeze(1))
	case PoolWeightedMean:
		n := ends.Sub(starts).Cast(sinter.F32)
		weights := sinter.Positions(offsets, x.Dim(0)).Cast(sinter.F32).Add(sinter.Scalar(1))
		sum := n.Mul(n.Add(sinter.Scalar(1))).Mul(sinter.Scalar(0.5))
		return sinter.SegmentSum(x.Mul(weights.Unsqueeze(1)), offsets).Div(sum.Unsqueeze(1))
	}
	return sinter.SegmentMean(x, offsets)
}

// pool applies several poolings and puts their vectors together.
func pool(poolings []Pooling, x, offsets sinter.Tensor) sinter.Tensor {
	if len(poolings) == 1 {
		return poolings[0].apply(x, offsets)
	}
	parts := make([]sinter.Tensor, len(poolings))
	for i, p := range poolings {
		parts[i] = p.apply(x, offsets)
	}
	return sinter.Concat(1, parts...)
}
