"""Losses of a GPT of 6 layers and 384 numbers that torch trains, beside ours.

usage: losses.py [--steps N] [--threads N]

Torch trains on one batch with AdamW from weights of its own, and before each step writes weights, what AdamW remembers
and the batch to a file. Printed for each step: torch's loss, and how far from it, as a share of it, are

  one thread    torch's own, trained once more from the same weights on one thread, so that sums are rounded otherwise
  ours          those that we train from the first file on
  from here     ours from the file of this step: of the step itself, and of the next, behind our gradient and update

The first two say from where on runs that differ by rounding part, the last whether a step is right. Fails where one of
these is off by more than 1e-4. Needs go and, of PyPI: torch and safetensors.
"""
import argparse
import os
import sys
import tempfile

import torch
import torch.nn.functional as F
from ours import Ours
from safetensors.torch import save_file
from train import SIZES, torch_model

NET = "gpt6"
LIMIT = 1e-4


def arguments():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=20)
    p.add_argument("--threads", type=int, default=2)
    return p.parse_args()


class Torch:
    """Torch's side, which begins with the same numbers each time."""

    def __init__(self, threads):
        torch.set_num_threads(threads)
        torch.manual_seed(0)
        *sizes, batch = SIZES[NET]
        places, vocabulary = sizes[-2:]
        self.net = torch_model(*sizes)
        for p in self.net.parameters():
            if p.dim() > 1:
                torch.nn.init.normal_(p, std=0.02)
        self.adam = torch.optim.AdamW(self.net.parameters(), lr=1e-3)
        self.ids, self.targets = (torch.randint(0, vocabulary, (batch, places)) for _ in range(2))
        self.steps = 0

    def step(self):
        self.adam.zero_grad()
        loss = F.cross_entropy(self.net(self.ids).flatten(0, 1), self.targets.flatten())
        loss.backward()
        self.adam.step()
        self.steps += 1
        return loss.item()

    def save(self, file):
        tensors = {"ids": self.ids, "targets": self.targets, "state.optim.count": torch.tensor(self.steps)}
        for name, p in self.net.named_parameters():
            tensors["weight." + name] = p.detach().clone()
            for ours, theirs in (("mean", "exp_avg"), ("square", "exp_avg_sq")):
                tensors[f"state.adam.{ours}.{name}"] = self.adam.state[p].get(theirs, torch.zeros_like(p)).clone()
        save_file(tensors, file)


def off(ours, theirs):
    return abs(ours - theirs) / theirs


def main():
    args = arguments()
    with tempfile.TemporaryDirectory() as folder:
        ours, file = Ours("", args.threads, folder), os.path.join(folder, "step.safetensors")
        alone = Torch(1)
        one = [alone.step() for _ in range(args.steps)]
        rival = Torch(args.threads)
        rival.save(file)
        whole = ours.ask(dtype="f32", net=NET, file=file, steps=args.steps)["losses"]
        theirs, here, after = [], [], []
        for _ in range(args.steps):
            rival.save(file)
            pair = ours.ask(dtype="f32", net=NET, file=file, steps=2)["losses"]
            theirs.append(rival.step())
            here.append(off(pair[0], theirs[-1]))
            after.append(pair[1])
    after = [off(o, t) for o, t in zip(after, theirs[1:])]
    print("step    torch  one thread      ours  from here: this  and next")
    for i, loss in enumerate(theirs):
        following = f"{after[i]:9.1e}" if i < len(after) else ""
        print(f"{i:4} {loss:8.5f}     {off(one[i], loss):7.1e}   {off(whole[i], loss):7.1e}          {here[i]:7.1e} {following}")
    worst = max(here + after)
    print(f"from torch's own state the losses are off by {worst:.1e} at most")
    if not worst <= LIMIT:
        sys.exit(f"more than {LIMIT}")


if __name__ == "__main__":
    main()
