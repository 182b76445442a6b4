"""Steps and learning rates of PyTorch's optimisers, in float64, as references.

usage: python optim.py > ../optim.json      (with torch 2.9 or newer)

Muon orthogonalises in bfloat16; here the same code does it in float64.
"""
import inspect, json, sys
import torch
import torch.optim._muon as muon

source = inspect.getsource(muon._zeropower_via_newtonschulz)
exec(source.replace("dtype=torch.bfloat16", "dtype=torch.float64"), muon.__dict__)

torch.manual_seed(1)
torch.set_default_dtype(torch.float64)
SHAPES = {"wide": [3, 5], "tall": [6, 2]}
STEPS = 6
START = {k: torch.randn(s).float().double() for k, s in SHAPES.items()}
GRADS = [{k: torch.randn(s).float().double() for k, s in SHAPES.items()} for _ in range(STEPS)]


def steps(make):
    params = {k: torch.nn.Parameter(v.clone()) for k, v in START.items()}
    o = make(list(params.values()))
    for g in GRADS:
        for k, p in params.items():
            p.grad = g[k].clone()
        o.step()
    return {k: p.detach().flatten().tolist() for k, p in params.items()}


T = torch.optim
runs = {
    "sgd dampening": steps(lambda p: T.SGD(p, lr=0.1, momentum=0.8, dampening=0.3, weight_decay=0.05)),
    "sgd nesterov": steps(lambda p: T.SGD(p, lr=0.1, momentum=0.8, nesterov=True)),
    "adam decay": steps(lambda p: T.Adam(p, lr=0.1, weight_decay=0.05)),
    "rmsprop centered": steps(lambda p: T.RMSprop(p, lr=0.1, alpha=0.9, momentum=0.5, centered=True, weight_decay=0.05)),
    "adagrad decay": steps(lambda p: T.Adagrad(p, lr=0.1, lr_decay=0.2, initial_accumulator_value=0.5, weight_decay=0.05)),
    "muon": steps(lambda p: T.Muon(p, lr=0.1, weight_decay=0.05)),
    "muon plain": steps(lambda p: T.Muon(p, lr=0.1, momentum=0.8, nesterov=False, weight_decay=0)),
    "muon match": steps(lambda p: T.Muon(p, lr=0.1, weight_decay=0.05, adjust_lr_fn="match_rms_adamw")),
}


def rates(make, n=24, observe=None):
    o = T.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.5)
    s = make(o)
    all = []
    for i in range(n):
        all.append(o.param_groups[0]["lr"])
        o.step()
        s.step(observe[i]) if observe else s.step()
    return all


OBSERVED = [5, 4, 4, 4.5, 4, 3.9999, 3, 3, 3, 3, 3, 2.5, 2.6, 2.6, 2.6, 2.6, 2.6, 2.6, 2.6, 2.6, 2.6, 2.6, 2.6, 1]
S = T.lr_scheduler
schedules = {
    "cosine": rates(lambda o: S.CosineAnnealingLR(o, 23, eta_min=0.1)),
    "linear": rates(lambda o: S.LinearLR(o, 1, 0.2, 16)),
    "steps": rates(lambda o: S.StepLR(o, 5, 0.3)),
    "onecycle": rates(lambda o: S.OneCycleLR(o, 0.5, total_steps=24), n=23),
    "plateau": rates(lambda o: S.ReduceLROnPlateau(o, factor=0.4, patience=2, min_lr=0.05), observe=OBSERVED),
}
json.dump({
    "shapes": SHAPES, "start": {k: v.flatten().tolist() for k, v in START.items()},
    "grads": [{k: v.flatten().tolist() for k, v in g.items()} for g in GRADS],
    "runs": runs, "schedules": schedules, "observed": OBSERVED,
}, sys.stdout)
