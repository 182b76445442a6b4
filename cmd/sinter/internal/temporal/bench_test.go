package temporal

import (
	"context"
	"testing"

	"github.com/sinterml/sinter"
	_ "github.com/sinterml/sinter/internal/effort" // collects garbage less often
	"github.com/sinterml/sinter/nn"
	"github.com/sinterml/sinter/optim"
)

// benchSizes are the nets that benchmarks are about.
func benchSizes(outputs int) []Sizes {
	return []Sizes{DefaultSizes(MLPName, outputs), DefaultSizes(TransformerName, outputs)}
}

func must[T any](b *testing.B) func(v T, err error) T {
	return func(v T, err error) T {
		if err != nil {
			b.Helper()
			b.Fatal(err)
		}
		return v
	}
}

// BenchmarkStep is a step of training with 128 rows of 10,000, their gathering
// included.
func BenchmarkStep(b *testing.B) {
	const batch = 128
	rows := must[Rows](b)(NewRows(1, 0.3, 10_000))
	train, _, _ := rows.Split()
	table := NewTable(rows, rows.Fit(train))
	numbers := make([]int32, batch)
	for i := range numbers {
		numbers[i] = int32(i * 7919 % train.Len())
	}
	at := sinter.Input("rows", sinter.I32, sinter.N(batch))
	for _, objective := range []string{"class", "regression"} {
		outputs := map[string]int{"class": Classes, "regression": 1}[objective]
		for _, sizes := range benchSizes(outputs) {
			net := must[*Net](b)(New(sizes, 1))
			y := net.Forward(table.Gather(at))
			loss := sinter.CrossEntropy(y, table.Classes(at), sinter.CrossEntropyOptions{})
			if objective == "regression" {
				loss = sinter.MSE(y.Squeeze(1), table.Values(at))
			}
			for _, threads := range []int{1, 2} {
				b.Run(sizes.Net+"/"+objective+"/threads="+string(rune('0'+threads)), func(b *testing.B) {
					opt := must[*optim.Optimizer](b)(optim.New(optim.Options{}, optim.Group{Params: nn.Params(net.Module), Method: optim.AdamW{WeightDecay: 0.01}}))
					updates := must[[]sinter.Tensor](b)(opt.Update(loss, sinter.Input("rate", sinter.F32)))
					d := must[*sinter.Device](b)(sinter.OpenCPU(sinter.CPUOptions{Threads: threads}))
					defer d.Close()
					step := must[*sinter.Program](b)(sinter.Compile(sinter.Capture(append(updates, loss)...), sinter.Options{Device: d}))
					defer step.Close()
					ctx := sinter.WithDevice(context.Background(), d)
					for b.Loop() {
						in := map[string]sinter.Tensor{"rows": sinter.Of(numbers, batch), "rate": sinter.Scalar(1e-3)}
						out := must[[]sinter.Tensor](b)(step.Run(ctx, in))
						out[len(out)-1].Release() // the loss
					}
					b.ReportMetric(float64(step.Info().Kernels), "kernels")
				})
			}
		}
	}
}

// BenchmarkBatch32 is a prediction for 32 rows by a model for use.
func BenchmarkBatch32(b *testing.B) {
	one := Moments{0, 1}
	for _, sizes := range benchSizes(Classes) {
		net := must[*Net](b)(New(sizes, 1))
		for _, precision := range []sinter.Precision{sinter.F32, sinter.Int8} {
			for _, threads := range []int{1, 2} {
				b.Run(sizes.Net+"/"+precision.String()+"/threads="+string(rune('0'+threads)), func(b *testing.B) {
					d := must[*sinter.Device](b)(sinter.OpenCPU(sinter.CPUOptions{Threads: threads}))
					defer d.Close()
					ctx := sinter.WithDevice(context.Background(), d)
					m := must[*Model](b)(modelOf(ctx, net, Scale{one, one, one}, sinter.Options{Device: d, Precision: precision}))
					defer m.Close()
					in := map[string]sinter.Tensor{"x": sinter.Of(make([]float32, inferenceRows*Features), inferenceRows, Features)}
					for b.Loop() {
						must[[]sinter.Tensor](b)(m.program.Run(ctx, in))[0].Release()
					}
					b.ReportMetric(float64(m.program.Info().Kernels), "kernels")
				})
			}
		}
	}
}

// BenchmarkLoop is a step of train.Run: 20 epochs of the MLP by regression, as
// 'sinter train temporal --objective regression --rows 10000' does them.
func BenchmarkLoop(b *testing.B) {
	for _, threads := range []int{1, 2} {
		b.Run("threads="+string(rune('0'+threads)), func(b *testing.B) {
			d := must[*sinter.Device](b)(sinter.OpenCPU(sinter.CPUOptions{Threads: threads}))
			defer d.Close()
			var spent, steps float64
			for b.Loop() {
				_, result := trained(b, Options{Seed: 42, Sigma: 0.3, Rows: 10_000, Regression: true}, sinter.Options{Device: d})
				spent += result.Train.Seconds()
				steps += float64(result.Step - 1)
			}
			b.ReportMetric(1e6*spent/steps, "us/step")
			b.ReportMetric(1e3*spent/float64(b.N), "ms/run")
		})
	}
}
