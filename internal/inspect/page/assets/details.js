// Details of one operation, beside the graph; and the texts of a kernel, which
// several views show.

function showNode(place, node, related, kernels) {
  const nodes = (list) => list.length ? listOf(list, (n) => link(nodeRoute(n), plain(nodeLabel(n), 90)), { class: "links" }, 12) : el("p", { class: "none" }, "none");
  const rows = [
    ["Stage", node.stage.name], ["Type", node.type], ["Attributes", node.attr],
    ["Leaf", node.leaf && node.leaf.kind + " " + plain(node.leaf.name, 1000) + (node.leaf.bytes ? ", " + bytes(node.leaf.bytes) : "")],
    ["Rule", node.rule], ["Values", node.values],
  ].filter((r) => r[1]);
  const lineage = [];
  for (const s of facts.graphs) {
    if (s === node.stage || !related.has(s)) continue;
    const list = [...related.get(s)].sort((a, b) => a.id - b.id);
    if (list.length === 1 && list[0].copy && s !== facts.last && s !== facts.graphs[0]) continue; // left alone there
    lineage.push(el("h4", null, (s.number < node.stage.number ? "From " : "Became, ") + s.name), nodes(list));
  }
  show(place,
    el("h3", { class: "mono" }, plain(nodeLabel(node), 300)),
    el("dl", { class: "facts" }, rows.map(([k, v]) => [el("dt", null, k), el("dd", null, plain(v, 1200))]).flat()),
    el("h4", null, node.leaf && !kernels.length ? "Read by" : "Computed by"),
    !kernels.length && node.leaf ? nodeReaders(node) : kernels.length ? listOf(kernels, (k) => link(kernelRoute(k), plain(kernelLabel(k), 90)), { class: "links" }, 8) : el("p", { class: "none" }, "no kernel: " + whyNoKernel(node)),
    el("h4", null, "Operands"), nodes(node.in), el("h4", null, "Users"), nodes(node.users), lineage);
}

// nodeReaders are the kernels that read a leaf.
function nodeReaders(n) {
  const all = facts.buffers.filter((b) => b.leaf === n.leaf).flatMap((b) => b.readers);
  return all.length ? listOf(all, (k) => link(kernelRoute(k), plain(kernelLabel(k), 90)), { class: "links" }, 8) : el("p", { class: "none" }, "no kernel");
}

function whyNoKernel(n) {
  if (n.op === "const") return "its value is there before the run";
  return facts.kernels.length ? "nothing of it is left, or its readers take it as it is" : "the program was not compiled";
}

function missingText() {
  return facts.missing.length ? [el("h4", null, "Not here"), el("ul", null, facts.missing.map((m) => el("li", null, plain(m, 500))))] : null;
}

function planText(k) {
  const list = (title, all) => all.length ? [el("h5", null, title), listOf(all, bufferLine, { class: "links" }, 20)] : [];
  return el("div", null, list("reads", k.reads), list("writes", k.writes));
}

function bufferLine(b) {
  return [link(bufferRoute(b), plain(bufferLabel(b), 80)), " ", el("span", { class: "quiet" }, plain(b.type, 40) + (b.bytes ? ", " + bytes(b.bytes) : ""))];
}

function loopsText(k) {
  if (!k.code?.loops) return el("p", { class: "none" }, k.kind === "host" ? "A Go function does it." : "No loops were kept.");
  return codeBlock(k.code.loops, "loops", "loops of " + kernelLabel(k));
}

function machineText(k) {
  if (!k.code?.parts.length) return el("p", { class: "none" }, k.code?.generic ? "No machine code: Go closures do it, over blocks of elements." : "No machine code of its own.");
  return el("div", null, k.code.parts.map((p) => [
    k.code.parts.length > 1 ? el("h5", null, plain(p.name, 80) + ", " + bytes(p.bytes)) : null,
    codeBlock(p.text, "code", "machine code of " + plain(p.name || k.name, 80)),
  ]));
}
