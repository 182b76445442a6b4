"""1,000 texts of mixed lengths, from text to vector, beside sentence-transformers.

usage: mixed.py MODEL_DIR [--threads N[,N]] [--rounds N] [--json OUT]

Both embed the texts of corpus.py, tokenizing included, one after the other in each round; the rates are medians of
the rounds and the ratios medians of the rounds' ratios to sentence-transformers in f32, with whose vectors the cosines
are (in bf16 its own are not quite of length 1). Needs go, and of PyPI: numpy torch sentence-transformers.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import corpus
from ours import REST, Ours

OURS = ["f32", "bf16", "int8"]
SECONDS = 0.01  # ours takes as many passes as fit: one
PEER = "sentence-transformers f32"


def arguments():
    p = argparse.ArgumentParser()
    p.add_argument("model")
    p.add_argument("--threads", default="1,2", type=lambda s: [int(n) for n in s.split(",")])
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--count", type=int, default=1000)
    p.add_argument("--json")
    return p.parse_args()


def sentence_transformers(model, threads):
    """The library's own way: sorted by length, padded to the longest of a batch of 32."""
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(threads)

    def run(dtype):
        m = SentenceTransformer(model, device="cpu", model_kwargs={"dtype": dtype})
        return lambda texts: m.encode(texts, batch_size=32, normalize_embeddings=True, show_progress_bar=False)

    return {PEER: run(torch.float32), "sentence-transformers bf16": run(torch.bfloat16)}


def timed(f, texts):
    time.sleep(REST)
    start = time.perf_counter()
    vectors = f(texts)
    return len(texts) / (time.perf_counter() - start), vectors


def measure(args, threads, texts, folder):
    import numpy as np

    ours = Ours(args.model, threads, folder)
    peers = sentence_transformers(args.model, threads)
    for f in peers.values():
        f(texts[:64])  # warm
    vectors = {"sinter " + dtype: np.array(ours.vectors(dtype, texts=texts)) for dtype in OURS}
    rates = {name: [] for name in [*peers, *vectors]}
    bounds = {dtype: [] for dtype in OURS}
    for _ in range(args.rounds):
        for name, f in peers.items():
            r, v = timed(f, texts)
            rates[name].append(r)
            vectors[name] = np.asarray(v, dtype=np.float32)
        for dtype in OURS:
            r, bound = ours.rate(dtype, SECONDS, texts=texts)
            rates["sinter " + dtype].append(r)
            bounds[dtype].append(bound)
    print(f"\n{len(texts)} texts, {threads} threads")
    for name in sorted(rates):
        cosines = (vectors[name] * vectors[PEER]).sum(1) / np.linalg.norm(vectors[name], axis=1)
        dtype = name.split()[-1]
        row = {
            "texts": len(texts), "threads": threads, "name": name, "dtype": dtype,
            "rate": statistics.median(rates[name]), "bound": statistics.median(bounds[dtype]),
            "over_peer": statistics.median(r / p for r, p in zip(rates[name], rates[PEER])),
            "mean_cosine": float(cosines.mean()), "least_cosine": float(cosines.min()),
        }
        print(f"  {name:26} {row['rate']:7.1f} texts/s of {row['bound']:7.1f}   {row['over_peer']:5.2f} of f32   cosine mean {row['mean_cosine']:.5f} least {row['least_cosine']:.5f}", flush=True)
        yield row


def one(args, threads):
    os.environ |= {"OMP_NUM_THREADS": str(threads), "RAYON_NUM_THREADS": str(threads)}
    with tempfile.TemporaryDirectory() as folder:
        return list(measure(args, threads, corpus.texts(args.count), folder))


def main():
    args = arguments()
    if len(args.threads) > 1:  # thread counts are fixed when a library loads: a process for each
        rows = []
        with tempfile.TemporaryDirectory() as folder:
            for threads in args.threads:
                out = pathlib.Path(folder) / "rows.json"
                subprocess.run([sys.executable, __file__, args.model, "--threads", str(threads), "--rounds", str(args.rounds), "--count", str(args.count), "--json", str(out)], check=True)
                rows += json.loads(out.read_text())
    else:
        rows = one(args, args.threads[0])
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(rows, indent=1) + "\n")


main()
