"""Outputs, gradients and running statistics of PyTorch's layers, in float64.

usage: python layers.py ../layers.safetensors      (with torch 2.9 or newer)

A case has its weights in CASE/state/NAME, inputs in CASE/in/NAME, outputs in
CASE/out/NUMBER, gradients of the sum of outputs, weighted as below, in
CASE/grad/NAME and CASE/gradin/NAME, and what the state is after it in
CASE/after/NAME.
"""
import math, sys
import torch
import torch.nn as nn
import torch.nn.functional as F
from safetensors.torch import save_file

torch.manual_seed(3)
torch.set_default_dtype(torch.float64)
file = {}


def randn(*shape):
    return torch.randn(*shape).float().double()


def case(name, module, inputs, forward=None):
    """Runs a module, or a plain function of the inputs."""
    forward = forward or (lambda m, **k: m(*k.values()))
    params = {}
    if module is not None:
        with torch.no_grad():
            for p in module.parameters():
                # Norms begin with ones and zeros, which would hide mistakes.
                p.copy_((p + 0.3 * randn(*p.shape)).float().double())
        params = dict(module.named_parameters())
        for k, v in module.state_dict().items():
            file[f"{name}/state/{k}"] = v.clone()
    for k, x in inputs.items():
        file[f"{name}/in/{k}"] = x.detach().clone()
        if x.is_floating_point():
            x.requires_grad_()
    outs = forward(module, **inputs)
    outs = list(outs) if isinstance(outs, (tuple, list)) else [outs]
    loss = 0
    for i, y in enumerate(outs):
        file[f"{name}/out/{i}"] = y.detach().clone()
        loss = loss + (y.flatten() * (torch.arange(y.numel(), dtype=torch.float64).sin() + 1.5)).sum()
    wrt = {f"grad/{k}": p for k, p in params.items()} | {f"gradin/{k}": x for k, x in inputs.items() if x.is_floating_point()}
    if loss.requires_grad:
        for k, g in zip(wrt, torch.autograd.grad(loss, list(wrt.values()), allow_unused=True)):
            if g is not None:
                file[f"{name}/{k}"] = g.clone()
    if module is not None:
        for k, v in dict(module.named_buffers()).items():
            file[f"{name}/after/{k}"] = v.clone()


# Linear, embedding, positions

case("linear", nn.Linear(5, 3), {"x": randn(2, 4, 5)})
case("linear no bias", nn.Linear(5, 3, bias=False), {"x": randn(4, 5)})
ids = torch.tensor([[1, 0, 6], [2, 2, 5]])
case("embedding", nn.Embedding(7, 4), {"ids": ids.clone()})
case("embedding padding", nn.Embedding(7, 4, padding_idx=2), {"ids": ids.clone()})


def rotary(x, interleaved, base=10000.0, start=0):
    d = x.shape[-1]
    a = torch.outer(torch.arange(start, start + x.shape[-2], dtype=torch.float64), base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d))
    turn = torch.polar(torch.ones_like(a), a)
    if interleaved:
        z = torch.view_as_complex(x.reshape(*x.shape[:-1], d // 2, 2))
        return torch.view_as_real(z * turn).flatten(-2)
    z = torch.complex(x[..., : d // 2], x[..., d // 2:]) * turn
    return torch.cat([z.real, z.imag], -1)


case("rotary", None, {"x": randn(2, 3, 5, 6)}, lambda m, x: rotary(x, False))
case("rotary interleaved", None, {"x": randn(2, 3, 5, 6)}, lambda m, x: rotary(x, True, 500.0, 7))

# Norms

case("layer norm", nn.LayerNorm(6), {"x": randn(2, 3, 6)})
case("layer norm no bias", nn.LayerNorm(6, eps=1e-3, bias=False), {"x": randn(2, 3, 6)})
case("layer norm plain", nn.LayerNorm(6, elementwise_affine=False), {"x": randn(2, 6)})
case("rms norm", nn.RMSNorm(6, eps=1e-6), {"x": randn(2, 3, 6)})
case("rms norm plain", nn.RMSNorm(6, eps=1e-2, elementwise_affine=False), {"x": randn(2, 6)})
case("group norm", nn.GroupNorm(2, 6), {"x": randn(2, 6, 3, 2)})
case("group norm plain", nn.GroupNorm(6, 6, eps=1e-2, affine=False), {"x": randn(2, 6, 4)})
case("batch norm", nn.BatchNorm1d(4), {"x": randn(5, 4)})
case("batch norm twice", nn.BatchNorm2d(3, momentum=0.4, eps=1e-3), {"x": randn(2, 3, 2, 4), "y": randn(2, 3, 2, 4)}, lambda m, x, y: [m(x), m(y)])
case("batch norm cumulative", nn.BatchNorm1d(3, momentum=None, affine=False), {"x": randn(4, 3), "y": randn(4, 3)}, lambda m, x, y: [m(x), m(y)])
m = nn.BatchNorm2d(3)
m(randn(2, 3, 4, 4) * 2 + 1)
case("batch norm eval", m.eval(), {"x": randn(2, 3, 2, 2)})

# Convolutions, pooling

case("conv1d", nn.Conv1d(4, 6, 3, stride=2, padding=1, groups=2), {"x": randn(2, 4, 7)})
case("conv1d same", nn.Conv1d(2, 3, 2, padding="same", dilation=3, bias=False), {"x": randn(2, 2, 9)})
case("conv2d", nn.Conv2d(3, 4, (3, 2), stride=(1, 2), padding=(1, 0), dilation=(2, 1)), {"x": randn(2, 3, 6, 5)})
case("conv2d plain", nn.Conv2d(2, 4, 3, groups=2, bias=False), {"x": randn(1, 2, 5, 4)})
case("adaptive", None, {"x": randn(2, 3, 7, 5)}, lambda m, x: F.adaptive_avg_pool2d(x, (3, 2)))
case("adaptive one", None, {"x": randn(2, 3, 7)}, lambda m, x: F.adaptive_avg_pool1d(x, 1))

# Attention and blocks

later = lambda t, s=None: torch.ones(t, s or t).triu(1 + (s or t) - t).bool()
attend = lambda mask=None: lambda m, x: m(x, x, x, need_weights=False, attn_mask=mask)[0]
case("attention", nn.MultiheadAttention(8, 2, batch_first=True), {"x": randn(2, 5, 8)}, attend())
case("attention causal", nn.MultiheadAttention(8, 4, batch_first=True, bias=False), {"x": randn(2, 5, 8)}, attend(later(5)))
case("attention cross", nn.MultiheadAttention(8, 2, batch_first=True), {"q": randn(2, 3, 8), "k": randn(2, 5, 8), "v": randn(2, 5, 8), "mask": randn(3, 5)},
     lambda m, q, k, v, mask: m(q, k, v, need_weights=False, attn_mask=mask)[0])


class Grouped(nn.Module):
    """Attention whose heads of queries share those of keys and values."""

    def __init__(self, width, heads, kv, separate=False, window=0):
        super().__init__()
        self.width, self.heads, self.kv, self.window = width, heads, kv, window
        head = width // heads
        if separate:
            self.q_proj, self.k_proj, self.v_proj = nn.Linear(width, width), nn.Linear(width, kv * head), nn.Linear(width, kv * head)
        else:
            self.in_proj_weight, self.in_proj_bias = nn.Parameter(0.3 * randn((heads + 2 * kv) * head, width)), nn.Parameter(randn((heads + 2 * kv) * head))
        self.out_proj = nn.Linear(width, width)

    def forward(self, x):
        head = self.width // self.heads
        if hasattr(self, "q_proj"):
            q, k, v = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        else:
            q, k, v = F.linear(x, self.in_proj_weight, self.in_proj_bias).split([self.width, self.kv * head, self.kv * head], -1)
        q, k, v = (t.unflatten(-1, (-1, head)).transpose(1, 2) for t in (q, k, v))
        q, k = rotary(q, False), rotary(k, False)
        sees = ~later(x.shape[1])
        if self.window:
            sees = sees.triu(1 - self.window)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=sees, enable_gqa=True)
        return self.out_proj(y.transpose(1, 2).flatten(-2))


case("attention grouped", Grouped(8, 4, 2), {"x": randn(2, 5, 8)})
case("attention separate", Grouped(8, 4, 1, separate=True, window=2), {"x": randn(2, 5, 8)})

T = nn.TransformerEncoderLayer
case("block post", T(8, 2, 12, 0.0, batch_first=True), {"x": randn(2, 4, 8)})
case("block pre", T(8, 2, 32, 0.0, "gelu", batch_first=True, norm_first=True, layer_norm_eps=1e-3), {"x": randn(2, 4, 8)})
case("block causal", T(8, 4, 12, 0.0, "gelu", batch_first=True, norm_first=True, bias=False), {"x": randn(2, 4, 8)}, lambda m, x: m(x, src_mask=later(4)))

# Recurrent


def flat(out):
    y, state = out
    return [y, *(state if isinstance(state, tuple) else [state])]


case("lstm", nn.LSTM(3, 4), {"x": randn(5, 2, 3)}, lambda m, x: flat(m(x)))
case("lstm deep", nn.LSTM(3, 4, 2, bias=False, batch_first=True, bidirectional=True), {"x": randn(2, 5, 3), "h": randn(4, 2, 4), "c": randn(4, 2, 4)}, lambda m, x, h, c: flat(m(x, (h, c))))
case("gru", nn.GRU(3, 4), {"x": randn(5, 2, 3)}, lambda m, x: flat(m(x)))
case("gru deep", nn.GRU(3, 4, 2, batch_first=True, bidirectional=True), {"x": randn(2, 5, 3), "h": randn(4, 2, 4)}, lambda m, x, h: flat(m(x, h)))
case("gru no bias", nn.GRU(3, 4, bias=False), {"x": randn(1, 2, 3)}, lambda m, x: flat(m(x)))

# Losses

classes = torch.tensor([2, 0, 1, 2, 1])
for r in ["mean", "sum", "none"]:
    case(f"nll {r}", None, {"x": randn(5, 3).log_softmax(-1), "w": torch.tensor([0.5, 2.0, 1.25]), "t": classes.clone()},
         lambda m, x, w, t: F.nll_loss(x, t, weight=w.detach(), ignore_index=1, reduction=r))
    case(f"kl {r}", None, {"x": randn(4, 3).log_softmax(-1), "t": torch.tensor([[0.5, 0.5, 0.0], [0.2, 0.3, 0.5], [1.0, 0.0, 0.0], [0.1, 0.1, 0.8]])},
         lambda m, x, t: F.kl_div(x, t.detach(), reduction=r))
    case(f"bce {r}", None, {"x": randn(4, 3) * 3, "t": torch.rand(4, 3).float().double(), "w": torch.rand(4, 1).float().double(), "p": torch.tensor([0.5, 2.0, 3.0])},
         lambda m, x, t, w, p: F.binary_cross_entropy_with_logits(x, t.detach(), weight=w.detach(), pos_weight=p.detach(), reduction=r))
case("kl log", None, {"x": randn(4, 3).log_softmax(-1), "t": randn(4, 3).log_softmax(-1)}, lambda m, x, t: F.kl_div(x, t, reduction="batchmean", log_target=True))
case("nll tokens", None, {"x": randn(2, 5, 3).log_softmax(-1), "t": torch.randint(0, 3, (2, 5))}, lambda m, x, t: F.nll_loss(x.transpose(1, 2), t))


def infonce(a, b, temperature, symmetric):
    s = F.normalize(a) @ F.normalize(b).T / temperature
    loss = F.cross_entropy(s, torch.arange(len(a)))
    return (loss + F.cross_entropy(s.T, torch.arange(len(a)))) / 2 if symmetric else loss


case("infonce", None, {"a": randn(4, 3), "b": randn(6, 3)}, lambda m, a, b: infonce(a, b, 0.05, False))
case("infonce symmetric", None, {"a": randn(4, 3), "b": randn(4, 3)}, lambda m, a, b: infonce(a, b, 0.5, True))
# Transposed convolutions, cross entropies with factors by class

case("conv transposed 1d", nn.ConvTranspose1d(4, 6, 3, stride=2, padding=1, output_padding=1, groups=2), {"x": randn(2, 4, 5)})
case("conv transposed 1d plain", nn.ConvTranspose1d(2, 3, 2, dilation=3, bias=False), {"x": randn(2, 2, 6)})
case("conv transposed 2d", nn.ConvTranspose2d(3, 4, (3, 2), stride=(1, 2), padding=(1, 0), output_padding=(0, 1), dilation=(2, 1)), {"x": randn(2, 3, 4, 3)})
case("conv transposed 2d plain", nn.ConvTranspose2d(4, 2, 4, stride=2, padding=1, groups=2, bias=False), {"x": randn(1, 4, 3, 2)})
for r in ["mean", "sum", "none"]:
    inputs = lambda: {"x": randn(5, 3), "w": torch.tensor([0.5, 2.0, 1.25]), "t": classes.clone()}
    case(f"cross entropy {r}", None, inputs(), lambda m, x, w, t: F.cross_entropy(x, t, weight=w.detach(), ignore_index=1, label_smoothing=0.2, reduction=r))
    case(f"cross entropy weighted {r}", None, inputs(), lambda m, x, w, t: F.cross_entropy(x, t, weight=w.detach(), reduction=r))

save_file({k: v.contiguous() for k, v in file.items()}, sys.argv[1])
