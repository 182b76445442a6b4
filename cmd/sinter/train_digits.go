package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/cmd/sinter/internal/digits"
	"github.com/sinterml/sinter/train"
)

func init() { trainTasks = append(trainTasks, (*app).digitsCommand) }

// digitFolds is how many parts the images are judged in.
const digitFolds = 5

func (a *app) digitsCommand(f *taskFlags) *cobra.Command {
	recipe := digits.Usual
	c := &cobra.Command{
		Use:   "digits",
		Short: "Handwritten digits by a convolutional net",
		Long: `Digits tells 1,797 images of 8x8 pixels apart, which are in the binary, by a net
of three convolutions. It is judged five times by a fifth of the images that it
was not trained with, once with parts of random images, and once with parts of
neighbours, which are by other people than the rest. Beside each figure stands
that of the nearest image by pixels.

With --out it then trains a net with all images, and keeps that.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if recipe.Epochs < 1 {
				return usagef("--epochs %d: give at least 1", recipe.Epochs)
			}
			t, err := a.startTraining(c.Context(), f, unknown)
			if err != nil {
				return err
			}
			defer t.close()
			return t.digits(c.Context(), recipe)
		},
	}
	c.Flags().IntVar(&recipe.Epochs, "epochs", recipe.Epochs, "times that a net sees its images")
	return c
}

// digitsResult is one way of cutting the images into parts.
type digitsResult struct {
	says       string
	counts     train.Confusion
	neighbours float64
	seconds    float64 // of all parts
}

func (t *trainRun) digits(ctx context.Context, recipe digits.Recipe) error {
	set, err := digits.Load()
	if err != nil {
		return err
	}
	ctx = sinter.WithDevice(ctx, t.device)
	var results []digitsResult
	fields := map[string]any{}
	for _, by := range []struct {
		name, suffix, says string
		folds              digits.Folds
	}{
		{"shuffled", "", "random images", digits.Shuffled(set.Len(), digitFolds, t.flags.seed)},
		{"contiguous", "_contiguous", "other people's images", digits.Contiguous(set.Len(), digitFolds)},
	} {
		start := time.Now()
		counts, err := recipe.Judge(ctx, set, by.folds, t.flags.seed, func(part int) digits.Runner {
			return t.digitsRunner(fmt.Sprintf("%s-%d", by.name, part), map[string]any{"folds": by.name, "part": part}, fmt.Sprintf("%s, part %d of %d", by.says, part+1, digitFolds))
		})
		if err != nil {
			return err
		}
		r := digitsResult{by.says, counts, digits.Neighbours(set, by.folds), time.Since(start).Seconds()}
		results = append(results, r)
		maps.Copy(fields, map[string]any{
			"accuracy" + by.suffix: counts.Accuracy(), "neighbours" + by.suffix: r.neighbours, "confusion" + by.suffix: counts, "fold_seconds" + by.suffix: r.seconds,
		})
	}
	var net *digits.Net
	if t.flags.out != "" {
		all := make([]int, set.Len())
		for i := range all {
			all[i] = i
		}
		if net, err = recipe.Train(ctx, set, all, t.flags.seed, t.digitsRunner("all", map[string]any{"folds": "none"}, "all images")); err != nil {
			return err
		}
	}
	return t.end(ctx, net, fields, func(w io.Writer) { printDigits(w, results) })
}

// digitsRunner trains one net, with a folder of checkpoints of its own. Its lines
// say which: with JSON one an epoch, else one at the end.
func (t *trainRun) digitsRunner(folder string, which map[string]any, says string) digits.Runner {
	return func(ctx context.Context, o train.Options) error {
		o.Checkpoints.Dir = filepath.Join("checkpoints", folder)
		o.Report = func(e train.Event) error {
			if !e.EpochEnd {
				return t.report(e)
			}
			t.progress.end()
			if t.settings.json {
				line := jsonLine(e)
				maps.Copy(line, which)
				if err := t.out.json.Encode(line); err != nil {
					return err
				}
			} else if e.Epoch+1 == o.Epochs {
				fmt.Fprintf(t.out, "%s: loss %.3f after %d epochs\n", says, e.Loss, o.Epochs)
			}
			return t.out.Flush()
		}
		_, err := t.run(ctx, o)
		return err
	}
}

func printDigits(w io.Writer, results []digitsResult) {
	for _, r := range results {
		fmt.Fprintf(w, "\n%s: %.2f %% right, nearest neighbours %.2f %%; %.1f s\n\n%v", r.says, 100*r.counts.Accuracy(), 100*r.neighbours, r.seconds, r.counts)
	}
	fmt.Fprintln(w)
}
