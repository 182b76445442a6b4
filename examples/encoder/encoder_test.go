package main

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/embed"
)

// tiny has sizes that no vector divides.
var tiny = sizes{vocab: 50, positions: 20, layers: 2, width: 15, heads: 3, inner: 13}

func (s sizes) on(t *testing.T, device string) *encoder {
	t.Helper()
	d, err := sinter.Open(device)
	if err != nil {
		t.Fatal(err)
	}
	e, err := s.compile(s.draw(seed), d, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.close(); err != nil {
			t.Error(err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func vectors(t *testing.T, e *encoder, texts ...[]int32) [][]float32 {
	t.Helper()
	v, err := e.embed(context.Background(), texts)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func randomTexts(vocab int, lengths ...int) [][]int32 {
	r := rand.New(rand.NewPCG(7, 7))
	texts := make([][]int32, len(lengths))
	for i, n := range lengths {
		for range n {
			texts[i] = append(texts[i], int32(r.IntN(vocab)))
		}
	}
	return texts
}

// TestDevicesAgree compares with the interpreter, which knows no pass, no
// kernel and no plan.
func TestDevicesAgree(t *testing.T) {
	texts := randomTexts(tiny.vocab, 1, 7, 20, 3)
	got, want := vectors(t, tiny.on(t, "cpu"), texts...), vectors(t, tiny.on(t, "interp"), texts...)
	for i := range texts {
		square := 0.0
		for j, v := range got[i] {
			square += float64(v) * float64(v)
			const tolerance = 2e-6 // of components of a vector of length 1
			if d := math.Abs(float64(v - want[i][j])); !(d <= tolerance) {
				t.Errorf("text %d, component %d: %v, interp gives %v", i, j, v, want[i][j])
			}
		}
		if !(math.Abs(square-1) < 1e-5) {
			t.Errorf("text %d has squared length %v", i, square)
		}
	}
}

// TestSameBits embeds texts alone, together and in another order.
func TestSameBits(t *testing.T) {
	for _, s := range []sizes{tiny, {vocab: 100, positions: 40, layers: 1, width: 320, heads: 5, inner: 700}} {
		e := s.on(t, "cpu")
		texts := randomTexts(s.vocab, 5, 1, s.positions, 18, 5)
		together := vectors(t, e, texts...)
		reversed := slices.Clone(texts)
		slices.Reverse(reversed)
		backwards := vectors(t, e, reversed...)
		for i, text := range texts {
			if alone := vectors(t, e, text)[0]; !slices.Equal(alone, together[i]) {
				t.Errorf("width %d, text %d: alone and in a batch differ", s.width, i)
			}
			if !slices.Equal(backwards[len(texts)-1-i], together[i]) {
				t.Errorf("width %d, text %d: the order of texts changes it", s.width, i)
			}
		}
	}
}

// TestOrderMatters: an encoder that lost the positions would not notice.
func TestOrderMatters(t *testing.T) {
	v := vectors(t, tiny.on(t, "cpu"), []int32{1, 2, 3}, []int32{3, 2, 1})
	if c := embed.Cosine(v[0], v[1]); !(c <= 0.9999) {
		t.Errorf("a text and its reverse have cosine %v", c)
	}
}
