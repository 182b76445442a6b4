package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/sinterml/sinter"
)

// batchFlags are those of device batch.
type batchFlags struct {
	most   int
	budget float64 // seconds
	again  bool
}

func (a *app) deviceBatchCommand() *cobra.Command {
	var f batchFlags
	c := &cobra.Command{
		Use:   "batch [MODEL]",
		Short: "Find how many texts a device should embed at a time",
		Long: `Batch runs a model on 1, 2, 4, ... texts of 128 tokens at a time until more texts no longer
mean more texts a second, or the memory of the device would not hold them. It
recommends the smallest batch that is within 2 % of the best, and keeps what it
found for the model, the device and its driver, so that it is measured once.

Commands that embed many texts then run batches of that size on the device, where
it was faster than the default by more than 2 %: 1024 tokens, on devices of kind
cuda, hip and metal 8192. On the cpu they keep that. Vectors are the same.`,
		Example: `  sinter device batch
  sinter device batch BAAI/bge-small-en-v1.5 --device opencl --budget 60`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("give one model: there are %d arguments", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.modelArgument(args); err != nil {
				return err
			}
			if f.most < 1 || !(f.budget > 0) || f.budget > math.MaxInt32 {
				return usagef("--most %d --budget %v: use more than 0, and at most %d seconds", f.most, f.budget, math.MaxInt32)
			}
			return a.deviceBatch(cmd.Context(), f)
		},
	}
	c.Flags().IntVar(&f.most, "most", 4096, "largest batch to try")
	c.Flags().Float64Var(&f.budget, "budget", 10, "seconds after which no larger batch is tried")
	c.Flags().BoolVar(&f.again, "again", false, "measure whatever is kept")
	return c
}

// batchReport is what --json prints.
type batchReport struct {
	Model  string      `json:"model"`
	Device string      `json:"device"`
	DType  string      `json:"dtype"`
	Tokens int         `json:"tokens"`       // of a text
	Batch  int         `json:"batch"`        // recommended, texts
	Ended  string      `json:"ended"`        // why no larger one was tried: throughput, memory, time or most
	Memory int64       `json:"memory_bytes"` // that a run may take; 0: not known
	Kept   bool        `json:"kept"`         // measured at an earlier time
	Used   int         `json:"batch_tokens"` // what commands run at a time on the device
	Tried  []batchLine `json:"tried"`
}

type batchLine struct {
	Batch   int     `json:"batch"`
	Bytes   int64   `json:"bytes"`
	Seconds float64 `json:"seconds"`
	Rate    float64 `json:"rate"` // texts a second
}

func (a *app) deviceBatch(ctx context.Context, f batchFlags) (err error) {
	d, err := a.openDevice(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	e, err := a.encoderOn(ctx, d, a.dtype())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	budget := max(1, time.Duration(f.budget*float64(time.Second))) // 0 would be the default
	advice, err := e.RecommendBatch(ctx, 0, sinter.BatchOptions{Most: f.most, Budget: budget, Again: f.again})
	if err != nil {
		return err
	}
	r := batchReport{
		Model: a.modelName(), Device: d.Name(), DType: a.dtype(), Tokens: advice.Tokens, Batch: advice.Size, Ended: advice.Ended,
		Memory: advice.Memory, Kept: advice.Kept, Used: advice.BatchTokens,
	}
	if r.Memory == math.MaxInt64 {
		r.Memory = 0
	}
	for _, t := range advice.Tried {
		r.Tried = append(r.Tried, batchLine{t.Size, t.Bytes, t.Time.Seconds(), t.Rate()})
	}
	return a.printBatches(r)
}

// endedTexts say for people why no larger batch was tried.
var endedTexts = map[string]string{
	"throughput": "more texts at a time bring no more texts a second",
	"memory":     "more texts at a time do not fit",
	"time":       "the time was up: --budget gives more",
	"most":       "no more were to be tried: --most raises that",
}

func (a *app) printBatches(r batchReport) error {
	if a.settings.json {
		return a.printJSON(r)
	}
	t := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "TEXTS\tMEMORY\tMS\tTEXTS A SECOND\t")
	for _, b := range r.Tried {
		fmt.Fprintf(t, "%d\t%s\t%.3g\t%.4g\t\n", b.Batch, byteText(uint64(b.Bytes)), 1e3*b.Seconds, b.Rate)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(a.stdout, "\n%s of %d tokens on %s: %s; %s\ncommands run %d tokens at a time there\n",
		r.Model, r.Tokens, r.Device, a.style().paint(bold, fmt.Sprintf("%d texts at a time", r.Batch)), endedTexts[r.Ended], r.Used)
	return err
}
