package train_test

import (
	"context"
	"fmt"
	"log"

	"github.com/sinterml/sinter"
	"github.com/sinterml/sinter/nn"
	"github.com/sinterml/sinter/optim"
	"github.com/sinterml/sinter/train"
)

// xorNet tells whether two numbers have different signs.
type xorNet struct {
	Hidden nn.Linear `weight:"hidden"`
	Out    nn.Linear `weight:"out"`
}

func (n *xorNet) Forward(x sinter.Tensor) sinter.Tensor {
	return n.Out.Forward(n.Hidden.Forward(x).Tanh())
}

// Four points, dealt anew for each epoch, and an evaluation at the end.
func Example() {
	net := xorNet{Hidden: nn.Linear{In: 2, Out: 8}, Out: nn.Linear{In: 8, Out: 2}}
	if err := nn.Init(&net, nn.Options{Seed: 1}); err != nil {
		log.Fatal(err)
	}
	opt, err := optim.New(optim.Options{}, optim.Group{Params: nn.Params(&net), Method: optim.AdamW{}})
	if err != nil {
		log.Fatal(err)
	}
	table := train.Table{"x": train.Column([]float32{-1, -1, -1, 1, 1, -1, 1, 1}, 2), "y": train.Column([]int64{0, 1, 1, 0})}
	x, y := sinter.Input("x", sinter.F32, sinter.N(2), sinter.N(2)), sinter.Input("y", sinter.I64, sinter.N(2))
	result, err := train.Run(context.Background(), train.Options{
		Net: &net, Optimizer: opt, Schedule: optim.Constant(0.1), Epochs: 30,
		Data: train.Batches{Rows: table, Size: 2, Shuffle: true},
		Loss: func(m *nn.Mode) (sinter.Tensor, map[string]sinter.Tensor) {
			return sinter.CrossEntropy(net.Forward(x), y, sinter.CrossEntropyOptions{}), nil
		},
		Evaluate: train.Evaluation{Data: train.Batches{Rows: table, Size: 2}, Metrics: func() []train.Metric {
			return []train.Metric{train.ConfusionMatrix("accuracy", net.Forward(x), y, 2)}
		}},
	})
	if err != nil {
		log.Fatal(err)
	}
	accuracy, _ := result.Scores.Value("accuracy")
	fmt.Println(result.Step, "steps, accuracy", accuracy)
	fmt.Println([][]int(result.Scores.Confusion("accuracy")))
	// Output:
	// 60 steps, accuracy 1
	// [[2 0] [0 2]]
}
