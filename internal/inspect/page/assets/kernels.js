// Kernels: a list to sort, and one of them in full: what it computes, reads and
// writes, its loops and machine code side by side, and why it stands apart.

const kernelView = { order: "run", rows: new Map(), chosen: null };

// A kernel's gap is the time it takes above what the machine would need.
const gapOf = (k) => k.timed?.share ? k.timed.seconds * (1 - Math.min(1, k.timed.share)) : 0;

const kernelOrders = {
  run: { name: "as they run", compare: (a, b) => a.number - b.number },
  time: { name: "by time", compare: (a, b) => (b.timed?.seconds || 0) - (a.timed?.seconds || 0) || a.number - b.number },
  share: { name: "by share of the bound", compare: (a, b) => shareOrLast(a) - shareOrLast(b) || a.number - b.number },
  gap: { name: "by time lost to the bound", compare: (a, b) => gapOf(b) - gapOf(a) || a.number - b.number },
};
const shareOrLast = (k) => k.timed?.share || Infinity;

function buildKernels(section) {
  const measured = facts.kernelSeconds > 0;
  kernelView.order = measured ? "time" : "run";
  const select = el("select", { id: "kernel-order", onchange: () => {
    kernelView.order = select.value;
    drawKernelList();
  } }, Object.entries(kernelOrders).filter(([id]) => id === "run" || measured)
    .map(([id, o]) => el("option", { value: id, selected: id === kernelView.order }, o.name)));
  kernelView.list = el("div", { class: "rows master" });
  kernelView.detail = el("div", { class: "detail", tabindex: "-1" });
  section.append(
    el("div", { class: "bar-of-view" }, el("h2", null, "Kernels"), el("label", null, "Order ", select),
      el("p", { class: "hint" }, measured
        ? duration(facts.kernelSeconds) + " in kernels of a run of " + duration(facts.run.seconds) + ", the average of " + plural(facts.run.runs, "run")
        : "No run was measured: sinter graph --profile --html FILE adds times.")),
    el("div", { class: "split master-detail" }, kernelView.list, kernelView.detail));
  drawKernelList();
}

function drawKernelList() {
  const measured = facts.kernelSeconds > 0;
  kernelView.rows.clear();
  const all = [...facts.kernels].sort(kernelOrders[kernelView.order].compare);
  const most = Math.max(...all.map((k) => k.timed?.seconds || 0)) / (facts.kernelSeconds || 1);
  const list = el("ol", { class: "kernel-list" + (measured ? " measured" : ""), "aria-label": "Kernels " + kernelOrders[kernelView.order].name });
  for (const k of all) {
    const t = k.timed, part = t ? t.seconds / facts.kernelSeconds : 0;
    const row = link(kernelRoute(k), "", { class: "kernel-row" });
    row.append(el("span", { class: "id" }, "k" + k.number), " ", el("span", { class: "name" }, plain(k.name, 60)));
    if (measured) {
      row.append(" ", el("span", { class: "number" }, t ? duration(t.seconds) : k.constant ? "once" : "–"), " ",
        measure(part / most, "time", t ? percent(part) : "", "of the time"), " ", measure(t?.share || 0, "share", t?.share ? percent(t.share) : "", "of the bound"));
    } else row.append(el("span", { class: "ops" }, opsText(k)), k.constant ? el("span", { class: "tag" }, "once") : "");
    kernelView.rows.set(k, row);
    list.append(el("li", null, row));
  }
  roving(list, "a.kernel-row", alongList);
  show(kernelView.list, measured ? el("p", { class: "heads", "aria-hidden": "true" }, ["", "kernel", "time", "of the time", "of the bound"].map((h) => el("span", null, h))) : null, list);
  markKernel();
}

// measure is a share as a bar and as text, which says of what to those who hear it.
function measure(share, kind, text, what) {
  return el("span", { class: "measure" }, bar(share, kind), el("span", { class: "label" }, text, text ? el("span", { class: "unseen" }, " " + what) : null));
}

function markKernel() {
  for (const [k, row] of kernelView.rows) {
    if (k === kernelView.chosen) {
      row.setAttribute("aria-current", "true");
      bring(row);
    } else row.removeAttribute("aria-current");
  }
}

function openKernels(parts, moved) {
  let k = numbered(facts.kernels, parts[0]);
  if (!parts.length) k = [...facts.kernels].sort(kernelOrders[kernelView.order].compare)[0];
  kernelView.chosen = k;
  markKernel();
  if (!k) {
    show(kernelView.detail, nothingSuch("kernel"));
    return "";
  }
  showKernel(kernelView.detail, k);
  kernelView.detail.scrollTop = 0;
  if (!parts.length) return "";
  if (narrow()) kernelView.detail.scrollIntoView();
  if (!moved) announce("kernel " + kernelLabel(k) + " shown below");
  return kernelLabel(k);
}

function showKernel(place, k) {
  const t = k.timed;
  const figures = [
    t && ["Time", duration(t.seconds), percent(t.seconds / facts.kernelSeconds) + " of all kernels"],
    t?.share && ["Of the bound", percent(t.share), boundText(k)],
    t?.gflops && ["Operations", rate(t.gflops * 1e9, "op/s"), t.format ? "products in " + t.format : ""],
    t?.gbytes && ["Memory", rate(t.gbytes * 1e9, "B/s"), bytes(t.read || 0) + " read, " + bytes(t.written || 0) + " written"],
    t?.tasks && ["Tasks", count(t.tasks), "that threads share"],
  ].filter(Boolean);
  const tags = [k.kind, k.constant && "runs once for a set of weights", k.again && "computes again what is not kept", k.inplace && "writes variables where they lie",
    k.code?.generic && "no machine code: Go closures", k.code?.tile && "tile " + k.code.tile].filter(Boolean);
  show(place,
    el("h3", { class: "mono", id: "kernel-title" }, plain(kernelLabel(k), 200)),
    el("p", { class: "tags" }, tags.map((x) => el("span", { class: "tag" }, x))),
    figures.length ? el("dl", { class: "figures" }, figures.map(([name, value, more]) => el("div", null, el("dt", null, name), el("dd", null, el("strong", null, value), " ", el("span", { class: "quiet" }, more || ""))))) : null,
    el("div", { class: "cards" },
      el("section", { class: "scrolls", "aria-label": "What it computes" }, el("h4", null, "What it computes", el("span", { class: "quiet" }, " " + plural(k.nodes.length, "operation"))),
        listOf(k.nodes, (n) => [link(nodeRoute(n), plain(nodeLabel(n), 70), { class: "op kind-" + kindOf(n.op) }), " ", el("span", { class: "quiet" }, plain(n.attr ? n.attr + " " + n.type : n.type, 60))], { class: "links mono ops-of-kernel" }, 24),
        cameFrom(k)),
      el("div", { class: "scrolls" }, el("section", { "aria-label": "Buffers" }, el("h4", null, "Reads"), k.reads.length ? listOf(k.reads, bufferLine, { class: "links" }, 12) : el("p", { class: "none" }, "nothing"),
        el("h4", null, "Writes"), k.writes.length ? listOf(k.writes, bufferLine, { class: "links" }, 12) : el("p", { class: "none" }, "nothing")), apartText(k))),
    el("div", { class: "two" },
      el("section", { "aria-label": "Loops" }, el("h4", null, "Loops"), loopsText(k)),
      el("section", { "aria-label": "Machine code" }, el("h4", null, "Machine code"), machineText(k))));
}

// boundText says what the rest of a share is, and which of the machine's limits the
// share is of.
function boundText(k) {
  const { peaks = {}, bandwidth } = facts.run, t = k.timed;
  const formats = [...new Set([t.format, (t.mixed || !t.format) && "f32"])].filter((f) => peaks[f]);
  const limit = t.by_memory ? "memory gives " + rate(bandwidth, "B/s")
    : formats.length ? "the machine does " + formats.map((f) => rate(peaks[f], "op/s") + " in " + f).join(" and ") : "";
  return (t.share < 1 ? "the rest, " + duration(gapOf(k)) + ", is lost" : "at its bound, as measured") + (limit && "; " + limit);
}

// cameFrom are the operations of the trace that a kernel's have come from.
function cameFrom(k) {
  const first = facts.graphs[0];
  if (!first || first === facts.last) return null;
  const all = [...(relatives(k.nodes).get(first) || [])].filter((n) => n.op !== "const" && !n.leaf).sort((a, b) => a.id - b.id);
  if (!all.length) return null;
  return el("details", null, el("summary", null, "asked for as " + plural(all.length, "operation") + " of the trace"),
    listOf(all, (n) => [link(nodeRoute(n), plain(nodeLabel(n), 70))], { class: "links mono" }, 24));
}

// apartText says why a kernel and those around it are not one.
function apartText(k) {
  const rows = [...k.in.map((e) => ({ e, other: e.from, way: "reads from" })), ...k.out.map((e) => ({ e, other: e.to, way: "is read by" }))];
  if (!rows.length) return null;
  const lines = rows.map(({ e, other, way }) => [
    el("span", { class: "quiet" }, way + " "), link(kernelRoute(other), plain(kernelLabel(other), 60)),
    e.buffer ? [el("span", { class: "quiet" }, " by way of "), link(bufferRoute(e.buffer), plain(bufferLabel(e.buffer), 40))] : "",
    el("div", { class: "reason" }, [e.kept && "kept in memory: " + e.kept, e.apart && "apart: " + e.apart].filter(Boolean).map((r) => el("p", null, plain(r, 400)))),
  ].flat());
  return el("section", { class: "apart", "aria-label": "Why its neighbours are kernels of their own" },
    el("h4", null, "Why its neighbours are kernels of their own"), listOf(lines, (x) => x, { class: "reasons" }, 8));
}

addView({
  id: "kernels", name: "Kernels",
  available: () => facts.kernels.length > 0,
  build: buildKernels, open: openKernels,
  focus() {
    kernelView.rows.get(kernelView.chosen)?.focus();
  },
});
