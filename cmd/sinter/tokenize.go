package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

func (a *app) tokenizeCommand() *cobra.Command {
	var jsonl bool
	c := &cobra.Command{
		Use:   "tokenize [TEXT...]",
		Short: "Show the tokens of texts",
		Long: `Tokenize prints the token ids of each text, an argument or a line of standard
input, the tokens themselves, and where each stands: the byte it starts at and
the one it ends before, 0 and 0 for a special token. Special tokens are added;
nothing is cut.

Output is a line of JSON a text; a terminal is shown a table.`,
		Example: `  sinter tokenize "unaffable"
  sinter tokenize --json < lines.txt | jq '.ids | length'`,
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
	Index   int      `json:"index"`
	IDs     []int32  `json:"ids"`
	Tokens  []string `json:"tokens"`
	Offsets [][2]int `json:"offsets"` // in bytes
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
			// Appended to what is not nil, so that no tokens are [], not null.
			row := tokenized{first + i, append([]int32{}, e.IDs...), append([]string{}, e.Tokens()...), append([][2]int{}, e.Offsets...)}
			if err := a.printTokens(out, text, row); err != nil {
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

func (a *app) printTokens(out *lines, text string, t tokenized) error {
	if a.settings.json || !a.terminal {
		return out.json.Encode(t)
	}
	return a.tokenTable(out, text, t)
}

// tokenTable shows a text with a row for each token: id, token, and the bytes
// it stands for.
func (a *app) tokenTable(out *lines, text string, t tokenized) error {
	style := a.style()
	ids, tokens := 0, 0
	for i, id := range t.IDs {
		ids = max(ids, len(strconv.Itoa(int(id))))
		tokens = max(tokens, utf8.RuneCountInString(t.Tokens[i]))
	}
	tokens = min(tokens, labelWidth)
	title := fmt.Sprintf("%d  %s", t.Index, label(text))
	fmt.Fprintf(out, "%s  %s\n", style.paint(bold, title), style.paint(dim, fmt.Sprintf("%d tokens", len(t.IDs))))
	for i, id := range t.IDs {
		piece := ""
		if from, to := t.Offsets[i][0], t.Offsets[i][1]; from < to && to <= len(text) {
			piece = fmt.Sprintf("%d-%d %s", from, to, style.paint(dim, strconv.Quote(text[from:to])))
		}
		line := fmt.Sprintf("  %*d  %s  %s", ids, id, padded(printable(t.Tokens[i]), tokens), piece)
		fmt.Fprintln(out, strings.TrimRight(line, " "))
	}
	return nil // what failed stays with the writer, whose Flush tells
}
