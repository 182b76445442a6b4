"""MiniLM beside what else runs it on a CPU: ONNX Runtime, OpenVINO and torch.

usage: encode.py MODEL_DIR [--threads N] [--rounds N] [--json OUT]

Everyone embeds the same random tokens, one after the other in each round, so
that a noisy machine is noisy for all; the rates are medians of the rounds and
the ratios medians of the rounds' ratios. The least cosine is that with torch
in f32. Needs go, and of PyPI: numpy torch transformers onnx onnxruntime openvino.
"""
import argparse
import json
import os
import pathlib
import statistics
import sys
import tempfile
import time

from ours import REST, Ours

SHAPES = [(1, 12), (1, 128), (8, 128), (32, 128)]
SECONDS = 0.5  # for each, in each round

# What each of our formats is compared with.
RIVALS = {"f32": ["ort f32", "ort f32 fused", "openvino f32", "torch f32"], "bf16": ["openvino bf16", "torch bf16"], "int8": ["ort int8"]}


def arguments():
    p = argparse.ArgumentParser()
    p.add_argument("model")
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--rounds", type=int, default=7)
    p.add_argument("--json")
    return p.parse_args()


def torch_runs(model, threads):
    import torch
    from transformers import BertModel

    torch.set_num_threads(threads)

    def run(dtype):
        bert = BertModel.from_pretrained(model, attn_implementation="sdpa", dtype=dtype).eval()

        def f(ids):
            with torch.inference_mode():
                hidden = bert(input_ids=torch.from_numpy(ids)).last_hidden_state
                return torch.nn.functional.normalize(hidden.float().mean(1), dim=1).numpy()

        return f

    return {"torch f32": run(torch.float32), "torch bf16": run(torch.bfloat16)}


def export(model, folder):
    """Writes the model as ONNX, quantised too, and with what ONNX Runtime's own optimiser fuses."""
    import torch
    from onnxruntime.quantization import QuantType, quantize_dynamic
    from transformers import BertModel

    class Hidden(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.bert = BertModel.from_pretrained(model, attn_implementation="eager").eval()

        def forward(self, ids, mask):
            return self.bert(input_ids=ids, attention_mask=mask).last_hidden_state

    files = {"ort f32": f"{folder}/model.onnx"}
    ids = torch.randint(0, 30000, (2, 16))
    axes = {"ids": {0: "batch", 1: "tokens"}, "mask": {0: "batch", 1: "tokens"}}
    torch.onnx.export(Hidden(), (ids, torch.ones_like(ids)), files["ort f32"], input_names=["ids", "mask"], output_names=["hidden"], dynamic_axes=axes, opset_version=17, dynamo=False)
    files["ort int8"] = f"{folder}/int8.onnx"
    quantize_dynamic(files["ort f32"], files["ort int8"], weight_type=QuantType.QInt8)
    try:
        from onnxruntime.transformers import optimizer

        optimizer.optimize_model(files["ort f32"], model_type="bert", num_heads=12, hidden_size=384).save_model_to_file(f"{folder}/fused.onnx")
        files["ort f32 fused"] = f"{folder}/fused.onnx"
    except Exception as e:
        print("without the fused form:", e, file=sys.stderr)
    return files


def onnx_runs(files, threads):
    import numpy as np
    import onnxruntime as ort
    import openvino

    def pooled(hidden):
        v = hidden.mean(1)
        return v / np.linalg.norm(v, axis=1, keepdims=True)

    def session(file):
        o = ort.SessionOptions()
        o.intra_op_num_threads, o.inter_op_num_threads = threads, 1
        s = ort.InferenceSession(file, o, providers=["CPUExecutionProvider"])
        return lambda ids: pooled(s.run(None, {"ids": ids, "mask": np.ones_like(ids)})[0])

    def compiled(precision):
        hints = {"INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": precision, "PERFORMANCE_HINT": "LATENCY"}
        m = openvino.Core().compile_model(files["ort f32"], "CPU", hints)
        return lambda ids: pooled(m([ids, np.ones_like(ids)])[0])

    runs = {name: session(file) for name, file in files.items()}
    return runs | {"openvino f32": compiled("f32"), "openvino bf16": compiled("bf16")}


def rate(f, ids):
    time.sleep(REST)
    f(ids)
    n, start = 0, time.perf_counter()
    while time.perf_counter() - start < SECONDS:
        f(ids)
        n += len(ids)
    return n / (time.perf_counter() - start)


def main():
    args = arguments()
    os.environ["OMP_NUM_THREADS"] = str(args.threads)
    import numpy as np

    rows = []
    with tempfile.TemporaryDirectory() as folder:
        ours = Ours(args.model, args.threads, folder)
        runs = torch_runs(args.model, args.threads) | onnx_runs(export(args.model, folder), args.threads)
        draw = np.random.default_rng(0)
        for batch, tokens in SHAPES:
            ids = draw.integers(1000, 20000, (batch, tokens)).astype(np.int64)
            reference = runs["torch f32"](ids)
            cosines = {name: float((f(ids) * reference).sum(1).min()) for name, f in runs.items()}
            for dtype in RIVALS:
                vectors = np.array(ours.vectors(dtype, ids=ids.tolist()))
                cosines["sinter " + dtype] = float((vectors * reference).sum(1).min())
            rates = {name: [] for name in cosines}
            bounds = {dtype: [] for dtype in RIVALS}
            for _ in range(args.rounds):
                for dtype, rivals in RIVALS.items():
                    r, bound = ours.rate(dtype, SECONDS, ids=ids.tolist())
                    rates["sinter " + dtype].append(r)
                    bounds[dtype].append(bound)
                    for name in rivals:
                        if name in runs:
                            rates[name].append(rate(runs[name], ids))
            print(f"\n{batch} x {tokens} tokens, {args.threads} threads")
            for dtype, rivals in RIVALS.items():
                for name in ["sinter " + dtype, *rivals]:
                    if name not in rates:
                        continue
                    ratio = statistics.median(o / r for o, r in zip(rates["sinter " + dtype], rates[name]))
                    rows.append({"batch": batch, "tokens": tokens, "threads": args.threads, "name": name, "dtype": dtype, "rate": statistics.median(rates[name]), "bound": statistics.median(bounds[dtype]), "ours_over_it": ratio, "least_cosine": cosines[name]})
                    print(f"  {name:14} {rows[-1]['rate']:8.1f} texts/s   ours / it {ratio:5.2f}   least cosine {cosines[name]:.5f}", flush=True)
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(rows, indent=1) + "\n")


main()
