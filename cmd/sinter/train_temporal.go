package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/sinterml/sinter/cmd/sinter/internal/temporal"
	"github.com/sinterml/sinter/train"
)

func init() { trainTasks = append(trainTasks, (*app).temporalCommand) }

// Objectives of the task.
const (
	byClass = "class"
	byValue = "regression"
)

func temporalNets() []string   { return []string{temporal.MLPName, temporal.TransformerName} }
func objectiveNames() []string { return []string{byClass, byValue} }

// temporalFlags are those of the task.
type temporalFlags struct {
	net, objective, export string
	sigma                  float64
	rows, hidden, epochs   int
}

func (a *app) temporalCommand(f *taskFlags) *cobra.Command {
	var own temporalFlags
	c := &cobra.Command{
		Use:   "temporal",
		Short: "Predict a series whose best prediction is known",
		Long: `Temporal simulates a series with a hidden regime and impulses, and trains a net to
predict the class of its next value, or the value. Rows are parted by time: 70 %
to train, 15 % to validate and 15 % to test. What comes out stands beside three
predictors on the same rows: the oracle knows everything but the noise, the
regime predictor how the series goes on from what a row shows, and last value
expects no change.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.runTemporal(c, f, own) },
	}
	c.Flags().StringVar(&own.net, "net", temporal.MLPName, "net: mlp or transformer")
	c.Flags().StringVar(&own.objective, "objective", byClass, "what is predicted: class or regression (the value)")
	c.Flags().Float64Var(&own.sigma, "sigma", 0.3, "noise of the series, a standard deviation")
	c.Flags().IntVar(&own.rows, "rows", 5000, "rows")
	c.Flags().IntVar(&own.hidden, "hidden", 64, "hidden units of the mlp")
	c.Flags().IntVar(&own.epochs, "epochs", 0, "times that all rows are seen (default what suits their number)")
	c.Flags().StringVar(&own.export, "export", "", "`FILE` for the model to use elsewhere, in 8 bits")
	return c
}

func (f temporalFlags) check(c *cobra.Command) error {
	switch {
	case !slices.Contains(temporalNets(), f.net):
		return usagef("--net %q: use %s", f.net, strings.Join(temporalNets(), " or "))
	case !slices.Contains(objectiveNames(), f.objective):
		return usagef("--objective %q: use %s", f.objective, strings.Join(objectiveNames(), " or "))
	case c.Flags().Changed("hidden") && f.net != temporal.MLPName:
		return usagef("--hidden is for the mlp: leave it out")
	case c.Flags().Changed("epochs") && f.epochs < 1:
		return usagef("--epochs %d: use at least 1", f.epochs)
	case c.Flags().Changed("export") && f.export == "":
		return usagef("--export is empty: give a file")
	case c.Flags().Changed("rows") && f.rows == 0, c.Flags().Changed("hidden") && f.hidden == 0: // zeros stand for what is usual
		return usagef("--rows %d --hidden %d: use at least 1 of each", f.rows, f.hidden)
	case f.export == "-":
		return usagef("--export -: results go to standard output: give a file")
	case f.export != "" && !isFolder(filepath.Dir(f.export)):
		return usagef("--export %s: there is no folder %s", f.export, filepath.Dir(f.export))
	}
	return nil
}

func (a *app) runTemporal(c *cobra.Command, f *taskFlags, own temporalFlags) error {
	if err := own.check(c); err != nil {
		return err
	}
	if err := a.checkOutput("export", own.export); err != nil {
		return err
	}
	o := temporal.Options{Seed: f.seed, Sigma: own.sigma, Rows: own.rows, Net: own.net, Epochs: own.epochs, Regression: own.objective == byValue}
	if own.net == temporal.MLPName {
		o.Hidden = own.hidden
	}
	if err := o.Check(); err != nil {
		return usagef("%w", err)
	}
	task, err := temporal.NewTask(o)
	if err != nil {
		return err
	}
	step := float64(unknown)
	if own.net == temporal.MLPName {
		step = stepWork(task.Net.Module, task.Batch())
	}
	t, err := a.startTraining(c.Context(), f, step)
	if err != nil {
		return err
	}
	defer t.close()
	options, err := task.Training()
	if err != nil {
		return err
	}
	result, err := t.run(c.Context(), options)
	if err != nil {
		return err
	}
	r := temporalReport{task: task, flags: own}
	if err := r.fill(c.Context(), t, result); err != nil {
		return err
	}
	return t.end(c.Context(), task.Net.Module, r.fields(), r.print)
}

// temporalReport is what a run came to.
type temporalReport struct {
	task  *temporal.Task
	flags temporalFlags

	hits, errors []outcome // the net, the net in 8 bits, then the references
	int8Bytes    int
	inference    temporal.Inference
	peak         int64 // bytes of tensors

	mse, mseReference float64 // on the rows to validate
}

// outcome is how good one of those that are compared was.
type outcome struct {
	name string
	rows temporal.Outcome
}

// fill measures the net, makes the model for use, and measures that.
func (r *temporalReport) fill(ctx context.Context, t *trainRun, result *train.Result) error {
	test, o := r.task.Test, t.compileOptions()
	y, err := r.task.Predict(ctx, test, o)
	if err != nil {
		return err
	}
	// What follows is use, not training.
	r.peak = t.device.Stats().Peak + r.task.HostBytes()
	model, err := r.task.Quantise(ctx, o)
	if err != nil {
		return err
	}
	defer model.Close()
	z, err := r.task.PredictModel(ctx, test, model)
	if err != nil {
		return err
	}
	if r.inference, err = r.task.TimeInference(ctx, model, o); err != nil {
		return err
	}
	r.hits = []outcome{{r.flags.net, r.task.Hits(test, y)}, {"int8", r.task.Hits(test, z)}}
	references := []temporal.Predictor{temporal.Oracle, temporal.Regime, temporal.LastValue}
	for _, p := range references {
		r.hits = append(r.hits, outcome{p.Name, p.Hits(r.task.Rows, test)})
	}
	if r.flags.objective == byValue {
		r.errors = []outcome{{r.flags.net, r.task.Errors(test, y)}, {"int8", r.task.Errors(test, z)}}
		for _, p := range append(references, temporal.Decay) {
			r.errors = append(r.errors, outcome{p.Name, p.Errors(r.task.Rows, test)})
		}
		r.mse, _ = result.Scores.Value(temporal.ValidationError)
		r.mseReference = temporal.Decay.Errors(r.task.Rows, r.task.Valid).Mean()
	}
	file, err := model.File()
	if err != nil {
		return err
	}
	r.int8Bytes = len(file)
	if r.flags.export != "" {
		t.export = func() error { return r.export(t, file) }
	}
	return nil
}

// export writes the model to the file asked for.
func (r *temporalReport) export(t *trainRun, file []byte) error {
	out, err := t.createOutput(r.flags.export)
	if err != nil {
		return err
	}
	_, err = out.Write(file)
	return out.close(err)
}

// fields are those of the last line of JSON.
func (r *temporalReport) fields() map[string]any {
	mean := func(i int) float64 { return r.hits[i].rows.Mean() }
	f := map[string]any{
		"net": r.flags.net, "objective": r.flags.objective, "rows": r.flags.rows, "sigma": r.flags.sigma, "test_rows": r.task.Test.Len(),
		"accuracy": mean(0), "accuracy_int8": mean(1), "oracle": mean(2), "regime": mean(3), "last_value": mean(4),
		"int8_bytes": r.int8Bytes, "peak_tensor_bytes": r.peak,
		"inference_seconds": r.inference.Float.Seconds(), "inference_int8_seconds": r.inference.Int8.Seconds(),
	}
	for name, i := range map[string]int{"int8": 1, "oracle": 2, "regime": 3, "last_value": 4} {
		d := r.hits[0].rows.Against(r.hits[i].rows)
		f["over_"+name], f["over_"+name+"_error"] = d.Mean, d.Error
	}
	if r.errors != nil {
		f["mse"], f["mse_reference"] = finite(r.mse), r.mseReference
		f["test_mse"], f["test_mse_reference"] = finite(r.errors[0].rows.Mean()), r.errors[len(r.errors)-1].rows.Mean()
	}
	return f
}

// print writes the same for people.
func (r *temporalReport) print(w io.Writer) {
	rows := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	compared := func(title string, all []outcome, format string, scale float64) {
		fmt.Fprintf(rows, "%s\t\t%s over it\t\n", title, all[0].name)
		for i, o := range all {
			fmt.Fprintf(rows, "%s\t"+format+"\t", o.name, scale*o.rows.Mean())
			if i > 0 {
				d := all[0].rows.Against(o.rows)
				fmt.Fprintf(rows, "%+.2f ± %.2f\t", scale*d.Mean, scale*d.Error)
			}
			fmt.Fprintln(rows)
		}
	}
	compared(fmt.Sprintf("right of %d rows", r.task.Test.Len()), r.hits, "%.2f %%", 100)
	if r.errors != nil {
		compared("squared error, of 1000", r.errors, "%.2f", 1000)
	}
	rows.Flush()
	if r.errors != nil {
		fmt.Fprintf(w, "validation: squared error %.5f, that of 0.8 v %.5f (%.3f of it)\n", r.mse, r.mseReference, r.mse/r.mseReference)
	}
	fmt.Fprintf(w, "a batch of %d: %v in f32, %v in int8; the model for use has %d bytes, tensors had %.1f MB at most\n",
		r.inference.Rows, r.inference.Float, r.inference.Int8, r.int8Bytes, float64(r.peak)/1e6)
}
