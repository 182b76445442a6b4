// Numbers and sizes as people read them.

function count(n) {
  return Number(n).toLocaleString("en");
}

// plural is "1 kernel", "2 kernels".
function plural(n, name) {
  return count(n) + " " + noun(n, name);
}

// noun is a name for n things.
function noun(n, name) {
  return name + (n === 1 ? "" : "s");
}

function digits(x) {
  return x >= 100 ? x.toFixed(0) : x >= 10 ? x.toFixed(1) : x.toFixed(2);
}

function bytes(n) {
  if (n === null || n === undefined) return "–";
  if (n < 1024) return n + " B";
  for (const unit of ["KiB", "MiB", "GiB"]) {
    n /= 1024;
    if (n < 1000 || unit === "GiB") return digits(n) + " " + unit;
  }
  return "";
}

// duration is a time given in seconds.
function duration(s) {
  if (s === null || s === undefined) return "–";
  if (s === 0) return "0";
  if (s >= 1) return digits(s) + " s";
  if (s >= 1e-3) return digits(s * 1e3) + " ms";
  if (s >= 1e-6) return digits(s * 1e6) + " µs";
  return digits(s * 1e9) + " ns";
}

function percent(x) {
  if (x === null || x === undefined) return "–";
  return (x * 100).toFixed(x > 0 && x < 0.0995 ? 1 : 0) + " %";
}

// rate is a number a second, with a prefix: 2.1 G, 350 M.
function rate(x, unit) {
  if (!x) return "–";
  for (const prefix of ["", "k", "M", "G", "T"]) {
    if (x < 1000 || prefix === "T") return digits(x) + " " + prefix + unit;
    x /= 1000;
  }
  return "";
}

// ticks are about n round numbers from 0 to max.
function ticks(max, n, base = 10) {
  if (!(max > 0)) return [0];
  const raw = max / n;
  const power = Math.pow(base, Math.floor(Math.log(raw) / Math.log(base)));
  const steps = base === 10 ? [1, 2, 5, 10] : [1, 2];
  const step = power * steps.find((s) => s * power >= raw * 0.999);
  const all = [];
  for (let x = 0; x <= max * 1.0001; x += step) all.push(x);
  return all;
}
