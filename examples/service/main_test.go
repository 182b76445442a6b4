package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sinterml/sinter/embed"
	"github.com/sinterml/sinter/model/minilm"
)

func encoder(t *testing.T) *embed.Encoder {
	t.Helper()
	e, err := embed.New(context.Background(), embed.Options{FS: minilm.FS})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func post(t *testing.T, h http.Handler, ctx context.Context, body io.Reader) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodPost, "/embed", body))
	return w
}

// Clients at the same time get the vectors of their own texts.
func TestService(t *testing.T) {
	e := encoder(t)
	defer e.Close()
	h := handler(e)
	var wait sync.WaitGroup
	for _, text := range []string{"hello", "good morning", "", "日本語", strings.Repeat("long ", 1000)} {
		wait.Go(func() {
			body, err := json.Marshal(request{[]string{text, "beside it"}})
			if err != nil {
				t.Error(err)
			}
			w := post(t, h, t.Context(), bytes.NewReader(body))
			want, err := e.Encode(t.Context(), []string{text})
			if err != nil {
				t.Error(err)
				return
			}
			var got response
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != http.StatusOK {
				t.Errorf("%.20q: status %d, %v: %.200s", text, w.Code, err, w.Body)
				return
			}
			if got.Dim != e.Dim() || len(got.Vectors) != 2 || !slices.Equal(got.Vectors[0], want[0]) {
				t.Errorf("%.20q: %d vectors of %d, or other ones", text, len(got.Vectors), got.Dim)
			}
		})
	}
	wait.Wait()
}

func TestServiceRefuses(t *testing.T) {
	e := encoder(t)
	h := handler(e)
	many, err := json.Marshal(request{make([]string, maxTexts+1)})
	if err != nil {
		t.Fatal(err)
	}
	for body, want := range map[string]int{
		"":                               http.StatusBadRequest,
		"hello":                          http.StatusBadRequest,
		`{"texts": "hello"}`:             http.StatusBadRequest,
		`{"texts": ["a"]} {"texts": []}`: http.StatusBadRequest,
		`{"texts": []}`:                  http.StatusBadRequest,
		string(many):                     http.StatusBadRequest,
		strings.Repeat(" ", maxBytes+1):  http.StatusRequestEntityTooLarge,
	} {
		if w := post(t, h, t.Context(), strings.NewReader(body)); w.Code != want {
			t.Errorf("%.20q: status %d, want %d: %s", body, w.Code, want, w.Body)
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if w := post(t, h, gone, strings.NewReader(`{"texts": ["x"]}`)); w.Code != http.StatusServiceUnavailable {
		t.Errorf("a client that has gone: status %d", w.Code)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/embed", nil))
	if w.Code != http.StatusMethodNotAllowed {
		t.Errorf("GET: status %d", w.Code)
	}
	w = httptest.NewRecorder()
	if h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/health", nil)); w.Body.String() != "ok\n" {
		t.Errorf("health: %s", w.Body)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if w := post(t, h, t.Context(), strings.NewReader(`{"texts": ["x"]}`)); w.Code != http.StatusServiceUnavailable {
		t.Errorf("a closed encoder: status %d", w.Code)
	}
}
