package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

func (a *app) tokenizeCommand() *cobra.Command {
	var jsonl bool
	c := &cobra.Command{
		Use:   "tokenize [TEXT...]",
		Short: "Show the tokens of texts",
		Long: `Tokenize prints the token ids of each text, an argument or a line of standard
input, and the tokens themselves. Special tokens are added; nothing is cut.

Output is a line of JSON a text unless it goes to a terminal.`,
		Example: `  sinter tokenize "unaffable"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.source(args, jsonl)
			if err != nil {
				return err
			}
			return a.tokenize(cmd.Context(), s)
		},
	}
	c.Flags().BoolVar(&jsonl, "jsonl", false, "each line of standard input is a JSON string")
	return c
}

// tokenized is a line of output.
type tokenized struct {
	Index  int      `json:"index"`
	IDs    []int32  `json:"ids"`
	Tokens []string `json:"tokens"`
}

func (a *app) tokenize(ctx context.Context, s textSource) error {
	t, err := a.openTokenizer()
	if err != nil {
		return err
	}
	out := newLines(a.stdout)
	var warning encodingWarning
	err = s.batches(ctx, func(first int, texts []string) error {
		for i, text := range texts {
			warning.look(first+i, text)
			e := t.Encode(text)
			if err := a.printTokens(out, tokenized{first + i, append([]int32{}, e.IDs...), append([]string{}, e.Tokens()...)}); err != nil {
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

func (a *app) printTokens(out *lines, t tokenized) error {
	if a.settings.json || !a.terminal {
		return out.json.Encode(t)
	}
	_, err := fmt.Fprintf(out, "%d\t%v\t%s\n", t.Index, t.IDs, printable(strings.Join(t.Tokens, " ")))
	return err
}
