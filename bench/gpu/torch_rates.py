"""Times on PyTorch what bench/gpu times, in its rows, on the GPU of the number given; none where PyTorch or its GPU is missing."""
import json
import statistics
import sys
import time

try:
    import torch
    import torch.nn.functional as F
except ImportError:
    print("torch is not installed: nothing to compare with")
    sys.exit(0)
if not torch.cuda.is_available():
    print("torch sees no GPU: nothing to compare with")
    sys.exit(0)
torch.cuda.set_device(int(sys.argv[1]))


def median(run):
    for _ in range(3):
        run()
    torch.cuda.synchronize()
    times = []
    begun = time.perf_counter()
    while len(times) < 5 or time.perf_counter() - begun < 1 and len(times) < 1000:
        start = time.perf_counter()
        run()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def row(name, dtype, shape, unit, amount, run):
    try:
        seconds = median(run)
        r = dict(Name="torch " + name, DType=dtype, Shape=list(shape), Seconds=seconds, Rate=amount / seconds, Unit=unit)
    except Exception as e:
        r = dict(Name="torch " + name, DType=dtype, Shape=list(shape), Note=str(e)[:200])
    print("gpu-row " + json.dumps(r), flush=True)
    torch.cuda.empty_cache()


formats = {"f32": torch.float32, "tf32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}
torch.backends.cuda.matmul.allow_tf32 = False
with torch.inference_mode():
    for m, n, k in [(1024, 1024, 1024), (4096, 4096, 4096), (8192, 8192, 8192), (32768, 384, 384), (32768, 1536, 384), (1, 4096, 4096)]:
        for name, dtype in formats.items():
            x, w = torch.rand(m, k, device="cuda", dtype=dtype), torch.rand(k, n, device="cuda", dtype=dtype)
            torch.backends.cuda.matmul.allow_tf32 = name == "tf32"
            row("gemm", name, (m, n, k), "TFLOP/s", 2e-12 * m * n * k, lambda: x @ w)
    torch.backends.cuda.matmul.allow_tf32 = False
    for tokens in (2048, 16384):
        q, k, v = (torch.rand(1, 16, tokens, 128, device="cuda", dtype=torch.bfloat16) for _ in range(3))
        row("attention", "bf16", q.shape, "TFLOP/s", 4e-12 * tokens * tokens * 128 * 16, lambda: F.scaled_dot_product_attention(q, k, v))
    for name in ("f32", "bf16"):
        x = torch.rand(1 << 16, 4096, device="cuda", dtype=formats[name])
        moved = 2e-9 * x.numel() * x.element_size()
        chain = torch.compile(lambda x: F.gelu(F.relu(x * x + x - 1)))
        for what, run in (("copy", lambda: x * 2), ("pointwise chain", lambda: chain(x)), ("softmax", lambda: x.softmax(-1)), ("layer norm", lambda: F.layer_norm(x, (4096,)))):
            row(what, name, x.shape, "GB/s", moved, run)
    # The layers of all-MiniLM-L6-v2, with weights of no meaning: only time is asked for.
    for name in ("f32", "bf16"):
        layer = torch.nn.TransformerEncoderLayer(384, 12, 1536, 0, F.gelu, batch_first=True, device="cuda", dtype=formats[name])
        net = torch.compile(torch.nn.TransformerEncoder(layer, 6, enable_nested_tensor=False).eval())
        x = torch.rand(256, 128, 384, device="cuda", dtype=formats[name])
        row("all-MiniLM-L6-v2", name, (256, 128), "seq/s", 256, lambda: net(x))
