// Package train runs the steps of training: it compiles loss, gradients and the
// optimizer's update into one program, and gives it one batch after the other.
//
//	result, err := train.Run(ctx, train.Options{
//		Net: &net, Optimizer: opt, Schedule: optim.Cosine(1e-3, 1e-4, steps), Steps: steps,
//		Data: train.Batches{Rows: train.Table{"x": train.Column(features, 34), "y": train.Column(labels)}, Size: 128, Shuffle: true},
//		Loss: func(m *nn.Mode) (sinter.Tensor, map[string]sinter.Tensor) {
//			return sinter.CrossEntropy(net.Forward(x, m), y, sinter.CrossEntropyOptions{}), nil
//		},
//	})
//
// What a run does is a function of its options: with the same seed it ends at
// the same bits, for any number of threads.
package train
