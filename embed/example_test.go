package embed_test

import (
	"context"
	"fmt"
	"log"
	"slices"

	"github.com/sinterml/sinter/embed"
	"github.com/sinterml/sinter/model/minilm"
)

// The model inside the binary embeds texts; near is what means the same.
func Example() {
	ctx := context.Background()
	e, err := embed.New(ctx, embed.Options{FS: minilm.FS})
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()
	v, err := e.Encode(ctx, []string{"a cat sleeps on the sofa", "the kitten naps on a couch", "interest rates rose again"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(v[0]), embed.Cosine(v[0], v[1]) > 0.5, embed.Cosine(v[0], v[2]) < 0.2)
	// Output: 384 true true
}

// Search with a model that has one prompt for queries and another for what is
// searched, then sort the best by a cross-encoder.
func ExampleReranker() {
	ctx := context.Background()
	e, err := embed.New(ctx, embed.Options{Model: "intfloat/e5-small-v2"})
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()
	r, err := embed.NewReranker(ctx, embed.Options{Model: "cross-encoder/ms-marco-MiniLM-L6-v2"})
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()

	query, passages := "when is the cache dropped", []string{"Entries live for an hour.", "The cache is emptied on a restart.", "Bread needs time."}
	q, err := e.EncodeQuery(ctx, []string{query})
	if err != nil {
		log.Fatal(err)
	}
	vectors, err := e.EncodePassage(ctx, passages)
	if err != nil {
		log.Fatal(err)
	}
	var best []string
	for i, v := range vectors {
		if embed.Cosine(q[0], v) > 0.75 {
			best = append(best, passages[i])
		}
	}
	scores, err := r.Scores(ctx, query, best)
	if err != nil || len(scores) == 0 {
		log.Fatal("nothing found ", err)
	}
	fmt.Println(best[slices.Index(scores, slices.Max(scores))])
}
