// Package nn has layers: plain structs whose exported fields are their sizes and
// settings, and whose parameters are Variables.
//
//	type Net struct {
//		Hidden nn.Linear `weight:"hidden"`
//		Out    nn.Linear `weight:"out"`
//	}
//
//	func (n *Net) Forward(x sinter.Tensor) sinter.Tensor {
//		return n.Out.Forward(n.Hidden.Forward(x).Tanh())
//	}
//
//	net := Net{Hidden: nn.Linear{In: 20, Out: 32}, Out: nn.Linear{In: 32, Out: 3}}
//	err := nn.Init(&net, nn.Options{Seed: 1})
//
// Tags give parameters their names, here hidden.weight, hidden.bias,
// out.weight and out.bias: PyTorch's for layers that PyTorch has, so that Load
// and Save exchange files with it. Elements of slices are called 0, 1, ... A
// field tagged `state:"name"` is saved but not trained. A struct may have
// Variables of its own: it makes them in a method Make (see Maker).
//
// Params lists what an optimizer trains, Match picks some of it by name, to
// freeze it or to give it an optimizer's group of its own. Parameters are tied
// by giving two fields the same Variable after Init.
//
// A layer that acts differently in training takes a *Mode. Sizes that do not
// fit give tensors with an *Error, which names the layer by its path.
package nn
