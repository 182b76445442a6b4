package embed_test

import (
	"context"
	"fmt"
	"log"

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
