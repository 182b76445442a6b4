"""Writes a tiny random BERT and the gradients of InfoNCE with respect to its last block, in float64.

    python make.py        # in this folder; needs torch, transformers and safetensors
"""
import json
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from transformers import BertConfig, BertModel

to = Path(__file__).parent.parent / "tiny"
to.mkdir(exist_ok=True)
torch.manual_seed(6)
config = BertConfig(
    vocab_size=50, hidden_size=24, num_hidden_layers=2, num_attention_heads=3, intermediate_size=40, max_position_embeddings=16,
    hidden_dropout_prob=0, attention_probs_dropout_prob=0, attn_implementation="eager",
)
net = BertModel(config, add_pooling_layer=False)
with torch.no_grad():
    for p in net.parameters():
        p.add_(torch.randn_like(p) * 0.2)
save_file({k: v.contiguous() for k, v in net.state_dict().items() if "position_ids" not in k}, to / "model.safetensors")
(to / "config.json").write_text(json.dumps({k: v for k, v in config.to_dict().items() if k in (
    "model_type", "vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "hidden_act",
    "max_position_embeddings", "type_vocab_size", "layer_norm_eps")}, indent=1) + "\n")

net = net.double().eval()
out = {}


def side(name, lengths):
    """Texts of random ids: their mean vectors."""
    ids = [torch.randint(0, 50, (n,)) for n in lengths]
    out[name + ".ids"] = torch.cat(ids).int()
    out[name + ".offsets"] = torch.tensor([0] + lengths).cumsum(0).int()
    return torch.cat([net(i[None]).last_hidden_state.mean(1) for i in ids])


queries, answers = side("query", [3, 7, 1, 5]), side("answer", [6, 2, 9, 4])
cosines = F.normalize(queries) @ F.normalize(answers).T / 0.05
right = torch.arange(4)
loss = (F.cross_entropy(cosines, right) + F.cross_entropy(cosines.T, right)) / 2
loss.backward()
out["loss"] = loss.detach()
for name, p in net.encoder.layer[1].named_parameters():
    out["grad." + name] = p.grad
save_file({k: v.contiguous() for k, v in out.items()}, to / "reference.safetensors")
