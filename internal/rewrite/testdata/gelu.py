"""Prints the coefficients of gelu.go.

With h = x/2 and u = min(|h|, 2), GELU(x) is h + |h| + u*p(u), where p(u) is near
-erfc(sqrt(2)*u): a polynomial with p(0) = -1 and p(2) = 0. A linear program makes
the largest error least, of |x| < 1 relative to x.
The coefficient of u is last: Horner's rule in float32 is to end with 0 for u = 2.

Needs numpy and scipy:  python3 gelu.py
"""
import numpy as np
from scipy.optimize import linprog
from scipy.special import erfc

DEGREE, TOP = 8, 2.0
f32 = np.float32


def program(n):
    """Powers 0 to DEGREE of the best polynomial on n points."""
    u = TOP / 2 * (1 - np.cos(np.pi * (np.arange(n) + 0.5) / n))
    s, weight = u / TOP, np.maximum(1, 2 * u)
    # p = s-1 + s*(1-s)*q(s) has the ends wanted.
    rows = np.array([s * (1 - s) * s**k for k in range(DEGREE - 1)]).T * weight[:, None]
    rest = (-erfc(np.sqrt(2) * u) - (s - 1)) * weight
    one = np.ones((n, 1))
    found = linprog([0] * (DEGREE - 1) + [1], np.block([[rows, -one], [-rows, -one]]), np.concatenate([rest, -rest]), bounds=[(None, None)] * (DEGREE - 1) + [(0, None)], method="highs").x
    c = np.zeros(DEGREE + 1)
    c[0], c[1] = -1, 1
    for k, q in enumerate(found[:-1]):
        c[k + 1] += q
        c[k + 2] -= q
    return c / TOP ** np.arange(DEGREE + 1)


def horner(c, u):
    """In float32 with fused multiply-adds, as doubles hold the products exactly enough."""
    p = np.full(np.shape(u), c[-1], f32)
    for k in c[-2::-1]:
        p = f32(p.astype(np.float64) * u + np.float64(k))
    return p


c = f32(program(2000))
c[0] = -1
c[1] = 1 / TOP - TOP * float(horner(c[2:], np.array([f32(TOP)]))[0])
assert horner(c, np.array([f32(TOP)]))[0] == 0
x = np.linspace(-6, 6, 2_000_001).astype(f32)
h = x / 2
u = np.minimum(np.abs(h), f32(TOP))
y = (h + np.abs(h)) + u.astype(np.float64) * horner(c, u)
true = x * 0.5 * erfc(-x.astype(np.float64) / np.sqrt(2))
print("largest error %.2e, of |x| < 1 relative to x %.2e" % (np.abs(y - true).max(), np.abs((y - true) / np.where(x == 0, 1, x))[np.abs(x) < 1].max()))
print(", ".join(float(k).hex().replace("0000000p", "p") for k in c))
