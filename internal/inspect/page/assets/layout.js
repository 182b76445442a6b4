// Layered drawing of a graph, top to bottom, after Sugiyama, Tagawa and Toda
// (1981): layers by longest path, order within layers by barycentres, places
// by least squares under that order.

const gapX = 14, gapY = 26, bend = 6, widest = 1100;

// layered places boxes. units: [{w, h}], edges: [[from, to]], by position. It
// sets x and y (top left) of units, and returns {w, h, paths: [{from, to, at}]},
// where at(x, y) is the line of an edge in a drawing that begins there.
// An edge longer than maxSpan layers is not drawn: it is listed in cut.
function layered(units, edges, maxSpan = 24) {
  const { ins, outs, kept } = adjacency(units.length, edges);
  const layer = narrowed(units, ins, layersOf(units.length, ins, outs));
  const cells = units.map((u, i) => ({ w: u.w, h: u.h, layer: layer[i], up: [], down: [], x: 0 }));
  const cut = [], chains = [];
  for (const [from, to] of kept) {
    if (layer[to] <= layer[from] || layer[to] - layer[from] > maxSpan) {
      cut.push([from, to]);
      continue;
    }
    chains.push([from, to, chain(cells, from, to)]);
  }
  const rows = [];
  for (const c of cells) (rows[c.layer] ||= []).push(c);
  for (let l = 0; l < rows.length; l++) rows[l] ||= [];
  order(rows);
  const w = place(rows);
  const h = heights(rows);
  for (const [i, u] of units.entries()) {
    u.x = cells[i].x - u.w / 2;
    u.y = cells[i].y;
  }
  return { w, h, cut, paths: chains.map(([from, to, via]) => ({ from, to, at: (x, y) => path(cells[from], via, cells[to], x, y) })) };
}

function adjacency(n, edges) {
  const ins = Array.from({ length: n }, () => []), outs = Array.from({ length: n }, () => []);
  const seen = new Set(), kept = [];
  for (const [from, to] of edges) {
    const key = from * n + to;
    if (from === to || seen.has(key)) continue;
    seen.add(key);
    kept.push([from, to]);
    ins[to].push(from);
    outs[from].push(to);
  }
  return { ins, outs, kept };
}

// layersOf is the longest path to each unit. Units come down to just above their
// first user where that makes no more lines longer than shorter. A cycle, which collapsed blocks may close, is broken
// at its first unit.
function layersOf(n, ins, outs) {
  const layer = new Array(n).fill(0), waiting = ins.map((l) => l.length), done = new Array(n).fill(false), sorted = [];
  let ready = [], next = 0;
  for (let i = 0; i < n; i++) if (!waiting[i]) ready.push(i);
  for (let left = n; left > 0; left--) {
    while (!ready.length) {
      if (!done[next]) ready.push(next);
      next++;
    }
    const i = ready.shift();
    if (done[i]) {
      left++;
      continue;
    }
    done[i] = true;
    sorted.push(i);
    for (const j of outs[i]) {
      if (done[j]) continue;
      layer[j] = Math.max(layer[j], layer[i] + 1);
      if (--waiting[j] === 0) ready.push(j);
    }
  }
  for (const i of sorted.reverse()) {
    if (outs[i].length && outs[i].length >= ins[i].length) layer[i] = Math.max(layer[i], Math.min(...outs[i].map((j) => layer[j])) - 1);
  }
  return layer;
}

// narrowed moves units of crowded layers to later ones, so that none is much
// wider than what one can look at.
function narrowed(units, ins, layer) {
  const moved = layer.slice(), width = [];
  const sorted = layer.map((_, i) => i).sort((a, b) => layer[a] - layer[b] || a - b);
  for (const i of sorted) {
    let l = layer[i];
    for (const j of ins[i]) if (layer[j] < layer[i]) l = Math.max(l, moved[j] + 1);
    while ((width[l] || 0) > 0 && width[l] + units[i].w > widest) l++;
    width[l] = (width[l] || 0) + units[i].w + gapX;
    moved[i] = l;
  }
  return moved;
}

// chain puts a cell into each layer that an edge crosses. Edges of one unit share
// theirs: they run together until they part.
function chain(cells, from, to) {
  const via = [], shared = (cells[from].shared ||= []);
  let last = cells[from];
  for (let l = cells[from].layer + 1; l < cells[to].layer; l++) {
    let c = shared[l];
    if (!c) {
      c = shared[l] = { w: 2, h: 0, layer: l, up: [last], down: [], x: 0, between: true };
      last.down.push(c);
      cells.push(c);
    }
    via.push(c);
    last = c;
  }
  last.down.push(cells[to]);
  cells[to].up.push(last);
  return via;
}

function order(rows) {
  const number = (row) => row.forEach((c, i) => { c.at = i; });
  rows.forEach(number);
  for (let sweep = 0; sweep < 8; sweep++) {
    const down = sweep % 2 === 0;
    for (let k = 1; k < rows.length; k++) {
      const row = rows[down ? k : rows.length - 1 - k];
      for (const c of row) {
        const near = down ? c.up : c.down;
        c.key = near.length ? near.reduce((s, o) => s + o.at, 0) / near.length : c.at;
      }
      row.sort((a, b) => a.key - b.key || a.at - b.at);
      number(row);
    }
  }
}

// place sets the middle of each cell and returns the width of all.
function place(rows) {
  for (const row of rows) settle(row, row.map((c) => c.x));
  for (let sweep = 0; sweep < 10; sweep++) {
    const down = sweep % 2 === 0;
    for (let k = 0; k < rows.length; k++) {
      const row = rows[down ? k : rows.length - 1 - k];
      settle(row, row.map((c) => {
        const near = sweep > 6 ? c.up.concat(c.down) : down ? c.up : c.down;
        return near.length ? near.reduce((s, o) => s + o.x, 0) / near.length : c.x;
      }));
    }
  }
  let left = Infinity, right = -Infinity;
  for (const row of rows) {
    for (const c of row) {
      left = Math.min(left, c.x - c.w / 2);
      right = Math.max(right, c.x + c.w / 2);
    }
  }
  for (const row of rows) for (const c of row) c.x -= left;
  return right - left;
}

// settle moves the cells of a row as near to where they want to be as their
// order and distances allow: isotonic regression, by pooling neighbours.
function settle(row, want) {
  const pools = [];
  let offset = 0;
  const offsets = row.map((c, i) => {
    if (i) offset += (row[i - 1].w + c.w) / 2 + gapX;
    return offset;
  });
  row.forEach((c, i) => {
    let pool = { sum: want[i] - offsets[i], n: 1 };
    while (pools.length && pools[pools.length - 1].sum / pools[pools.length - 1].n >= pool.sum / pool.n) {
      const last = pools.pop();
      pool = { sum: pool.sum + last.sum, n: pool.n + last.n };
    }
    pools.push(pool);
  });
  let i = 0;
  for (const pool of pools) {
    for (let k = 0; k < pool.n; k++, i++) row[i].x = pool.sum / pool.n + offsets[i];
  }
}

function heights(rows) {
  let y = 0;
  for (const row of rows) {
    const h = Math.max(0, ...row.map((c) => c.h));
    for (const c of row) {
      c.y = y + (c.between ? 0 : (h - c.h) / 2);
      if (c.between) c.h = h;
    }
    y += h + gapY;
  }
  return y - gapY;
}

// path is the line of an edge. Edges into one box arrive side by side.
function path(from, via, to, x, y) {
  const sides = [...to.up].sort((a, b) => a.x - b.x);
  const last = via.length ? via[via.length - 1] : from;
  const step = Math.min(12, to.w / (sides.length + 1));
  const end = to.x + (sides.indexOf(last) - (sides.length - 1) / 2) * step;
  const points = [{ x: x + from.x, top: y + from.y + from.h, bottom: y + from.y + from.h }];
  for (const c of via) points.push({ x: x + c.x, top: y + c.y, bottom: y + c.y + c.h });
  points.push({ x: x + end, top: y + to.y, bottom: y + to.y });
  let d = "";
  points.forEach((p, i) => {
    if (!i) {
      d = "M" + round(p.x) + " " + round(p.bottom);
      return;
    }
    const q = points[i - 1], middle = (q.bottom + p.top) / 2;
    d += Math.abs(p.x - q.x) < 0.5
      ? "V" + round(p.top)
      : "C" + [q.x, middle + bend, p.x, middle - bend, p.x, p.top].map(round).join(" ");
    if (p.bottom > p.top) d += "V" + round(p.bottom);
  });
  return d;
}

function round(x) {
  return Math.round(x * 10) / 10;
}
