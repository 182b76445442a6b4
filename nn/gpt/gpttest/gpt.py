"""A small GPT trained by PyTorch: its checkpoint, logits, and how it goes on.

usage: python gpt.py ../../testdata/gpt.safetensors      (with torch 2.9 or newer)
       python gpt.py check MODEL LOGITS HEADS  (loads MODEL with strict=True and
           compares its logits of ids 0, 1, ... with the tensor logits in LOGITS)
"""
import sys
import torch
import torch.nn as nn
import torch.nn.functional as F
from safetensors.torch import load_file, save_file

VOCABULARY, WIDTH, HEADS, LAYERS, PLACES = 20, 16, 4, 2, 8


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1, self.qkv, self.p = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.l2, self.f1, self.f2 = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        b, n, _ = x.shape
        q, k, v = self.qkv(self.l1(x)).view(b, n, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        x = x + self.p(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, n, WIDTH))
        return x + self.f2(F.gelu(self.f1(self.l2(x)), approximate="tanh"))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.e, self.pe = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(PLACES, WIDTH)
        self.b, self.ln = nn.Sequential(*[Block() for _ in range(LAYERS)]), nn.LayerNorm(WIDTH)
        for p in self.parameters():
            if p.dim() > 1:
                nn.init.normal_(p, std=0.2)

    def forward(self, ids):
        return self.ln(self.b(self.e(ids) + self.pe.weight[: ids.shape[1]])) @ self.e.weight.T


def check(model, logits, heads):
    global VOCABULARY, WIDTH, HEADS, LAYERS, PLACES
    state = load_file(model)
    VOCABULARY, WIDTH = state["e.weight"].shape
    PLACES, HEADS = state["pe.weight"].shape[0], int(heads)
    LAYERS = len({k.split(".")[1] for k in state if k.startswith("b.")})
    net = GPT()
    net.load_state_dict(state, strict=True)
    want = load_file(logits)["logits"]
    got = net(torch.arange(PLACES)[None] % VOCABULARY)
    worst = (got - want).abs().max().item()
    print(f"worst difference {worst:.2g}")
    sys.exit(worst > 1e-5)


def train(net, o, steps):
    for _ in range(steps):
        x = torch.randint(0, VOCABULARY, (3, PLACES + 1))
        x[:, 1::2] = (x[:, :-1:2] * 3 + 1) % VOCABULARY  # something to learn
        o.zero_grad()
        loss = F.cross_entropy(net(x[:, :-1]).flatten(0, 1), x[:, 1:].flatten())
        loss.backward()
        o.step()
        yield x, loss.item()


def main(out):
    torch.manual_seed(5)
    net = GPT()
    adam = lambda: torch.optim.AdamW(net.parameters(), lr=3e-3, betas=(0.9, 0.99), weight_decay=0.1)
    list(train(net, adam(), 30))
    file = {f"state/{k}": p.detach().clone() for k, p in net.state_dict().items()}
    file["logits"] = net(torch.arange(PLACES)[None] % VOCABULARY).detach()
    batches, losses = zip(*train(net, adam(), 10))
    file["batches"], file["losses"] = torch.stack(batches), torch.tensor(losses)
    save_file({k: v.contiguous() for k, v in file.items()}, out)


check(*sys.argv[2:]) if sys.argv[1] == "check" else main(sys.argv[1])
