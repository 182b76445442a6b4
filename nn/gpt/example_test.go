package gpt_test

import (
	"context"
	"fmt"

	"github.com/sinterml/sinter"
	_ "github.com/sinterml/sinter/internal/effort" // collects garbage less often
	"github.com/sinterml/sinter/nn"
	"github.com/sinterml/sinter/nn/gpt"
	"github.com/sinterml/sinter/optim"
)

// A small net learns the order of four letters by heart.
func Example() {
	net, err := gpt.New(gpt.Sizes{Vocabulary: 4, Block: 8, Layers: 1, Heads: 2, Width: 16}, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	ids := sinter.Of([]int64{0, 1, 2, 3, 0, 1, 2, 3}, 1, 8)
	next := sinter.Of([]int64{1, 2, 3, 0, 1, 2, 3, 0}, 1, 8)
	opt, err := optim.New(optim.Options{}, optim.Group{Params: nn.Params(net), Method: optim.AdamW{}})
	if err != nil {
		fmt.Println(err)
		return
	}
	updates, err := opt.Update(net.Loss(ids, next), sinter.Scalar(0.03))
	if err != nil {
		fmt.Println(err)
		return
	}
	step, err := sinter.Compile(sinter.Capture(updates...), sinter.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer step.Close()
	ctx := context.Background()
	for range 60 {
		if _, err := step.Run(ctx, nil); err != nil {
			fmt.Println(err)
			return
		}
	}
	most, err := sinter.Values[int64](ctx, net.Logits(ids).ArgMax(-1).Reshape(-1))
	fmt.Println(most, err)
	// Output: [1 2 3 0 1 2 3 0] <nil>
}
