"""Prints the coefficients and constants of expand64_*.go.

Each polynomial minimises its largest relative error over an interval (Remez);
then one coefficient after the other, lowest power first, is rounded to float64
and the rest are fitted anew.

Needs mpmath:  python3 minimax64.py
"""
import re

import mpmath as m
from mpmath import mpf

m.mp.dps = 160


def rounded(x, bits=53):
    """The number of so many bits nearest to x."""
    if x == 0:
        return mpf(0)
    unit = mpf(2) ** (m.floor(m.log(abs(x), 2)) - (bits - 1))
    return m.nint(x / unit) * unit


def text(x):
    """x as a hexadecimal literal."""
    return re.sub(r"\.?0*p\+?", "p", float(x).hex())


def remez(xs, goal, weights, n):
    """The n coefficients for which weights*(goal - polynomial) is least at the
    worst of the points xs, which are in order."""
    at = [round((len(xs) - 1) * (1 - m.cos(m.pi * i / n)) / 2) for i in range(n + 1)]
    for _ in range(40):
        rows, right = m.matrix(n + 1, n + 1), m.matrix(n + 1, 1)
        for r, i in enumerate(at):
            for p in range(n):
                rows[r, p] = xs[i] ** p
            rows[r, n] = (-1) ** r / weights[i]
            right[r] = goal[i]
        found = m.lu_solve(rows, right)
        c = [found[p] for p in range(n)]
        rest = [w * (g - m.polyval(c[::-1], x)) for x, w, g in zip(xs, weights, goal)]
        at = []  # the largest residual of each run of one sign
        for i, e in enumerate(rest):
            if not at or (rest[at[-1]] > 0) != (e > 0):
                at.append(i)
            elif abs(e) > abs(rest[at[-1]]):
                at[-1] = i
        while len(at) > n + 1:
            at = at[1:] if abs(rest[at[0]]) < abs(rest[at[-1]]) else at[:-1]
        if len(at) < n + 1 or max(abs(e) for e in rest) < abs(found[n]) * mpf("1.01"):
            return c
    return c


def fit(name, f, weight, degree, lo, hi):
    """Prints the polynomial of this degree nearest to f on [lo, hi]."""
    n = 30 * (degree + 1)
    lo, hi = mpf(lo), mpf(hi)
    xs = [(lo + hi) / 2 - (hi - lo) / 2 * m.cos(m.pi * (i + mpf(1) / 2) / n) for i in range(n)]
    values, sizes, c = [f(x) for x in xs], [abs(mpf(weight(x))) for x in xs], []
    goal, weights = values, sizes
    if lo < 0:  # fitted anew, what is left would have a pole inside
        c = [rounded(x) for x in remez(xs, values, sizes, degree + 1)]
    for left in range(degree + 1 - len(c), 0, -1):
        c.append(rounded(remez(xs, goal, weights, left)[0]))
        goal = [(g - c[-1]) / x for g, x in zip(goal, xs)]
        weights = [w * abs(x) for w, x in zip(weights, xs)]
    worst = max(abs(w * (g - m.polyval(c[::-1], x))) for x, w, g in zip(xs, sizes, values))
    print("%s, relative error 2^%.1f:" % (name, float(m.log(worst, 2))))
    print("   ", ", ".join(text(x) for x in c), flush=True)


def words(name, x, *bits):
    """Prints x as the sum of numbers of so many bits."""
    parts = []
    for b in bits:
        parts.append(rounded(x, b))
        x -= parts[-1]
    print(name + ":", ", ".join(text(p) for p in parts), flush=True)


ln2, tau, root, near = m.log(2), 2 * m.pi, m.sqrt, mpf("1e-3")

# expand64_trig.go: classes of arguments, by their exponent.
for at in [0] + list(range(150, 1024, 98)):
    k = max(at - 52, 0)
    with m.workdps(450):
        c = mpf(2) ** k / (2 * m.pi)
        c -= m.nint(c)
    words("from 2^%d, scale 2^-%d, fraction of 2^%d/2pi" % (at, k, k), c, 53, 53, 53, 53, 53)
words("tau", tau, 53, 53)
words("pi/4", m.pi / 4, 53, 53)
words("pi/2", m.pi / 2, 53, 53)
words("ln 2", ln2, 42, 53)
words("1/ln 2", 1 / ln2, 32, 53)
words("log2 e", 1 / ln2, 53)
words("2/ln 2", 2 / ln2, 53, 53)
words("2/ln 2/3", 2 / ln2 / 3, 53, 53)
for c in (0.75, 1.25):
    words("log2 of %g" % c, m.log(c, 2), 40, 53)

# expand64_exp.go. The ends of intervals are a little beyond those of r.
r = ln2 / 2 * mpf("1.001")
fit("e^r = 1 + r + r^2*q", lambda x: (m.exp(x) - 1 - x) / x**2, lambda x: x**2 * m.exp(-x), 9, -r, r)
fit("e^r - 1 = r + r^2*q", lambda x: (m.expm1(x) - x) / x**2, lambda x: x**2 / m.expm1(x), 10, -r, r)
fit("2^r = 1 + r*q", lambda x: (2**x - 1) / x, lambda x: x * 2**-x, 10, -0.5001, 0.5001)
fit("tanh = x + x*s*p(s), s = x^2", lambda s: (m.tanh(root(s)) / root(s) - 1) / s, lambda s: s * root(s) / m.tanh(root(s)), 10, near, mpf("0.55") ** 2)

# expand64_log.go
s = ((root(2) - 1) / (root(2) + 1) * mpf("1.001")) ** 2
fit("2 atanh s = 2s + s*z*p(z), z = s^2", lambda z: (m.atanh(root(z)) / root(z) - 1) * 2 / z, lambda z: z * root(z) / (2 * m.atanh(root(z))), 6, near * s, s)

# expand64_pow.go
q = mpf("0.0725") ** 2
fit("log2 = q*(c + c/3*s + s^2*p(s)), s = q^2, c = 2/ln 2", lambda s: (m.atanh(root(s)) / root(s) - 1 - s / 3) / s**2 * 2 / ln2, lambda s: s**2, 4, near * q, q)

# expand64_trig.go
s = mpf("0.1255") ** 2
fit("sine of turns = 6.25r + r*p(r^2)", lambda s: m.sin(tau * root(s)) / root(s) - 6.25, lambda s: root(s) / m.sin(tau * root(s)), 7, near * s, s)
fit("cosine of turns = 1 + s*p(s)", lambda s: (m.cos(tau * root(s)) - 1) / s, lambda s: s / m.cos(tau * root(s)), 6, near * s, s)
fit("atan = z + z*s*p(s), s = z^2", lambda s: (m.atan(root(s)) / root(s) - 1) / s, lambda s: s * root(s) / m.atan(root(s)), 13, near, mpf("0.601") ** 2)

# expand64_erf.go. Errors are those of erf, relative to it.
fit("erf = x + x*p(x^2), |x| < 1.0625", lambda s: m.erf(root(s)) / root(s) - 1, lambda s: root(s) / m.erf(root(s)), 12, near, mpf("1.0625") ** 2)
fit("erfc(1.0625 + u) = q^4", lambda u: m.erfc(u + 1.0625) ** 0.25, lambda u: 4 * m.erfc(u + 1.0625) ** 0.75 / m.erf(u + 1.0625), 21, 0, 5.0625)
