package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
)

func (a *app) embedCommand() *cobra.Command {
	var jsonl bool
	c := &cobra.Command{
		Use:   "embed [TEXT...]",
		Short: "Turn texts into vectors",
		Long: `Embed prints a vector for each text: each argument, or each line of standard
input. Their order is kept, and memory does not grow with their number. A text
longer than the model takes is cut.

Output is a line of JSON a text unless it goes to a terminal.`,
		Example: `  sinter embed "hello world"
  sinter embed --json < lines.txt > vectors.jsonl`,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.source(args, jsonl)
			if err != nil {
				return err
			}
			return a.embed(cmd.Context(), s)
		},
	}
	c.Flags().BoolVar(&jsonl, "jsonl", false, "each line of standard input is a JSON string")
	return c
}

// embedded is a line of output.
type embedded struct {
	Index     int       `json:"index"`
	Tokens    int       `json:"tokens"` // that the model read
	Embedding []float32 `json:"embedding"`
}

func (a *app) embed(ctx context.Context, s textSource) error {
	e, err := a.openEncoder(ctx)
	if err != nil {
		return err
	}
	defer e.Close()
	out := newLines(a.stdout)
	var warning encodingWarning
	err = s.batches(ctx, func(first int, texts []string) error {
		ids := make([][]int32, len(texts))
		for i, t := range texts {
			warning.look(first+i, t)
			ids[i] = e.Tokenizer().EncodeMax(t, e.MaxTokens()).IDs
		}
		vectors, err := e.EncodeIDs(ctx, ids)
		if err != nil {
			return err
		}
		for i, v := range vectors {
			if err := a.printEmbedding(out, embedded{first + i, len(ids[i]), v}); err != nil {
				return err
			}
		}
		return out.Flush()
	})
	if err == nil {
		a.warnEncoding(warning)
	}
	return err
}

func (a *app) printEmbedding(out *lines, e embedded) error {
	if a.settings.json || !a.terminal {
		return out.json.Encode(e)
	}
	const shown = 6
	_, err := fmt.Fprintf(out, "%d\t%d tokens\t%d numbers: %.4f", e.Index, e.Tokens, len(e.Embedding), e.Embedding[:min(shown, len(e.Embedding))])
	if err == nil && len(e.Embedding) > shown {
		_, err = out.WriteString(" ...")
	}
	if err == nil {
		err = out.WriteByte('\n')
	}
	return err
}
