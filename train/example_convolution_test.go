package train_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/nn"
	"github.com/sinterml/sinter/optim"
	"github.com/sinterml/sinter/train"
)

// lineNet tells lines that lie from lines that stand.
type lineNet struct {
	Conv nn.Conv2d    `weight:"conv"`
	Norm nn.BatchNorm `weight:"norm"`
	Out  nn.Linear    `weight:"out"`
}

func (n *lineNet) Forward(x sinter.Tensor, m *nn.Mode) sinter.Tensor {
	x = n.Norm.Forward(n.Conv.Forward(x), m).ReLU()
	x = sinter.MaxPool(x, sinter.PoolOptions{Kernel: []int{8}})
	return n.Out.Forward(x.Reshape(-1, n.Out.In))
}

// lines draws images of 8x8 with noise and one line, and says of each whether
// it stands.
func lines(r *rand.Rand, count int) (images []float32, stands []int64) {
	for range count {
		image, at, class := make([]float32, 64), r.IntN(8), r.IntN(2)
		for i := range image {
			image[i] = r.Float32() * 0.7
		}
		for i := range 8 {
			image[[]int{at*8 + i, i*8 + at}[class]] += 0.5
		}
		images, stands = append(images, image...), append(stands, int64(class))
	}
	return images, stands
}

// A convolutional net learns from 512 images, and is judged by 256 others.
func Example_convolution() {
	net := lineNet{
		Conv: nn.Conv2d{In: 1, Out: 8, Kernel: []int{3}, Same: true, NoBias: true},
		Norm: nn.BatchNorm{Channels: 8},
		Out:  nn.Linear{In: 8, Out: 2},
	}
	if err := nn.Init(&net, nn.Options{Seed: 1}); err != nil {
		log.Fatal(err)
	}
	opt, err := optim.New(optim.Options{}, optim.Group{Params: nn.Params(&net), Method: optim.AdamW{}})
	if err != nil {
		log.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	data := func(count int, shuffle bool) train.Batches {
		images, stands := lines(r, count)
		return train.Batches{Rows: train.Table{"x": train.Column(images, 1, 8, 8), "y": train.Column(stands)}, Size: 32, Shuffle: shuffle}
	}
	x, y := sinter.Input("x", sinter.F32, sinter.Dims(32, 1, 8, 8)...), sinter.Input("y", sinter.I64, sinter.N(32))
	result, err := train.Run(context.Background(), train.Options{
		Net: &net, Optimizer: opt, Data: data(512, true), Epochs: 10, Schedule: optim.Constant(0.01),
		Loss: func(m *nn.Mode) (sinter.Tensor, map[string]sinter.Tensor) {
			return sinter.CrossEntropy(net.Forward(x, m), y, sinter.CrossEntropyOptions{}), nil
		},
		Evaluate: train.Evaluation{
			Data:    data(256, false),
			Metrics: func() []train.Metric { return []train.Metric{train.Accuracy("accuracy", net.Forward(x, nil), y)} },
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	accuracy, _ := result.Scores.Value("accuracy")
	fmt.Println(accuracy > 0.95)
	// Output: true
}
