// Memory: the arena that all buffers between kernels share, over the steps of a
// run. A rectangle is a buffer's life: as wide as the kernels that need it, as
// high as what it takes, where it lies.

const memoryView = { rects: new Map(), rows: new Map(), chosen: null };
const rowsAtFirst = 200;
const plotW = 1000, plotH = 420, plotLeft = 66, plotTop = 18, liveH = 90, gapH = 26, axisH = 30;

function buildMemory(section) {
  const m = facts.memory, temps = facts.buffers.filter((b) => b.kind === "temp");
  memoryView.detail = el("aside", { class: "details", "aria-label": "The buffer that is chosen" });
  const totals = m ? [["Arena", m.arena, "that all values between kernels share"], ["At the peak", m.live?.[m.peak], "live in it, at k" + m.peak], ["Leaves", m.leaves, "weights, variables and inputs"],
    ["Outputs", m.outputs, ""], ["Constants", m.constant, "computed once, kept with the weights"], ["Packed", m.packed, "weights in the order that products read"]].filter((t) => t[1]) : [];
  const sizes = facts.symbols.filter((s) => s.at !== undefined && s.at !== null).map((s) => plain(s.name, 30) + " = " + count(s.at)).join(", ");
  section.append(
    el("div", { class: "bar-of-view" }, el("h2", null, "Memory"), el("p", { class: "hint" }, m ? (sizes ? "at " + sizes : "") : "The sizes of buffers depend on what a run brings, and none was given.")),
    totals.length ? el("dl", { class: "figures" }, totals.map(([name, n, more]) => el("div", null, el("dt", null, name), el("dd", null, el("strong", null, bytes(n)), " ", el("span", { class: "quiet" }, more))))) : "",
    el("div", { class: "split" }, el("div", { class: "memory-main" }, m?.live?.length && temps.length ? picture(m, temps) : null, bufferTable()), memoryView.detail));
}

function picture(m, temps) {
  const steps = m.live.length, w = plotW - plotLeft - 8;
  const x = (k) => plotLeft + (w * k) / steps;
  const y = (offset) => plotTop + liveH + gapH + (plotH * offset) / m.arena;
  const root = svg("svg", { class: "memory" });
  const h = plotTop + liveH + gapH + plotH + axisH;
  for (const t of ticks(m.arena, 6, 2)) {
    root.append(svg("line", { class: "grid", x1: plotLeft, x2: plotW - 8, y1: y(t), y2: y(t) }), svg("text", { class: "tick end", x: plotLeft - 6, y: y(t) + 4 }, bytes(t)));
  }
  for (const t of ticks(steps, 10)) {
    if (t < steps * 0.98 && Number.isInteger(t)) root.append(svg("text", { class: "tick", x: x(t + 0.5), y: h - axisH + 16 }, "k" + t));
  }
  root.append(svg("text", { class: "tick axis", x: plotLeft, y: h - 2 }, "kernels in the order they run →"), svg("text", { class: "tick axis", x: plotLeft, y: y(0) - 8 }, "place in the arena ↓"));
  root.append(...liveCurve(m, x));
  const peak = svg("g", { class: "peak" }, svg("rect", { x: x(m.peak), y: plotTop, width: Math.max(2, w / steps), height: h - plotTop - axisH }));
  root.append(peak);
  const boxes = svg("g", {});
  const atPeak = new Set(m.at_peak || []);
  for (const b of [...temps].sort((p, q) => p.first - q.first || p.offset - q.offset)) boxes.append(life(b, x, y, atPeak, steps));
  root.append(boxes);
  const right = m.peak > steps * 0.7;
  root.append(svg("text", { class: "peak-label" + (right ? " end" : ""), x: right ? x(m.peak) - 4 : x(m.peak + 1) + 4, y: plotTop - 5 }, "peak: " + bytes(m.live[m.peak]) + " at k" + m.peak));
  roving(boxes, ".life", (e, key, items) => alongLives(e, key, items));
  const at = (event) => facts.buffers[Number(event.target.closest?.(".life")?.dataset.buffer)];
  boxes.addEventListener("click", (event) => at(event) && go(bufferRoute(at(event))));
  boxes.addEventListener("keydown", (event) => {
    if ((event.key === "Enter" || event.key === " ") && at(event)) {
      event.preventDefault();
      go(bufferRoute(at(event)));
    }
  });
  for (const type of ["mouseover", "focusin"]) boxes.addEventListener(type, (event) => at(event) && showBuffer(at(event)));
  boxes.addEventListener("mouseout", () => showBuffer(memoryView.chosen));
  memoryView.zoom = zoomableSVG(root, plotW, h, "The arena over a run");
  memoryView.zoom.frame.classList.add("fits");
  return el("div", { class: "drawn" }, memoryView.zoom.tools, memoryView.zoom.frame);
}

function liveCurve(m, x) {
  const base = plotTop + liveH, top = Math.max(1, ...m.live);
  const y = (n) => base - (liveH * n) / top;
  let d = "M" + x(0) + " " + base;
  m.live.forEach((n, k) => { d += "V" + round(y(n)) + "H" + round(x(k + 1)); });
  return [svg("path", { class: "live", d: d + "V" + base + "Z" }), svg("text", { class: "tick end", x: plotLeft - 6, y: plotTop + 10 }, "live"), svg("line", { class: "grid", x1: plotLeft, x2: plotW - 8, y1: base, y2: base })];
}

function life(b, x, y, atPeak, steps) {
  const last = Math.min(b.last, steps - 1);
  const x0 = x(b.first), w = Math.max(1.5, x(last + 1) - x0), y0 = y(b.offset), h = Math.max(1.5, y(b.offset + (b.room || b.bytes)) - y0);
  const g = svg("g", {
    class: "life" + (atPeak.has(b.number) ? " at-peak" : ""), role: "button", tabindex: "-1", "data-buffer": b.number,
    "aria-label": bufferLabel(b) + ", " + bytes(b.bytes) + ", " + lifeText(b) + (b.writers[0] ? ", written by " + kernelLabel(b.writers[0]) : "") + (atPeak.has(b.number) ? ", live at the peak" : ""),
  }, svg("rect", { x: round(x0), y: round(y0), width: round(w), height: round(h) }));
  const label = "b" + b.number;
  if (h > 11 && w > label.length * 6.2 + 4) g.append(svg("text", { x: round(x0 + 3), y: round(y0 + Math.min(h / 2 + 4, 12)) }, label));
  memoryView.rects.set(b, g);
  return g;
}

// lifeText says when a buffer is needed. An output is so beyond the last kernel.
function lifeText(b) {
  return "k" + b.first + " to " + (b.last >= facts.kernels.length ? "the end of the run, where it is looked at" : "k" + b.last);
}

// alongLives moves through the picture: in time, and up and down among those
// that live at the same time.
function alongLives(e, key, items) {
  const b = facts.buffers[Number(e.dataset.buffer)];
  if (key !== "ArrowUp" && key !== "ArrowDown") return alongList(e, key, items);
  const side = key === "ArrowDown" ? 1 : -1;
  const near = [...memoryView.rects.keys()].filter((o) => o !== b && o.first <= b.last && b.first <= o.last && side * (o.offset - b.offset) > 0);
  near.sort((p, q) => side * (p.offset - q.offset));
  return near.length ? memoryView.rects.get(near[0]) : null;
}

function bufferTable() {
  const orders = { size: (a, b) => b.bytes - a.bytes || a.number - b.number, number: (a, b) => a.number - b.number };
  const select = el("select", { id: "buffer-order" }, el("option", { value: "size" }, "by size"), el("option", { value: "number" }, "by number"));
  const kind = el("select", { id: "buffer-kind" }, el("option", { value: "" }, "all"), [...new Set(facts.buffers.map((b) => b.kind))].sort().reverse().map((k) => el("option", { value: k }, k)));
  const body = el("tbody"), rest = el("button", { type: "button", class: "more" });
  let hidden = [];
  rest.addEventListener("click", () => {
    const first = hidden[0];
    add(body, hidden.map(bufferRow));
    rest.hidden = true;
    markBuffer();
    memoryView.rows.get(first).querySelector("a").focus();
  });
  const draw = () => {
    memoryView.rows.clear();
    const all = facts.buffers.filter((b) => !kind.value || b.kind === kind.value).sort(orders[select.value]);
    hidden = all.splice(rowsAtFirst);
    rest.hidden = !hidden.length;
    rest.textContent = "show " + count(hidden.length) + " more";
    show(body, all.map(bufferRow));
    markBuffer();
  };
  select.addEventListener("change", draw);
  kind.addEventListener("change", draw);
  if (facts.buffers.some((b) => b.kind === "temp")) kind.value = "temp";
  draw();
  roving(body, "a.buffer", alongList);
  return el("section", { "aria-label": "Buffers" },
    el("div", { class: "bar-of-view" }, el("h3", null, "Buffers"), el("label", null, "Kind ", kind), el("label", null, "Order ", select)),
    el("div", { class: "table", tabindex: "0", role: "region", "aria-label": "Table of buffers" }, el("table", { class: "buffers" },
      el("thead", null, el("tr", null, ["buffer", "size", "type", "kind", "written by", "last read by"].map((h) => el("th", { scope: "col", class: h === "size" ? "number" : null }, h)))), body)), rest);
}

function bufferRow(b) {
  const last = b.readers[b.readers.length - 1];
  const row = el("tr", null,
    el("th", { scope: "row" }, link(bufferRoute(b), plain(bufferLabel(b), 60), { class: "buffer" })), el("td", { class: "number" }, bytes(b.bytes)), el("td", { class: "mono" }, plain(b.type, 40)), el("td", null, b.kind),
    el("td", null, b.writers[0] ? link(kernelRoute(b.writers[0]), plain(kernelLabel(b.writers[0]), 40), { tabindex: "-1" }) : ""), el("td", null, last ? link(kernelRoute(last), plain(kernelLabel(last), 40), { tabindex: "-1" }) : ""));
  memoryView.rows.set(b, row);
  return row;
}

function showBuffer(b) {
  if (!b) {
    const m = facts.memory;
    const top = (m?.at_peak || []).map((i) => facts.buffers[i]).filter(Boolean);
    show(memoryView.detail, m?.live?.length ? [el("h3", null, "The peak"), el("p", null, "At ", facts.kernels[m.peak] ? link(kernelRoute(facts.kernels[m.peak]), plain(kernelLabel(facts.kernels[m.peak]), 60)) : "k" + m.peak, " " + bytes(m.live[m.peak]) + " are live, more than at any other kernel:"),
      listOf(top, bufferLine, { class: "links" }, 15)] : el("p", { class: "hint" }, m && !facts.kernels.length ? "There is nothing to compute." : "Choose a buffer."));
    return;
  }
  const n = b.node >= 0 ? facts.last?.nodes[b.node] : null;
  const kernels = (list) => list.length ? listOf(list, (k) => link(kernelRoute(k), plain(kernelLabel(k), 60)), { class: "links" }, 12) : el("p", { class: "none" }, "none");
  const rows = [["Size", bytes(b.bytes)], ["Type", b.type], ["Kind", b.kind], ["Leaf", b.leaf && b.leaf.kind + " " + plain(b.leaf.name, 1000)]];
  if (b.kind === "temp") rows.push(["Life", lifeText(b)], ["Place", bytes(b.offset) + " to " + bytes(b.offset + b.room)], ["At the peak", (facts.memory?.at_peak || []).includes(b.number) ? "yes" : "no"]);
  show(memoryView.detail, el("h3", { class: "mono" }, plain(bufferLabel(b), 300)),
    el("dl", { class: "facts" }, rows.filter((r) => r[1]).map(([k, v]) => [el("dt", null, k), el("dd", null, plain(v, 1200))]).flat()),
    n ? [el("h4", null, "Holds the value of"), el("p", null, link(nodeRoute(n), plain(nodeLabel(n), 90)))] : null,
    el("h4", null, "Written by"), kernels(b.writers), el("h4", null, "Read by"), kernels(b.readers));
}

function markBuffer() {
  for (const [b, g] of memoryView.rects) {
    g.classList.toggle("chosen", b === memoryView.chosen);
    g.setAttribute("aria-pressed", b === memoryView.chosen ? "true" : "false");
  }
  for (const [b, row] of memoryView.rows) row.classList.toggle("chosen", b === memoryView.chosen);
}

function openMemory(parts, moved) {
  const b = numbered(facts.buffers, parts[0]);
  memoryView.chosen = b;
  markBuffer();
  showBuffer(b);
  if (!b && parts.length) show(memoryView.detail, nothingSuch("buffer"));
  if (!b) return "";
  const g = memoryView.rects.get(b);
  if (g) bring(g);
  announce("buffer " + bufferLabel(b));
  return bufferLabel(b);
}

addView({
  id: "memory", name: "Memory",
  available: () => facts.buffers.length > 0,
  build: buildMemory, open: openMemory,
  key: (k) => !!memoryView.zoom?.key(k),
  focus() {
    (memoryView.rects.get(memoryView.chosen) || memoryView.rows.get(memoryView.chosen)?.querySelector("a"))?.focus();
  },
});
