// The facts, as the views want them. The document is compact: texts are numbers
// into strings, and nodes that a step left alone are numbers of the nodes they
// copy. Here each thing gets its own object, with links both ways.

const facts = readFacts(JSON.parse(byId("document").textContent));

function readFacts(doc) {
  const strings = doc.strings || [""];
  const text = (i) => strings[i || 0] || "";
  const f = {
    title: doc.title || "graph", device: doc.device || "", precision: doc.precision || "",
    off: doc.off || [], missing: doc.missing || [], symbols: doc.symbols || [],
    leaves: (doc.leaves || []).map((l, i) => ({ number: i, kind: l.kind, name: l.name || "", type: text(l.type), bytes: l.bytes || 0 })),
    memory: doc.memory || null, run: doc.run || null,
  };
  f.stages = readStages(doc.stages || [], text, f.leaves);
  f.graphs = f.stages.filter((s) => s.nodes);
  f.last = f.graphs[f.graphs.length - 1] || null;
  f.codes = (doc.codes || []).map((c) => ({ ...c, parts: (c.parts || []).map((p) => ({ name: text(p.name), bytes: p.bytes, text: p.text })) }));
  f.buffers = (doc.buffers || []).map((b, i) => ({
    ...b, number: i, kind: plain(b.kind, 40), type: text(b.type), bytes: b.bytes || 0, first: b.first || 0, last: b.last || 0, offset: b.offset || 0, room: b.room || 0,
    leaf: b.leaf ? f.leaves[b.leaf - 1] : null, output: b.output ? b.output - 1 : -1, writers: [], readers: [],
  }));
  f.kernels = (doc.kernels || []).map((k, i) => readKernel(k, i, f, text));
  for (const e of doc.edges || []) {
    const edge = { from: f.kernels[e.from], to: f.kernels[e.to], buffer: f.buffers[e.buffer], kept: text(e.kept), apart: text(e.apart) };
    if (!edge.from || !edge.to) continue;
    edge.from.out.push(edge);
    edge.to.in.push(edge);
  }
  for (const t of f.run?.kernels || []) if (f.kernels[t.kernel]) f.kernels[t.kernel].timed = t;
  f.kernelSeconds = f.kernels.reduce((sum, k) => sum + (k.timed?.seconds || 0), 0);
  f.subtitle = [
    f.device, f.precision && "products in " + f.precision, f.off.length && "without " + f.off.join(", "),
    f.stages[0]?.nodes && plural(f.stages[0].nodes.length, "operation"), f.kernels.length && plural(f.kernels.length, "kernel"),
  ].filter(Boolean).join(" · ");
  return f;
}

function readStages(list, text, leaves) {
  let before = null;
  return list.map((s, number) => {
    const stage = {
      number, name: s.name, doc: plain(s.doc || "", 1000), same: !!s.same, off: !!s.off, rules: s.rules || [], nodes: null,
      outputs: s.outputs || [], repeats: s.repeats || [], kept: s.kept || 0, made: [], removed: [], before: s.nodes ? before : null,
    };
    if (!s.nodes) return stage;
    stage.nodes = s.nodes.map((n, id) => readNode(n, id, stage, before, text, leaves));
    for (const n of stage.nodes) {
      n.in = n.in.map((i) => stage.nodes[i]).filter(Boolean);
      for (const o of n.in) if (o.users[o.users.length - 1] !== n) o.users.push(n);
    }
    for (const i of stage.outputs) if (stage.nodes[i]) stage.nodes[i].output = true;
    if (before) {
      stage.made = stage.nodes.filter((n) => !n.copy);
      stage.removed = (s.removed || []).map((i) => before.nodes[i]).filter(Boolean);
      before.after = stage;
    }
    before = stage;
    return stage;
  });
}

function readNode(n, id, stage, before, text, leaves) {
  const copy = n.c && before ? before.nodes[n.c - 1] : null;
  const from = n.f ? n.f.map((i) => before?.nodes[i]).filter(Boolean) : copy ? [copy] : [];
  const node = {
    id, stage, copy, from, became: [], in: n.i || [], users: [], kernels: [], output: false,
    op: copy ? copy.op : plain(text(n.o), 60), type: copy ? copy.type : text(n.t), attr: copy ? copy.attr : text(n.a),
    leaf: copy ? copy.leaf : n.l ? leaves[n.l - 1] : null, rule: plain(text(n.r), 80),
    values: copy ? copy.values : text(n.v),
  };
  for (const f of from) f.became.push(node);
  return node;
}

function readKernel(k, number, f, text) {
  const kernel = {
    ...k, number, name: text(k.name), kind: plain(k.kind, 40), code: f.codes[k.code] || null, in: [], out: [], timed: null,
    nodes: (k.nodes || []).map((i) => f.last?.nodes[i]).filter(Boolean),
    reads: (k.reads || []).map((i) => f.buffers[i]).filter(Boolean), writes: (k.writes || []).map((i) => f.buffers[i]).filter(Boolean),
  };
  for (const n of kernel.nodes) n.kernels.push(kernel);
  for (const b of kernel.reads) b.readers.push(kernel);
  for (const b of kernel.writes) b.writers.push(kernel);
  return kernel;
}

// Routes

const nodeRoute = (n) => "/graph/" + encodeURIComponent(n.stage.name) + "/" + n.id;
const kernelRoute = (k) => "/kernels/" + k.number;
const bufferRoute = (b) => "/memory/" + b.number;
const passRoute = (s) => "/passes/" + encodeURIComponent(s.name);

// Names

function nodeLabel(n) {
  return "%" + n.id + " " + n.op + (n.leaf && n.leaf.name ? " " + n.leaf.name : "");
}

function nodeLine(n) {
  return [nodeLabel(n), n.in.map((i) => "%" + i.id).join(" "), n.attr, n.type && ": " + n.type].filter(Boolean).join("  ");
}

const kernelLabel = (k) => "k" + k.number + " " + k.name;

function bufferLabel(b) {
  const name = b.leaf ? b.leaf.name : b.output >= 0 ? "output " + b.output : b.kind;
  return "b" + b.number + (name ? " " + name : "");
}

// relatives are the nodes, by stage, that a set of nodes of one stage descends
// from and has become, those of it included.
function relatives(nodes) {
  const all = new Map(); // stage to set of nodes
  const walk = (start, next) => {
    let level = new Set(start);
    while (level.size) {
      const following = new Set();
      for (const n of level) {
        if (!all.has(n.stage)) all.set(n.stage, new Set());
        all.get(n.stage).add(n);
        for (const m of next(n)) following.add(m);
      }
      level = following;
    }
  };
  walk(nodes, (n) => n.from);
  walk(nodes, (n) => n.became);
  return all;
}

// kernelsOf are the kernels that compute what nodes have become.
function kernelsOf(related) {
  const all = new Set();
  for (const n of related.get(facts.last) || []) for (const k of n.kernels) all.add(k);
  return [...all].sort((a, b) => a.number - b.number);
}

// kindOf sorts operations into the few kinds that have a colour.
const opKinds = {
  leaf: ["input", "weight", "bound", "variable", "const", "iota", "rand"],
  move: ["reshape", "permute", "expand", "pad", "slice", "flip", "window", "concat", "gather", "scatter", "contiguous", "get", "bitcast"],
  reduce: ["sum", "prod", "reducemax", "reducemin", "argmax", "argmin"],
  anchor: ["matmul", "conv", "attention", "attentiongrad", "sort", "scan", "segmentids", "segmentreduce"],
};
const kindByOp = new Map(Object.entries(opKinds).flatMap(([kind, ops]) => ops.map((op) => [op, kind])));

function kindOf(op) {
  return kindByOp.get(op) || "point";
}

// searchEntries are all things with a name, in the order of their importance.
function searchEntries() {
  const all = [];
  const add = (kind, id, label, detail, route, more = "") => all.push({ kind, id, label, detail, route, text: label + " " + detail + " " + more, order: all.length });
  for (const k of facts.kernels) add("kernel", "k" + k.number, kernelLabel(k), k.constant ? "once for the weights" : k.kind, kernelRoute(k));
  for (const b of facts.buffers) add("buffer", "b" + b.number, bufferLabel(b), b.type + " " + b.kind, bufferRoute(b));
  for (const s of facts.stages) if (s.before) add("pass", s.name, s.name, s.doc, passRoute(s), s.rules.map((r) => r.name).join(" "));
  for (const s of facts.graphs) {
    if (s.number && s !== facts.last) continue; // what lies between is found by way of these
    for (const n of s.nodes) add(s.name, "%" + n.id, nodeLabel(n), n.type, nodeRoute(n), n.attr);
  }
  return all;
}
