// The graph view: a column for each stage of compiling, from trace to code. What
// is chosen in one is shown in all others: what it came from, what it became.

const graphView = { columns: [], chosen: null, everything: false };

// KernelColumn lists the kernels of the plan.
class KernelColumn {
  constructor(stage) {
    this.stage = stage;
    this.body = el("div", { class: "body rows" });
  }

  wake() {
    if (this.list) return;
    this.items = new Map();
    this.list = el("div", { class: "kernels", role: "group", "aria-label": "Kernels in the order they run" });
    const starts = new Map(blocksOf(this.stage).flatMap((b) => b.parts.map((p, i) => [p.first, { ...p, first: p.first, open: i === 0 }])));
    for (let i = 0; i < facts.kernels.length; i++) {
      const part = starts.get(i);
      if (!part) {
        this.list.append(this.item(facts.kernels[i]));
        continue;
      }
      const inside = facts.kernels.slice(part.first, part.end);
      const group = el("details", { open: part.open }, el("summary", null, part.name, el("span", { class: "quiet" }, " " + plural(inside.length, "kernel"))), inside.map((k) => this.item(k)));
      this.list.append(group);
      i = part.end - 1;
    }
    roving(this.list, "summary, a.kernel", alongSeen);
    show(this.body, this.list);
    this.mark();
  }

  item(k) {
    const item = link(kernelRoute(k), "", { class: "kernel" });
    add(item, el("span", { class: "id" }, "k" + k.number), " ", el("span", { class: "name" }, plain(k.name, 60)), k.constant ? [" ", el("span", { class: "tag" }, "once")] : null,
      " ", el("span", { class: "ops" }, k.nodes.length ? opsText(k) : k.kind));
    this.items.set(k, item);
    return item;
  }

  choose(related, kernels) {
    this.kernels = new Set(kernels);
    this.mark();
  }

  mark() {
    if (!this.list) return;
    let first = null;
    for (const [k, item] of this.items) {
      const hit = !!this.kernels?.has(k);
      item.classList.toggle("hit", hit);
      if (hit && item.closest("details")) item.closest("details").open = true;
      if (hit) first ||= item;
    }
    if (first) bring(first);
  }
}

// alongSeen is alongList without what stands in a part that is closed.
function alongSeen(e, key, items) {
  return alongList(e, key, () => items().filter((i) => i.matches("summary") || i.closest("details")?.open !== false));
}

// opsText is what a kernel does, without what only moves data.
function opsText(k) {
  const ops = k.nodes.filter((n) => kindOf(n.op) !== "move" && kindOf(n.op) !== "leaf").map((n) => n.op);
  const runs = [];
  for (const op of ops.length ? ops : k.nodes.map((n) => n.op)) {
    const last = runs[runs.length - 1];
    if (last && last.op === op) last.n++;
    else runs.push({ op, n: 1 });
  }
  return runs.map((r) => r.n > 1 ? r.op + " ×" + r.n : r.op).join(" ");
}

// TextColumn shows a stage that is a text for each kernel.
class TextColumn {
  constructor(stage, what) {
    this.stage = stage;
    this.what = what;
    this.body = el("div", { class: "body rows" });
    this.kernels = [];
  }

  wake() {
    const shown = this.kernels.slice(0, 3);
    if (!shown.length) {
      show(this.body, el("p", { class: "hint" }, graphView.chosen ? "It has become a part of no kernel." : textHints[this.stage.name] || ""));
      return;
    }
    show(this.body, shown.map((k) => [
      el("h4", null, link(kernelRoute(k), kernelLabel(k))), this.what(k),
    ]), this.kernels.length > shown.length ? el("p", { class: "hint" }, "and " + plural(this.kernels.length - shown.length, "kernel") + " more") : null);
  }

  choose(related, kernels) {
    this.kernels = kernels;
    if (!this.folded) this.wake();
  }
}

const textHints = {
  plan: "Choose an operation to see what its kernels read and write.",
  loops: "Choose an operation to see the loops that compute it.",
  code: "Choose an operation to see the machine code that computes it.",
};

const textParts = {
  plan: (k) => planText(k),
  loops: (k) => loopsText(k),
  code: (k) => machineText(k),
};

function makeColumn(stage) {
  if (stage.nodes) return new GraphColumn(stage);
  if (stage.name === "partition") return new KernelColumn(stage);
  return new TextColumn(stage, textParts[stage.name] || (() => null));
}

// frameColumn puts a column into a section that folds.
function frameColumn(c) {
  const s = c.stage;
  const size = s.nodes ? plural(s.nodes.length, "node") : ["partition", "plan", "loops", "code"].includes(s.name) ? plural(facts.kernels.length, "kernel") : "";
  const change = s.before && s.nodes ? "+" + s.made.length + " −" + s.removed.length : "";
  const title = el("h3", null, s.name);
  const toggle = el("button", { type: "button", class: "fold", "aria-expanded": "true", title: s.doc || s.name });
  toggle.append(title, el("span", { class: "size" }, size), change ? el("span", { class: "change" }, change) : "");
  c.section = el("section", { class: "column" + (s.nodes ? " drawn" : ""), "aria-label": "stage " + s.name }, toggle, c.body);
  c.setFolded = (folded, asleep) => {
    c.folded = folded;
    c.section.classList.toggle("folded", folded);
    toggle.setAttribute("aria-expanded", folded ? "false" : "true");
    c.body.hidden = folded;
    if (!folded && !asleep) c.wake();
  };
  toggle.addEventListener("click", () => c.setFolded(!c.folded));
  return c.section;
}

// unchanged is the strip that stands for stages that left the graph as it was.
function unchanged(stages) {
  return el("p", { class: "strip" }, el("span", null, stages.map((s) => s.name + (s.off ? " (off)" : "")).join(", ") + ": unchanged"));
}

function buildGraph(section) {
  const row = el("div", { class: "columns" });
  let same = [];
  const flush = () => {
    if (same.length) row.append(unchanged(same));
    same = [];
  };
  for (const stage of facts.stages) {
    if (stage.same) {
      same.push(stage);
      continue;
    }
    flush();
    const c = makeColumn(stage);
    graphView.columns.push(c);
    row.append(frameColumn(c));
  }
  flush();
  const everything = el("input", { type: "checkbox", id: "everything" });
  everything.addEventListener("change", () => {
    graphView.everything = everything.checked;
    for (const c of graphView.columns) if (c.draw && c.built) c.redraw();
  });
  graphView.details = el("aside", { class: "details", hidden: true, "aria-label": "What is chosen" });
  section.append(
    el("div", { class: "bar-of-view" },
      el("h2", null, "Graph"),
      el("label", null, everything, " weights, constants and views as boxes"),
      el("p", { class: "hint" }, "Choose an operation: all columns show what it came from and what it became. ▸ opens repeated blocks."),
      legend()),
    el("div", { class: "split" }, row, graphView.details));
  const first = facts.graphs[0];
  for (const c of graphView.columns) {
    const wide = !narrow();
    c.setFolded(!(c.stage === first || wide && (c.stage === facts.last || c.stage.name === "partition")), true);
  }
  const seen = graphView.columns.filter((c) => !c.folded);
  for (const c of seen) c.room = c.body.clientWidth; // all before any is drawn: a width asked for later is laid out for
  for (const c of seen) c.wake();
}

function legend() {
  const names = { point: "one by one", reduce: "reduction", anchor: "with a kernel of its own", move: "moves data", leaf: "from outside" };
  return el("ul", { class: "legend", "aria-label": "Kinds of operations" }, Object.entries(names).map(([kind, name]) => el("li", { class: "kind-" + kind }, name)));
}

// chooseNode marks a node and its relatives in all columns; null marks nothing.
function chooseNode(node) {
  graphView.chosen = node;
  const related = node ? relatives([node]) : new Map();
  const kernels = kernelsOf(related);
  for (const c of graphView.columns) {
    if (node && c.stage === node.stage && c.folded) c.setFolded(false);
    c.choose(related, kernels);
  }
  graphView.details.hidden = !node;
  if (node) showNode(graphView.details, node, related, kernels);
}

function openGraph(parts) {
  const stage = facts.graphs.find((s) => s.name === parts[0]);
  const node = stage ? numbered(stage.nodes, parts[1]) : null;
  chooseNode(node);
  if (!node && parts.length && !(stage && parts.length === 1)) {
    graphView.details.hidden = false;
    show(graphView.details, nothingSuch("operation"));
  }
  if (!node) return "";
  announce(nodeLabel(node) + " chosen");
  return nodeLabel(node);
}

addView({
  id: "graph", name: "Graph",
  available: () => facts.graphs.length > 0,
  build: buildGraph, open: openGraph,
  key(k) {
    if (k === "Escape" && graphView.chosen) {
      go("/graph");
      return true;
    }
    const c = graphView.columns.find((x) => x.section.contains(document.activeElement)) || graphView.columns.find((x) => x.zoom && !x.folded);
    return !!c?.zoom?.key(k);
  },
  focus() {
    const c = graphView.columns.find((x) => x.stage === graphView.chosen?.stage);
    const box = c?.scene && boxesFor(c.scene, graphView.chosen)[0];
    if (box) c.focus(box.key);
  },
});
