"""Prints the coefficients and constants of expand_*.go.

Each polynomial minimises its largest relative error over an interval, by
linear programs over a grid of Chebyshev points; then one coefficient after the
other, lowest power first, is rounded to float32 and the rest are fitted anew.

Needs mpmath, numpy and scipy:  python3 minimax.py
"""
import mpmath as m
import numpy as np
from mpmath import mpf
from scipy.optimize import linprog

m.mp.dps = 60


def f32(x):
    """The float32 nearest to x."""
    if x == 0:
        return mpf(0)
    unit = mpf(2) ** (m.floor(m.log(abs(x), 2)) - 23)
    return m.nint(x / unit) * unit


def text(x):
    """x as a hexadecimal literal."""
    return float(x).hex().replace("0000000p", "p")


def solve(xs, weights, goal, have, powers):
    """Adds to have[p], for p of powers, what makes the largest residual least.

    A linear program in float64 finds corrections; repeated with the residual
    scaled to 1 it gives all the digits that matter.
    """
    scale = max(abs(x) for x in xs)
    rows = np.array([[float(w * (x / scale) ** p) for p in powers] for x, w in zip(xs, weights)])
    one = np.ones((len(xs), 1))
    for _ in range(5):
        rest = residual(xs, weights, goal, have)
        size = max(abs(r) for r in rest)
        right = np.array([float(r / size) for r in rest])
        found = linprog(
            [0] * len(powers) + [1],
            np.block([[rows, -one], [-rows, -one]]),
            np.concatenate([right, -right]),
            bounds=[(None, None)] * len(powers) + [(0, None)],
            method="highs",
        )
        if found.x is None or found.x[-1] > 0.999:
            return
        for p, d in zip(powers, found.x):
            have[p] += size * mpf(d) / scale**p


def residual(xs, weights, goal, have):
    return [w * (g - sum(c * x**p for p, c in have.items())) for x, w, g in zip(xs, weights, goal)]


def fit(name, f, weight, degree, lo, hi, fixed=()):
    """Prints the polynomial of this degree nearest to f on [lo, hi]; the first
    coefficients may be given."""
    n = 40 * (degree + 1)
    lo, hi = mpf(lo), mpf(hi)
    xs = [(lo + hi) / 2 - (hi - lo) / 2 * m.cos(m.pi * (i + mpf(1) / 2) / n) for i in range(n)]
    weights = [abs(weight(x)) for x in xs]
    goal = [f(x) for x in xs]
    have = {p: mpf(fixed[p]) if p < len(fixed) else mpf(0) for p in range(degree + 1)}
    powers = list(range(len(fixed), degree + 1))
    while powers:
        solve(xs, weights, goal, have, powers)
        have[powers[0]] = f32(have[powers[0]])
        powers = powers[1:]
    worst = max(abs(r) for r in residual(xs, weights, goal, have))
    print("%s, relative error 2^%.1f:" % (name, float(m.log(worst, 2))))
    print("   ", ", ".join(text(have[p]) for p in sorted(have)))


def words(name, x, n):
    """Prints x as the sum of n float32."""
    parts = []
    for _ in range(n):
        parts.append(f32(x))
        x -= parts[-1]
    print(name + ":", ", ".join(text(p) for p in parts))


ln2, tau, root = m.log(2), 2 * m.pi, m.sqrt

# expand_exp.go. The ends of intervals are a little beyond those of r.
r = ln2 / 2 * mpf("1.001")
fit("exp", m.exp, lambda x: m.exp(-x), 6, -r, r, [1, 1])
fit("exp2", lambda x: 2**x, lambda x: 2**-x, 6, -0.5001, 0.5001, [1])
fit("2^r of weights in bf16, in package emit/x86", lambda r: 2**r, lambda r: 2**-r, 3, 0, 1)
r = ln2 / 2 * mpf("1.001")
fit("expm1 = r + r^2*q", lambda x: (m.expm1(x) - x) / x**2, lambda x: x**2 / m.expm1(x), 4, -r, r)
r = ln2 / 4 * mpf("1.001")
fit(
    "tanh: (e^2r - 1)/2 = r + r^2*q, its odd powers and then all negated",
    lambda x: (m.expm1(2 * x) / 2 - x) / x**2,
    lambda x: 2 * x**2 / m.expm1(2 * x),
    4,
    -r,
    r,
)
words("ln 2", ln2, 2)

# expand_log.go
fit("log = f + f^2*y", lambda x: (m.log1p(x) - x) / x**2, lambda x: x**2 / m.log1p(x), 7, -mpf(1) / 3, mpf(1) / 3)
fit("log1p", lambda x: (m.log1p(x) - x) / x**2, lambda x: x**2 / m.log1p(x), 7, -0.25, 0.5)
fit("log2 = f*p", lambda x: m.log1p(x) / x / ln2, lambda x: x / m.log1p(x) * ln2, 8, root(0.5) - 1, root(2) - 1)

# expand_erf.go. Errors are those of erf, relative to it.
fit(
    "erf = x + x*p(x^2), |x| < 1",
    lambda s: m.erf(root(s)) / root(s) - 1,
    lambda s: root(s) / m.erf(root(s)),
    5,
    1e-9,
    1,
)
fit("erfc = q^4, |x| > 1", lambda a: m.erfc(a) ** 0.25, lambda a: 4 * m.erfc(a) ** 0.75 / m.erf(a), 7, 1, 3.93)

# expand_trig.go
fit(
    "atan = z + z*s*p(s), s = z^2",
    lambda s: (m.atan(root(s)) / root(s) - 1) / s,
    lambda s: s * root(s) / m.atan(root(s)),
    7,
    1e-6,
    1,
)
s = mpf("0.1295") ** 2
fit(
    "sine of turns = 6.25r + r*p(r^2)",
    lambda s: m.sin(tau * root(s)) / root(s) - 6.25,
    lambda s: root(s) / m.sin(tau * root(s)),
    3,
    1e-8,
    s,
)
fit("cosine of turns", lambda s: m.cos(tau * root(s)), lambda s: 1 / m.cos(tau * root(s)), 4, 1e-8, s, [1])
for k in (0, 21, 63):
    c = mpf(2) ** k / tau
    words("fraction of 2^%d/2pi" % k, c - m.nint(c), 5)

# Of all pairs of floats whose product is near pi/2, one with a small error.
b = (np.arange(1 << 22) * 2.0 + (1 << 23)) * 2.0**-22
a = (float(m.pi / 2) / b).astype(np.float32).astype(np.float64)
best = np.argsort(np.abs(a * b - float(m.pi / 2)))[:64]  # a*b is exact
i = min(best, key=lambda i: abs(mpf(a[i]) * mpf(b[i]) - m.pi / 2))
print("pi/2:", text(a[i]), "*", text(b[i]), "error %.1g" % float(mpf(a[i]) * mpf(b[i]) - m.pi / 2))

# expand_pow.go
q = mpf("0.0725") ** 2
fit("atanh = q + q^3*p(q^2)", lambda s: (m.atanh(root(s)) / root(s) - 1) / s, lambda s: s, 2, 1e-7, q)
words("2/ln 2", 2 / ln2, 2)
for c in (0.75, 1.25):
    hi = m.nint(m.log(c, 2) * 2**14) / 2**14
    print("log2 of %g: %s, %s" % (c, text(hi), text(f32(m.log(c, 2) - hi))))
