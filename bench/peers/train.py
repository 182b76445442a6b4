"""Steps of training beside torch and jax: a perceptron and two GPTs.

usage: train.py [--net NAME ...] [--threads N] [--rounds N] [--json OUT]

Everyone trains, one after the other in each round, so that a noisy machine is
noisy for all; the times are medians of the rounds and the ratios medians of the
rounds' ratios. On one thread the whole process is pinned to one core, as jax
takes more otherwise. Needs go, a C++ compiler for torch.compile, and of PyPI:
torch and jax[cpu].
"""
import argparse
import json
import os
import pathlib
import statistics
import tempfile
import time

from ours import REST, Ours

SECONDS = 1.0  # for each, in each round

# What is compared: the net, our number format, and the other one.
PAIRS = [
    ("mlp", "f32", "jax f32"),
    ("gpt", "f32", "torch f32"),
    ("gpt6", "f32", "torch f32"),
    ("gpt", "bf16", "torch compiled bf16"),
    ("gpt6", "bf16", "torch compiled bf16"),
]
# layers, heads, width, places, vocabulary, batch
SIZES = {"gpt": (4, 4, 128, 64, 65, 12), "gpt6": (6, 6, 384, 256, 65, 8)}


def arguments():
    p = argparse.ArgumentParser()
    p.add_argument("--net", nargs="+", default=["mlp", "gpt", "gpt6"])
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--rounds", type=int, default=7)
    p.add_argument("--json")
    return p.parse_args()


def torch_model(layers, heads, width, places, vocabulary):
    import torch.nn.functional as F
    from torch import nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.l1, self.l2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.p = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.f1, self.f2 = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x):
            b, n, c = x.shape
            q, k, v = self.qkv(self.l1(x)).view(b, n, 3, heads, c // heads).permute(2, 0, 3, 1, 4)
            x = x + self.p(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, n, c))
            return x + self.f2(F.gelu(self.f1(self.l2(x)), approximate="tanh"))

    class GPT(nn.Module):
        def __init__(self):
            super().__init__()
            self.e, self.pe = nn.Embedding(vocabulary, width), nn.Embedding(places, width)
            self.b, self.ln = nn.Sequential(*[Block() for _ in range(layers)]), nn.LayerNorm(width)

        def forward(self, ids):
            return self.ln(self.b(self.e(ids) + self.pe.weight[: ids.shape[1]])) @ self.e.weight.T

    return GPT()


def torch_gpt(sizes, bf16):
    import torch
    import torch.nn.functional as F

    layers, heads, width, places, vocabulary, batch = sizes
    net = torch_model(layers, heads, width, places, vocabulary)
    adam = torch.optim.AdamW(net.parameters(), lr=1e-3, fused=True)
    ids, targets = torch.randint(0, vocabulary, (2, batch, places))
    forward = torch.compile(net) if bf16 else net

    def step():
        adam.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
            loss = F.cross_entropy(forward(ids).reshape(-1, vocabulary).float(), targets.reshape(-1))
        loss.backward()
        adam.step()

    return step


def jax_mlp():
    import jax
    import jax.numpy as jnp

    key, sizes = jax.random.PRNGKey(0), [784, 512, 512, 10]
    state = [[(jax.random.normal(key, (a, b)) * 0.03, jnp.zeros(b)) for a, b in zip(sizes, sizes[1:])]]
    x, y = jax.random.normal(key, (128, 784)), jnp.zeros(128, int)

    def loss(layers):
        h = x
        for w, b in layers[:-1]:
            h = jax.nn.relu(h @ w + b)
        w, b = layers[-1]
        return -jnp.mean(jax.nn.log_softmax(h @ w + b)[jnp.arange(128), y])

    update = jax.jit(lambda layers: jax.tree.map(lambda a, g: a - 0.01 * g, layers, jax.grad(loss)(layers)))

    def step():
        state[0] = jax.block_until_ready(update(state[0]))

    return step


def rival(net, name):
    return jax_mlp() if name.startswith("jax") else torch_gpt(SIZES[net], "bf16" in name)


def seconds(step):
    time.sleep(REST)
    step()
    n, start = 0, time.perf_counter()
    while time.perf_counter() - start < SECONDS:
        step()
        n += 1
    return (time.perf_counter() - start) / n


def main():
    args = arguments()
    if args.threads == 1:
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    os.environ["OMP_NUM_THREADS"] = str(args.threads)
    os.environ["XLA_FLAGS"] = f"--xla_cpu_multi_thread_eigen={'true' if args.threads > 1 else 'false'} intra_op_parallelism_threads={args.threads}"
    import torch

    torch.set_num_threads(args.threads)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        ours = Ours("", args.threads, folder)
        for net, dtype, name in [p for p in PAIRS if p[0] in args.net]:
            step = rival(net, name)
            for _ in range(2):
                step()
            mine, bounds, theirs = [], [], []
            for _ in range(args.rounds):
                rate, bound = ours.rate(dtype, SECONDS, net=net)
                mine.append(1 / rate)
                bounds.append(bound)
                theirs.append(seconds(step))
            ratio = statistics.median(o / t for o, t in zip(mine, theirs))
            share = statistics.median(1 / (o * b) for o, b in zip(mine, bounds))
            rows.append({"net": net, "threads": args.threads, "dtype": dtype, "seconds": statistics.median(mine), "share": share, "peer": name, "peer_seconds": statistics.median(theirs), "ours_over_its_time": ratio})
            print(f"{net:5} {dtype:5} {args.threads} threads: {1e3 * rows[-1]['seconds']:8.2f} ms, {share:.2f} of the bound; {name} {1e3 * rows[-1]['peer_seconds']:8.2f} ms; ratio {ratio:.2f}", flush=True)
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
