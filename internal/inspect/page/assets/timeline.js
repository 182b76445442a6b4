// The timeline of the measured run, and the same as a file for chrome://tracing
// and ui.perfetto.dev.

const timelineView = { bars: [] };
const laneH = 78, timeTop = 26, timeW = 1200;

function buildTimeline(section) {
  const events = facts.run.timeline;
  const total = Math.max(...events.map((e) => e.begin + e.duration));
  const lanes = [...new Set(events.map((e) => e.thread || 0))].sort((a, b) => a - b);
  const w = timeW - 10, x = (t) => 4 + (w * t) / total;
  const h = timeTop + lanes.length * laneH + 10;
  const root = svg("svg", { class: "timeline" });
  for (const t of ticks(total, 12)) root.append(svg("line", { class: "grid", x1: x(t), x2: x(t), y1: timeTop - 6, y2: h }), svg("text", { class: "tick", x: x(t), y: 14 }, duration(t / 1e6)));
  const bars = svg("g", {});
  for (const e of events) {
    const k = facts.kernels[e.kernel];
    if (!k) continue;
    const y = timeTop + lanes.indexOf(e.thread || 0) * laneH, wide = Math.max(0.6, x(e.begin + e.duration) - x(e.begin));
    const g = svg("g", { class: "event kind-" + kernelKind(k), role: "button", tabindex: "-1", "data-kernel": k.number, "aria-label": kernelLabel(k) + ", at " + duration(e.begin / 1e6) + " for " + duration(e.duration / 1e6) },
      svg("rect", { x: round2(x(e.begin)), y, width: round2(wide), height: laneH - 8 }), k.timed?.share ? doneRect(k, x(e.begin), wide, y) : svg("g", {}), svg("title", null, kernelLabel(k) + ", " + duration(e.duration / 1e6)));
    const label = "k" + k.number;
    if (wide > label.length * 7 + 4) g.append(svg("text", { x: round2(x(e.begin) + 3), y: y + 17 }, label));
    timelineView.bars.push({ k, g });
    bars.append(g);
  }
  root.append(bars);
  roving(bars, ".event", alongList);
  const act = (event) => {
    const g = event.target.closest(".event");
    if (g) go("/timeline/" + g.dataset.kernel);
  };
  bars.addEventListener("click", act);
  bars.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    act(event);
  });
  timelineView.zoom = zoomableSVG(root, timeW, h, "Kernels over one run");
  timelineView.zoom.frame.classList.add("fits");
  timelineView.detail = el("div", { class: "detail" });
  const save = el("button", { type: "button", class: "primary", onclick: saveTrace }, "Save as Chrome trace");
  section.append(
    el("div", { class: "bar-of-view" }, el("h2", null, "Timeline"), el("p", { class: "hint" }, "one run, " + duration(total / 1e6) + (lanes.length > 1 ? " on " + plural(lanes.length, "thread") : "")), save,
      el("p", { class: "hint" }, "for chrome://tracing and ui.perfetto.dev")),
    el("div", { class: "drawn timeline-frame" }, timelineView.zoom.tools, timelineView.zoom.frame),
    el("p", { class: "hint" }, "A kernel is as wide as it takes time, and filled as high as its share of what the machine could do."),
    timelineView.detail, el("div", { class: "cards" }, [timeCard(), boundCard()].filter(Boolean)));
}

// doneRect fills of a kernel what the machine could have done it in.
function doneRect(k, x, w, y) {
  const h = (laneH - 8) * Math.min(1, k.timed.share);
  return svg("rect", { class: "done", x: round2(x), y: round2(y + laneH - 8 - h), width: round2(w), height: round2(h) });
}

function round2(v) {
  return Math.round(v * 100) / 100;
}

// kernelKind is the kind of operation that a kernel is about.
function kernelKind(k) {
  for (const kind of ["anchor", "reduce", "point", "move"]) if (k.nodes.some((n) => kindOf(n.op) === kind)) return kind;
  return "leaf";
}

// chromeTrace is the run in the Trace Event Format, times in microseconds.
function chromeTrace() {
  return {
    displayTimeUnit: "ns",
    traceEvents: facts.run.timeline.map((e) => {
      const k = facts.kernels[e.kernel];
      return { name: k ? k.name : "k" + e.kernel, cat: "kernel", ph: "X", pid: 0, tid: e.thread || 0, ts: e.begin, dur: e.duration, args: { number: e.kernel, share: k?.timed?.share } };
    }),
  };
}

function saveTrace() {
  const url = URL.createObjectURL(new Blob([JSON.stringify(chromeTrace())], { type: "application/json" }));
  const a = el("a", { href: url, download: "trace.json" });
  document.body.append(a);
  a.click();
  a.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

function openTimeline(parts) {
  const k = numbered(facts.kernels, parts[0]);
  for (const b of timelineView.bars) {
    b.g.classList.toggle("chosen", b.k === k);
    b.g.setAttribute("aria-pressed", b.k === k ? "true" : "false");
  }
  if (!k) {
    show(timelineView.detail, parts.length ? nothingSuch("kernel") : el("p", { class: "hint" }, "Choose a kernel, by mouse or arrows."));
    return "";
  }
  const t = k.timed;
  show(timelineView.detail, el("h3", { class: "mono" }, plain(kernelLabel(k), 200)),
    el("p", null, t ? duration(t.seconds) + " on average" + (t.share ? ", " + percent(t.share) + " of the bound" : "") + ". " : "", link(kernelRoute(k), "Its operations, loops and machine code")));
  announce("kernel " + kernelLabel(k));
  return kernelLabel(k);
}

addView({
  id: "timeline", name: "Timeline",
  available: () => (facts.run?.timeline || []).length > 0,
  build: buildTimeline, open: openTimeline,
  key: (k) => !!timelineView.zoom?.key(k),
});
