package main

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/sinterml/sinter/cmd/sinter/internal/chars"
	"github.com/sinterml/sinter/nn"
	"github.com/sinterml/sinter/safetensors"
	"github.com/sinterml/sinter/train"
)

func init() { trainTasks = append(trainTasks, (*app).trainCharsCommand) }

// sampleLength is how many characters a sample has; nothing is shown of texts
// while a net is still guessing.
const sampleLength = 240

func (a *app) trainCharsCommand(f *taskFlags) *cobra.Command {
	o := chars.Defaults
	var from string
	c := &cobra.Command{
		Use:   "chars FILE",
		Short: "A small GPT that learns to write as a text is written, character by character",
		Long: `Chars trains a GPT of characters on the first nine tenths of FILE (- is standard
input) and validates it on the rest: the loss is the mean of -log of the
probability it gave to each character. While it trains it writes samples.

The weights have the names of a PyTorch module with attributes e, pe, b and
ln, which may load them, or have made those of --from; docs/training.md has it.`,
		Example: `  sinter train chars book.txt
  sinter train chars --layers 6 --heads 6 --width 384 --block 256 --out run book.txt
  sinter train chars --from run/model.safetensors --steps 500 book.txt`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("give one file of text, or - for standard input: there are %d arguments", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Seed = f.seed
			return a.trainChars(cmd.Context(), f, args[0], from, o)
		},
	}
	set := c.Flags()
	set.IntVar(&o.Layers, "layers", o.Layers, "blocks of attention and linear layers")
	set.IntVar(&o.Heads, "heads", o.Heads, "heads of attention")
	set.IntVar(&o.Width, "width", o.Width, "numbers that stand for a character within the net")
	set.IntVar(&o.Block, "block", o.Block, "characters that the net sees at a time")
	set.IntVar(&o.Batch, "batch", o.Batch, "blocks a step learns from")
	set.IntVar(&o.Steps, "steps", o.Steps, "steps of training")
	set.StringVar(&from, "from", "", "begin with the weights of `FILE`, of a net of the same sizes")
	return c
}

func (a *app) trainChars(ctx context.Context, f *taskFlags, file, from string, o chars.Options) error {
	data, err := a.readText(ctx, file)
	if err != nil {
		return err
	}
	text, err := chars.Read(data)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	task, err := chars.New(text, o)
	if err != nil {
		return &usageError{fmt.Errorf("%s: %w", file, err)}
	}
	if from != "" {
		if err := loadWeights(ctx, from, task.Net); err != nil {
			return err
		}
	}
	t, err := a.startTraining(ctx, f, stepWork(task.Net, o.Batch*o.Block))
	if err != nil {
		return err
	}
	defer t.close()
	t.data = fmt.Sprintf("%08x", crc32.ChecksumIEEE(data))
	t.metadata, err = charsMetadata(text, o)
	if err != nil {
		return err
	}
	sampler, err := chars.NewSampler(task.Net, o.Block, t.compileOptions())
	if err != nil {
		return err
	}
	defer sampler.Close()
	options := task.Train()
	options.Report = func(e train.Event) error {
		if err := t.report(e); err != nil || e.Scores == nil {
			return err
		}
		// Behind the end of what is learned comes something that nobody has seen.
		ids, err := sampler.Continue(ctx, text.Training[len(text.Training)-o.Block:], sampleLength, uint64(f.seed))
		if err != nil {
			return err
		}
		return t.sample(e.Step, text.String(ids))
	}
	r, err := t.run(ctx, options)
	if err != nil {
		return err
	}
	loss, _ := r.Scores.Value("validation_loss")
	fields := map[string]any{"validation_loss": finite(loss), "loss": finite(r.Loss), "vocabulary": len(text.Vocabulary)}
	return t.end(ctx, task.Net, fields, func(w io.Writer) {
		fmt.Fprintf(w, "validation loss %.4f, of %d characters that may come %.4f would be luck\n", loss, len(text.Vocabulary), chars.Luck(len(text.Vocabulary)))
	})
}

// sample shows what the net writes by now.
func (t *trainRun) sample(step int, text string) error {
	t.progress.end()
	if t.settings.json {
		if err := t.out.json.Encode(map[string]any{"step": step, "sample": text}); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(t.out, "\n%s\n\n", printableLines(text))
	}
	return t.out.Flush()
}

// charsMetadata is what a file of weights has to say to be of use.
func charsMetadata(text *chars.Text, o chars.Options) (map[string]string, error) {
	vocabulary, err := json.Marshal(string(text.Vocabulary))
	return map[string]string{"vocabulary": string(vocabulary), "heads": strconv.Itoa(o.Heads), "block": strconv.Itoa(o.Block)}, err
}

// readText reads a file, or standard input for -.
func (a *app) readText(ctx context.Context, file string) ([]byte, error) {
	in := io.Reader(interruptible{ctx, a.stdin})
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, chars.MaxText+1))
	if err != nil {
		return nil, fmt.Errorf("reading the text: %w", err)
	}
	return data, nil
}

// loadWeights fills a net from a file that has all of it.
func loadWeights(ctx context.Context, path string, net any) error {
	f, err := safetensors.Open(path)
	if err != nil {
		return err
	}
	_, err = nn.Load(ctx, f, net, nn.LoadOptions{})
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
