// Service embeds texts over HTTP:
//
//	go run ./examples/service &
//	curl -d '{"texts": ["hello", "good morning"]}' localhost:8080/embed
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/sinterml/sinter/embed"
	"github.com/sinterml/sinter/model/minilm"
)

// Limits of a request: what is beyond them is refused, not queued.
const (
	maxBytes = 1 << 20
	maxTexts = 256
	patience = 20 * time.Second // for its vectors
)

type request struct {
	Texts []string `json:"texts"`
}

type response struct {
	Dim     int         `json:"dim"`
	Vectors [][]float32 `json:"vectors"`
}

// handler serves one encoder to any number of clients: it puts requests that
// come at the same time into one batch.
func handler(e *embed.Encoder) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("POST /embed", func(w http.ResponseWriter, r *http.Request) {
		var in request
		var tooLarge *http.MaxBytesError
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBytes))
		err = errors.Join(err, json.Unmarshal(body, &in)) // unlike a Decoder, it refuses what stands behind
		switch {
		case errors.As(err, &tooLarge):
			http.Error(w, fmt.Sprintf("more than %d bytes", maxBytes), http.StatusRequestEntityTooLarge)
			return
		case err != nil:
			http.Error(w, `not {"texts": [...]}: `+err.Error(), http.StatusBadRequest)
			return
		case len(in.Texts) == 0 || len(in.Texts) > maxTexts:
			http.Error(w, fmt.Sprintf("%d texts: give 1 to %d", len(in.Texts), maxTexts), http.StatusBadRequest)
			return
		}
		// A client that goes away, or waits for too long, frees its place.
		ctx, cancel := context.WithTimeout(r.Context(), patience)
		defer cancel()
		vectors, err := e.Encode(ctx, in.Texts)
		if err != nil {
			log.Print(err)
			http.Error(w, "no vectors: the service is busy or at fault", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(response{e.Dim(), vectors}) // the client may have gone
	})
	return mux
}

func main() {
	addr := flag.String("addr", "localhost:8080", "address to listen on")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	e, err := embed.New(ctx, embed.Options{FS: minilm.FS})
	if err != nil {
		log.Fatal(err)
	}
	s := &http.Server{Addr: *addr, Handler: handler(e), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: patience + 10*time.Second}
	done := make(chan error, 1)
	context.AfterFunc(ctx, func() { // what was begun is finished
		limit, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		done <- s.Shutdown(limit)
	})
	if err = s.ListenAndServe(); errors.Is(err, http.ErrServerClosed) {
		err = <-done
	}
	if err := errors.Join(err, e.Close()); err != nil {
		log.Fatal(err)
	}
}
