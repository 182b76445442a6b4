package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
)

// embedFlags are those of embed alone.
type embedFlags struct {
	jsonl          bool
	format, output string
	shorten        shorten
	prompt         promptFlag
}

func (a *app) embedCommand() *cobra.Command {
	var f embedFlags
	c := &cobra.Command{
		Use:   "embed [TEXT...]",
		Short: "Turn texts into vectors",
		Long: `Embed prints a vector for each text: each argument, or each line of standard
input, up to 16 MiB long. Their order is kept, and memory does not grow with
their number. A text longer than the model takes is cut: its line of output has
"truncated":true, and the end of the run says how many there were.

Output is a line of JSON a text unless it goes to a terminal. --format npy
writes a NumPy file of float32, a row a text; where it cannot be written in any
order, as into a pipe, it first fills a file in the temporary folder. --output
writes a file that appears under its name once it is complete.

How many texts run at a time on a device 'sinter device batch' finds out.

--prompt NAME is for models that were trained with a text before each text, and
another for queries than for what is searched. docs/models.md has a list.

--dim N keeps the first N numbers of each vector, of length 1 where the model's
own are. It is for models that were trained for this and list N in config.json,
as matryoshka_dimensions.`,
		Example: `  sinter embed "hello world"
  sinter embed --json < lines.txt > vectors.jsonl
  sinter embed --format npy -o vectors.npy < lines.txt`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.checkEmbed(cmd, f); err != nil {
				return err
			}
			s, err := a.source(args, f.jsonl)
			if err != nil {
				return err
			}
			return a.embed(cmd.Context(), s, f)
		},
	}
	set := c.Flags()
	set.BoolVar(&f.jsonl, "jsonl", false, "each line of standard input is a JSON string")
	set.StringVar(&f.format, "format", "jsonl", "what to write: jsonl, or npy for NumPy")
	set.StringVarP(&f.output, "output", "o", "", "file to write (default -, standard output)")
	f.prompt.register(set)
	f.shorten.register(set)
	return c
}

func (a *app) checkEmbed(cmd *cobra.Command, f embedFlags) error {
	if err := f.prompt.check(cmd.Flags()); err != nil {
		return err
	}
	if err := f.shorten.check(cmd.Flags()); err != nil {
		return err
	}
	switch set := cmd.Flags().Changed; {
	case f.format != "jsonl" && f.format != "npy":
		return usagef("--format %q: use jsonl or npy", f.format)
	case f.format == "npy" && a.settings.json:
		return usagef("--format npy is not JSON: leave --json out")
	case set("output") && f.output == "":
		return usagef("--output is empty: give the name of a file")
	case f.format == "npy" && (f.output == "" || f.output == "-") && a.terminal:
		return usagef("--format npy is not for a terminal: give --output FILE, or write it to a file or a pipe")
	}
	return nil
}

// embedded is a line of output.
type embedded struct {
	Index     int       `json:"index"`
	Tokens    int       `json:"tokens"` // that the model read
	Truncated bool      `json:"truncated,omitempty"`
	Embedding []float32 `json:"embedding"`
}

func (a *app) embed(ctx context.Context, s textSource, f embedFlags) error {
	t, err := a.newTextEmbedder(ctx, f.prompt.name, f.shorten, s)
	if err != nil {
		return err
	}
	defer t.close()
	out, err := a.createOutput(f.output)
	if err != nil {
		return err
	}
	if f.format == "npy" {
		err = a.embedNPY(ctx, s, t, out)
	} else {
		err = a.embedLines(ctx, s, t, out)
	}
	if err = out.close(err); err == nil {
		t.warn(a)
	}
	return err
}

func (a *app) embedLines(ctx context.Context, s textSource, t *textEmbedder, o *outputFile) error {
	out := newLines(o)
	asJSON := a.settings.json || !a.terminal || o.file != nil
	progress := a.startRate("embedding", "texts", o.file != nil || !a.terminal)
	defer progress.end()
	return s.batches(ctx, func(first int, texts []string) error {
		rows, err := t.embed(ctx, first, texts)
		if err != nil {
			return err
		}
		for _, r := range rows {
			if asJSON {
				err = out.json.Encode(r)
			} else {
				err = printEmbedding(out, r)
			}
			if err != nil {
				return err
			}
		}
		progress.add(int64(len(rows)))
		return out.Flush()
	})
}

func (a *app) embedNPY(ctx context.Context, s textSource, t *textEmbedder, o *outputFile) error {
	out, err := newNPY(o, t.dim)
	if err != nil {
		return err
	}
	progress := a.startRate("embedding", "texts", true)
	defer progress.end()
	err = s.batches(ctx, func(first int, texts []string) error {
		rows, err := t.embed(ctx, first, texts)
		if err != nil {
			return err
		}
		for _, r := range rows {
			if err := out.add(r.Embedding); err != nil {
				return err
			}
		}
		progress.add(int64(len(rows)))
		return nil
	})
	return out.close(err)
}

// printEmbedding is for people.
func printEmbedding(out *lines, e embedded) error {
	const shown = 6
	cut := ""
	if e.Truncated {
		cut = " (cut)"
	}
	_, err := fmt.Fprintf(out, "%d\t%d tokens%s\t%d numbers: %.4f", e.Index, e.Tokens, cut, len(e.Embedding), e.Embedding[:min(shown, len(e.Embedding))])
	if err == nil && len(e.Embedding) > shown {
		_, err = out.WriteString(" ...")
	}
	if err == nil {
		err = out.WriteByte('\n')
	}
	return err
}
