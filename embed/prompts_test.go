package embed_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/embed"
	"github.com/sinterml/sinter/internal/reftest"
	"github.com/sinterml/sinter/model/minilm"
)

// A prompt is text before the text, whichever way it is given.
func TestReferencePrompts(t *testing.T) {
	dir := reftest.Dir(t, "encoders") + "/e5"
	ctx := context.Background()
	plain, named := open(t, embed.Options{Model: dir, PromptText: "query: "}), open(t, embed.Options{Model: dir, Prompt: "query"})
	defer plain.Close()
	defer named.Close()
	want := encode(t, plain, []string{"bread"})[0]
	if !equal(want, encode(t, named, []string{"bread"})[0]) || !equal(want, must(t)(plain.EncodeQuery(ctx, []string{"bread"}))[0]) {
		t.Error("the prompt's text, its name and EncodeQuery do not agree")
	}
	if equal(want, must(t)(plain.EncodePassage(ctx, []string{"bread"}))[0]) {
		t.Error("queries and passages have the same prompt")
	}
	if plain.Prompt() != "query: " || plain.QueryPrompt() != "query: " || plain.PassagePrompt() != "passage: " {
		t.Errorf("prompts %q, %q, %q", plain.Prompt(), plain.QueryPrompt(), plain.PassagePrompt())
	}
	for _, bad := range []embed.Options{{Model: dir, Prompt: "nobody"}, {Model: dir, Prompt: "query", PromptText: "x"}, {FS: minilm.FS, Prompt: "query"}} {
		if _, err := embed.New(ctx, bad); err == nil || !strings.Contains(err.Error(), "rompt") {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// Shorter vectors are the first numbers of the whole, of unit length again.
func TestDim(t *testing.T) {
	whole, short := open(t, embed.Options{}), open(t, embed.Options{Dim: 64})
	defer whole.Close()
	defer short.Close()
	v, s := encode(t, whole, []string{"a text"})[0], encode(t, short, []string{"a text"})[0]
	if len(s) != 64 || short.Dim() != 64 {
		t.Fatalf("%d numbers, Dim %d", len(s), short.Dim())
	}
	norm := 0.0
	for _, x := range v[:64] {
		norm += float64(x) * float64(x)
	}
	for i := range s {
		if want := float64(v[i]) / math.Sqrt(norm); !(math.Abs(float64(s[i])-want) <= 1e-6) {
			t.Errorf("number %d is %v, want %v", i, s[i], want)
		}
	}
	for _, dim := range []int{-1, 385} {
		if _, err := embed.New(context.Background(), embed.Options{FS: minilm.FS, Dim: dim}); err == nil {
			t.Errorf("vectors of %d numbers", dim)
		}
	}
}

// A Reranker wants a cross-encoder, and says so; an Encoder wants none.
func TestReferenceRerankerErrors(t *testing.T) {
	ctx := context.Background()
	encoder, cross := reftest.Dir(t, "encoders")+"/e5", reftest.Dir(t, "crossencoders")
	for _, c := range []struct {
		o    embed.Options
		want string
	}{
		{embed.Options{Model: encoder}, "no cross-encoder"},
		{embed.Options{Model: encoder + "/nothing"}, "nothing"},
		{embed.Options{}, "no model"},
		{embed.Options{Model: cross + "/bert", Dim: 3}, "Dim"},
		{embed.Options{Model: cross + "/bert", BatchTokens: -1}, "-1"},
	} {
		if _, err := embed.NewReranker(ctx, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.o, err)
		}
	}
	if _, err := embed.New(ctx, embed.Options{Model: cross + "/bert"}); err == nil || !strings.Contains(err.Error(), "cross-encoder") {
		t.Errorf("an Encoder of a cross-encoder: %v", err)
	}
	r, err := embed.NewReranker(ctx, embed.Options{Model: cross + "/bert"})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := r.Scores(ctx, "a", nil); err != nil || len(got) != 0 {
		t.Errorf("no texts: %v, %v", got, err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Scores(ctx, "a", []string{"b"}); !errors.Is(err, sinter.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}
