package embed

import (
	"bytes"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/sinterml/sinter/internal/modeltest"
	"github.com/sinterml/sinter/model"
)

// tinyCross is a cross-encoder with a tokenizer that adds no special tokens.
func tinyCross(t *testing.T) modeltest.Folder {
	t.Helper()
	folder := modeltest.BERT().Without("modules.json")
	folder["config.json"] = bytes.Replace(folder["config.json"], []byte(`["BertModel"]`), []byte(`["BertForSequenceClassification"],"num_labels":1`), 1)
	data := folder["tokenizer.json"]
	folder["tokenizer.json"] = append(bytes.Clone(data[:bytes.Index(data, []byte(`"post_processor"`))]), data[bytes.Index(data, []byte(`"decoder"`)):]...)
	return withWeights(t, folder, func(fsys fs.FS) (io.Closer, error) { return model.OpenCrossEncoderFS(fsys) })
}

// A query and a text without tokens have no state to score: they must not get
// the score of the pair behind them.
func TestPairsWithoutTokens(t *testing.T) {
	r, err := NewReranker(t.Context(), Options{FS: mapFS(tinyCross(t))})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, texts := range [][]string{{"a", "", "b"}, {"a", ""}, {""}} {
		scores, err := r.Scores(t.Context(), "", texts)
		if err == nil || !strings.Contains(err.Error(), "no tokens") {
			t.Errorf("%q: %v, %v", texts, scores, err)
		}
	}
	if scores, err := r.Scores(t.Context(), "q", []string{"a", ""}); err != nil || len(scores) != 2 {
		t.Errorf("a query alone: %v, %v", scores, err)
	}
}

// Pairs are read as the model wants texts: in lower case, its default prompt before
// the query.
func TestPairsAsTheModelWants(t *testing.T) {
	scores := func(folder modeltest.Folder, query string, texts ...string) []float32 {
		t.Helper()
		r, err := NewReranker(t.Context(), Options{FS: mapFS(folder)})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		all, err := r.Scores(t.Context(), query, texts)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	plain := tinyCross(t)
	want := scores(plain, "p q a", "b c", "d")
	folder := plain.With("config_sentence_transformers.json", []byte(`{"prompts":{"x":"P q "},"default_prompt_name":"x"}`))
	folder["sentence_bert_config.json"] = []byte(`{"do_lower_case":true}`)
	folder["tokenizer.json"] = bytes.Replace(folder["tokenizer.json"], []byte(`"strip_accents":null,"lowercase":true`), []byte(`"strip_accents":false,"lowercase":false`), 1)
	if got := scores(folder, "A", "B c", "D"); !slices.Equal(got, want) {
		t.Errorf("scores %v, want %v", got, want)
	}
}
