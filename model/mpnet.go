package model

import (
	"context"
	"fmt"
	"math"

	"github.com/sinterml/sinter"
)

// mpnetConfig is config.json of an MPNet encoder: RoBERTa without type
// embeddings, whose scores have a bias by the distance of query and key.
// Source: Song et al., "MPNet: Masked and Permuted Pre-training for Language
// Understanding", 2020.
type mpnetConfig struct {
	bertConfig
	Buckets int `json:"relative_attention_num_buckets"`
}

// mpnetPad is the padding token whose position MPNet counts from, whatever
// config.json says.
const mpnetPad = 1

// mpnetBuckets is the only number of buckets: the reference implementation
// computes distances for it, whatever the size of the table.
const mpnetBuckets = 32

// mpnetTable bounds the numbers of the table of biases, one for each head and
// pair of positions. Published models have 12 heads and 514 positions.
const mpnetTable = 1 << 23

func newMPNetConfig() configuration {
	return &mpnetConfig{bertConfig{Activation: "gelu", Eps: defaultEps}, mpnetBuckets}
}

func (c *mpnetConfig) check() error {
	c.Types = 1 // has no table, so says nothing
	if err := c.bertConfig.check(); err != nil {
		return err
	}
	if c.Buckets != mpnetBuckets {
		return fmt.Errorf("relative_attention_num_buckets is %d, want %d", c.Buckets, mpnetBuckets)
	}
	if err := checkSizes(size{"max_position_embeddings", c.Positions, mpnetPad + 2, mpnetTable}); err != nil {
		return err
	}
	if c.Positions > mpnetTable/c.Positions/c.Heads {
		return fmt.Errorf("max_position_embeddings %d and num_attention_heads %d ask for a table of more than %d biases", c.Positions, c.Heads, mpnetTable)
	}
	return nil
}

func (c *mpnetConfig) network() network {
	m := c.encoder()
	m.first, m.types, m.buckets = mpnetPad+1, 0, c.Buckets
	m.names = map[string]string{
		"layers": "encoder.layer", "query": "attention.attn.q", "key": "attention.attn.k", "value": "attention.attn.v",
		"output": "attention.attn.o", "output norm": "attention.LayerNorm",
		"inner": "intermediate.dense", "outer": "output.dense", "outer norm": "output.LayerNorm",
		"head dense": "classifier.dense", "head out": "classifier.out_proj",
	}
	return &mpnet{postNorm: m}
}

type mpnet struct{ *postNorm }

// bind also lays the biases out as attention reads them, [1, heads, queries,
// keys]: a table for all texts, of which a short one reads a corner.
func (m *mpnet) bind(b *binder) error {
	if err := m.postNorm.bind(b); err != nil {
		return err
	}
	buckets, err := sinter.Values[float32](context.Background(), m.weights.Relative)
	if err != nil {
		return err
	}
	n := m.dims().tokens
	table := make([]float32, m.heads*n*n)
	for i := range n {
		for j := range n {
			row := buckets[mpnetBucket(j-i)*m.heads:]
			for h := range m.heads {
				table[(h*n+i)*n+j] = row[h]
			}
		}
	}
	m.bias = sinter.Of(table, 1, m.heads, n, n)
	return m.bias.Err()
}

// mpnetBucket is the bucket of a key that stands so many tokens behind its
// query: half of them for each direction, of these half for one distance each,
// the rest ever wider up to a distance of 128.
func mpnetBucket(distance int) int {
	const half, exact, most = mpnetBuckets / 2, mpnetBuckets / 4, 128
	first := 0
	if distance > 0 {
		first = half
	} else {
		distance = -distance
	}
	if distance < exact {
		return first + distance
	}
	// In float32 as the reference does, which decides where a distance is just
	// between two buckets.
	wide := float32(math.Log(float64(float32(distance) / exact)))
	wide = wide / float32(math.Log(most/exact)) * (half - exact)
	return first + min(exact+int(wide), half-1)
}
