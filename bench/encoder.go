package bench

import (
	"encoding/json"
	"fmt"
	"io/fs"
)

// Encoder is the sizes that the work of a BERT encoder depends on, as its
// config.json has them.
type Encoder struct {
	Layers int `json:"num_hidden_layers"`
	Hidden int `json:"hidden_size"`
	Inner  int `json:"intermediate_size"`
	Vocab  int `json:"vocab_size"`
}

// ReadEncoder reads the sizes from the config.json of a model.
func ReadEncoder(files fs.FS) (e Encoder, err error) {
	data, err := fs.ReadFile(files, "config.json")
	if err == nil {
		err = json.Unmarshal(data, &e)
	}
	if err != nil {
		return Encoder{}, fmt.Errorf("bench: the sizes of an encoder: %w", err)
	}
	return e, nil
}

// Flops counts the multiplications and additions of the products and the
// attention of a text: for each token four products of the width by itself and
// two with the inner width, and for each pair of tokens the width twice, for
// scores and for sums.
func (e Encoder) Flops(tokens int) float64 {
	n, h, i := float64(tokens), float64(e.Hidden), float64(e.Inner)
	return 2 * n * float64(e.Layers) * (4*h*h + 2*h*i + 2*n*h)
}

// Weights counts the elements of the products' weights, which a run reads at
// least once.
func (e Encoder) Weights() int { return e.Layers * (4*e.Hidden*e.Hidden + 2*e.Hidden*e.Inner) }
