// What a drawing of a stage holds: boxes for nodes, for repeated blocks that are
// closed, and frames around those that are open.
//
// Weights, what is made of them alone, constants, and views of variables are no
// boxes but words in the boxes of the operations that take them, and views of
// what is computed are part of an edge: most nodes of a graph are such.

const charW = 6.05, boxH = 20, lineH = 13, headH = 24, padW = 9, frameGap = 12, boxMax = 250;

const fixedOps = new Set(["weight", "const"]), plainOps = new Set(["weight", "const", "bound", "variable"]);
const shapeOps = new Set(["reshape", "permute", "expand"]);
const viewOps = new Set(["reshape", "permute", "expand", "cast", "bitcast", "slice", "pad", "contiguous"]);

// wordsOf maps each node that is drawn as a word to that word.
function wordsOf(stage) {
  const words = new Map(), fixed = new Set();
  for (const n of stage.nodes) {
    if (n.output || !n.users.length) continue;
    if (fixedOps.has(n.op) || n.in.length && n.in.every((i) => fixed.has(i))) fixed.add(n);
    if (plainOps.has(n.op)) words.set(n, n.op === "const" ? constantText(n) : shorten(n.leaf?.name || n.op, 30));
    else if (n.in.length && n.in.every((i) => words.has(i)) && (fixed.has(n) || viewOps.has(n.op))) words.set(n, wordOf(n, words));
  }
  return words;
}

// throughOf maps each view that is a part of edges to the node that it shows.
function throughOf(stage, words) {
  const through = new Map();
  for (const n of stage.nodes) {
    if (shapeOps.has(n.op) && n.in.length === 1 && n.users.length && !n.output && !words.has(n)) through.set(n, through.get(n.in[0]) || n.in[0]);
  }
  return through;
}

// wordOf is that of an operand, rather one with a name.
function wordOf(n, words) {
  return words.get(n.in.find((i) => /[a-z]/.test(words.get(i))) || n.in[0]);
}

function constantText(n) {
  const m = /value=0x([0-9a-f]{8})$/.exec(n.attr);
  if (!m || !n.type.startsWith("f32")) return n.attr.replace(/^value=/, "") || "const";
  const view = new DataView(new ArrayBuffer(4));
  view.setUint32(0, parseInt(m[1], 16));
  return String(Number(view.getFloat32(0).toPrecision(5)));
}

// blocksOf lists the repeated blocks of a stage that do not overlap:
// {key, name, parts: [{key, name, first, end}], first, end}.
function blocksOf(stage) {
  const all = [];
  for (const [r, repeat] of (stage.repeats || []).entries()) {
    const parts = repeat.starts.slice(0, -1).map((first, k) => ({
      key: "r" + r + "." + k, name: plain(repeat.names?.[k] || "part " + (k + 1), 60), first, end: repeat.starts[k + 1],
    }));
    if (parts.length < 2) continue;
    const block = { key: "r" + r, name: commonName(parts), parts, first: parts[0].first, end: parts[parts.length - 1].end };
    if (!all.some((b) => block.first < b.end && b.first < block.end)) all.push(block);
  }
  return all;
}

// commonName is what names of parts begin with, without numbers.
function commonName(parts) {
  let name = parts[0].name;
  for (const p of parts) while (!p.name.startsWith(name)) name = name.slice(0, -1);
  return name.replace(/[\s.\d]+$/, "") || "block";
}

// buildScene lays a stage out. open holds keys of blocks and parts that are
// open; with everything, words are boxes too.
function buildScene(stage, open, everything) {
  const words = everything ? new Map() : wordsOf(stage), blocks = blocksOf(stage);
  const through = everything ? new Map() : throughOf(stage, words);
  const hidden = (n) => words.has(n) || through.has(n);
  const scene = { stage, words, through, blocks, boxes: [], paths: [], byNode: new Map(), w: 0, h: 0 };
  const blockAt = new Array(stage.nodes.length).fill(null);
  for (const b of blocks) for (let i = b.first; i < b.end && i < blockAt.length; i++) blockAt[i] = b;

  const nodeItem = (n, inside) => ({ ...nodeBox(n, scene, inside), nodes: [n] });
  const partItem = (block, part) => {
    const nodes = stage.nodes.slice(part.first, part.end);
    const box = { kind: "part", key: part.key, label: part.name, sub: plural(nodes.length, "operation"), nodes, open: open.has(part.key) };
    if (!box.open) return closedBox(box);
    const visible = nodes.filter((n) => !hidden(n)), inside = new Set(visible);
    return framed(box, layLevel(visible.map((n) => nodeItem(n, inside)), scene));
  };
  const blockItem = (block) => {
    const nodes = stage.nodes.slice(block.first, block.end);
    const box = {
      kind: "block", key: block.key, label: block.name + " ×" + block.parts.length, nodes, open: open.has(block.key),
      sub: plural(block.parts[0].end - block.parts[0].first, "operation") + " each",
    };
    if (!box.open) return closedBox(box);
    return framed(box, layLevel(block.parts.map((p) => partItem(block, p)), scene));
  };

  const top = [];
  let last = null;
  for (const n of stage.nodes) {
    const block = blockAt[n.id];
    if (block && block !== last) top.push(blockItem(block));
    else if (!block && !hidden(n)) top.push(nodeItem(n, null));
    last = block || last;
  }
  const level = layLevel(top, scene);
  lift(scene, level, frameGap, frameGap);
  scene.w = level.w + 2 * frameGap;
  scene.h = level.h + 2 * frameGap;
  for (const box of scene.boxes) if (box.node || !box.open) for (const n of box.nodes) scene.byNode.set(n, box);
  return scene;
}

function nodeBox(n, { words, through }, inside) {
  const sub = [];
  for (const i of n.in) {
    const o = through.get(i) || i;
    if (words.has(o)) sub.push(words.get(o));
    else if (inside && !inside.has(o)) sub.push("← %" + o.id);
  }
  if (n.leaf && !sub.length) sub.push(shorten(n.leaf.name || n.leaf.kind, 34));
  const box = { kind: "node", key: "n" + n.id, node: n, id: "%" + n.id, label: n.op, type: clip(plain(n.type), 22), sub: clip(sub.join("  "), 38), words: sub };
  const wide = Math.max(box.id.length + box.label.length + box.type.length + 3, box.sub.length);
  box.w = Math.min(boxMax, wide * charW + 2 * padW);
  box.h = boxH + (box.sub ? lineH : 0);
  return box;
}

function clip(s, limit) {
  return s.length > limit ? s.slice(0, limit - 1) + "…" : s;
}

function closedBox(box) {
  return { ...box, label: clip(box.label, 36), w: Math.max(150, Math.max(Math.min(36, box.label.length) + 2, box.sub.length) * charW + 2 * padW + 12), h: boxH + lineH + 8 };
}

function framed(box, level) {
  return { ...box, level, w: Math.max(level.w + 2 * frameGap, (box.label.length + 4) * charW + 2 * padW), h: level.h + headH + frameGap };
}

// layLevel lays out items that stand side by side in one frame.
function layLevel(items, { through }) {
  const at = new Map();
  items.forEach((item, i) => item.nodes.forEach((n) => at.set(n, i)));
  const edges = [];
  items.forEach((item, i) => {
    for (const n of item.nodes) {
      for (const o of n.in) {
        const from = at.get(through.get(o) || o);
        if (from !== undefined && from !== i) edges.push([from, i]);
      }
    }
  });
  const { w, h, cut, paths } = layered(items, edges);
  return { items, w: Math.max(0, w), h: Math.max(0, h), cut, paths };
}

// lift gives all boxes of a level their places in the whole drawing.
function lift(scene, level, x, y) {
  const middle = (inner, box) => x + box.x + (box.w - inner.w) / 2;
  for (const p of level.paths) scene.paths.push({ d: p.at(x, y), from: level.items[p.from], to: level.items[p.to] });
  for (const [from, to] of level.cut) (level.items[to].far ||= []).push(level.items[from]);
  for (const item of level.items) {
    const box = { ...item, x: x + item.x, y: y + item.y, level: null };
    scene.boxes.push(box);
    if (item.level) lift(scene, item.level, middle(item.level, item), y + item.y + headH);
  }
}

// boxesFor are the boxes that stand for a node: its own, that of a closed block
// around it, or those of the operations that it is a word of.
function boxesFor(scene, node) {
  const own = scene.byNode.get(node);
  if (own) return [own];
  if (scene.through.has(node)) return boxesFor(scene, scene.through.get(node));
  const found = new Set(), seen = new Set();
  const walk = (n) => {
    for (const u of n.users) {
      if (seen.has(u)) continue;
      seen.add(u);
      const box = scene.byNode.get(u);
      if (box) found.add(box);
      else walk(u);
    }
  };
  if (scene.words.has(node)) walk(node);
  return [...found];
}

// keysAround are the keys of the block and part that a node is in.
function keysAround(stage, node) {
  for (const b of blocksOf(stage)) {
    const part = b.parts.find((p) => node.id >= p.first && node.id < p.end);
    if (part) return [b.key, part.key];
  }
  return [];
}
