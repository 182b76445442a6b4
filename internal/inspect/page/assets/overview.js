// Overview: the few things that one asks first, each a way into the other views.

function buildOverview(section) {
  section.append(el("h2", { class: "unseen" }, "Overview"), pipeline(), el("div", { class: "cards overview" }, [nothingCard(), timeCard(), boundCard(), memoryCard(), passCard(), aboutCard()].filter(Boolean)));
}

// pipeline is the way of the program, a step for each stage that did something.
function pipeline() {
  const steps = facts.stages.filter((s) => !s.same).map((s) => {
    if (s.nodes) return [s.name, count(s.nodes.length), noun(s.nodes.length, "operation") + (s.before ? ", −" + s.removed.length + " +" + s.made.length : ""), s.before ? passRoute(s) : "/graph"];
    if (s.name === "partition") return [s.name, count(facts.kernels.length), noun(facts.kernels.length, "kernel"), "/kernels"];
    if (s.name === "plan") return [s.name, count(facts.buffers.length), noun(facts.buffers.length, "buffer"), "/memory"];
    if (s.name === "loops") return [s.name, count(facts.codes.length), "different " + noun(facts.codes.length, "kernel"), "/kernels"];
    if (s.name === "code") return [s.name, bytes(facts.codes.reduce((sum, c) => sum + c.parts.reduce((n, p) => n + (p.bytes || 0), 0), 0)), "of machine code", "/kernels"];
    return null;
  }).filter(Boolean);
  return el("ol", { class: "pipeline", "aria-label": "The way from trace to code" }, steps.map(([name, n, what, route]) => el("li", null, link(route, "", { class: "step" }))).map((li, i) => {
    const [name, n, what] = steps[i];
    li.firstChild.append(el("span", { class: "name" }, name), " ", el("strong", null, n), " ", el("span", { class: "quiet" }, what));
    return li;
  }));
}

function card(title, ...children) {
  return el("section", { class: "card", "aria-label": title }, el("h3", null, title), children);
}

// alike sums kernels up that have one name and one code: the same in each layer.
function alike() {
  const groups = new Map();
  for (const k of facts.kernels) {
    if (!k.timed) continue;
    const key = k.name + " " + facts.codes.indexOf(k.code);
    if (!groups.has(key)) groups.set(key, { first: k, n: 0, seconds: 0, least: 0 });
    const g = groups.get(key);
    g.n++;
    g.seconds += k.timed.seconds;
    g.least += k.timed.seconds * Math.min(1, k.timed.share || 0);
  }
  return [...groups.values()];
}

function groupRow(g, value, text) {
  return el("li", null, link(kernelRoute(g.first), plain(kernelLabel(g.first), 40)), el("span", { class: "times" }, g.n > 1 ? "×" + g.n : ""), bar(value, "time"), el("span", { class: "label" }, text));
}

// nothingCard stands for the others where a program was compiled to no kernel.
function nothingCard() {
  const compiled = facts.stages.some((s) => s.name === "partition" && !s.off);
  return compiled && !facts.kernels.length ? card("Nothing to run", el("p", null, "There is nothing to compute.")) : null;
}

function timeCard() {
  if (!facts.kernelSeconds) return null;
  const groups = alike().sort((a, b) => b.seconds - a.seconds).slice(0, 7), most = groups[0].seconds;
  return card("Where the time goes", el("p", null, el("strong", { class: "big" }, duration(facts.run.seconds)), " a run"),
    el("ol", { class: "ranks" }, groups.map((g) => groupRow(g, g.seconds / most, percent(g.seconds / facts.kernelSeconds)))));
}

function boundCard() {
  const groups = alike().filter((g) => g.least > 0);
  if (!groups.length) return null;
  const lost = (g) => g.seconds - g.least;
  const least = facts.kernels.reduce((sum, k) => sum + (k.timed ? k.timed.seconds * Math.min(1, k.timed.share || 0) : 0), 0);
  groups.sort((a, b) => lost(b) - lost(a));
  const most = lost(groups[0]);
  return card("Furthest from the bound", el("p", null, el("strong", { class: "big" }, percent(least / facts.kernelSeconds)), " of what the machine could do; time lost, by kernel"),
    el("ol", { class: "ranks" }, groups.slice(0, 7).map((g) => groupRow(g, lost(g) / most, percent(g.least / g.seconds) + " of its bound"))));
}

function memoryCard() {
  const m = facts.memory;
  if (!m?.live?.[m.peak]) return null; // nothing is kept between kernels
  const top = (m.at_peak || []).map((i) => facts.buffers[i]).filter(Boolean).slice(0, 6);
  return card("What makes the peak of memory", el("p", null, el("strong", { class: "big" }, bytes(m.live[m.peak])), " live at ", facts.kernels[m.peak] ? link(kernelRoute(facts.kernels[m.peak]), plain(kernelLabel(facts.kernels[m.peak]), 40)) : ""),
    el("ol", { class: "ranks" }, top.map((b) => el("li", null, link(bufferRoute(b), plain(bufferLabel(b), 40)), el("span", { class: "times" }), bar(b.bytes / Math.max(1, top[0].bytes), "share"), el("span", { class: "label" }, bytes(b.bytes))))));
}

function passCard() {
  const steps = facts.graphs.filter((s) => s.before);
  if (!steps.length) return null;
  const most = Math.max(1, ...steps.map((s) => s.made.length + s.removed.length));
  return card("What passes changed", el("p", null, el("strong", { class: "big" }, count(facts.graphs[0].nodes.length) + " → " + count(facts.last.nodes.length)), " " + noun(facts.last.nodes.length, "operation")),
    el("ol", { class: "ranks" }, steps.map((s) => el("li", null, link(passRoute(s), plain(s.name, 40)), el("span", { class: "times" }), bar((s.made.length + s.removed.length) / most, "pass"), el("span", { class: "label" }, s.removed.length + s.made.length ? "−" + s.removed.length + " +" + s.made.length : "rearranged")))));
}

function aboutCard() {
  const blocks = facts.last ? blocksOf(facts.last) : [];
  if (!blocks.length && !facts.symbols.length && !facts.missing.length) return null;
  const sizes = facts.symbols.map((s) => plain(s.name, 40) + (s.at !== undefined && s.at !== null ? " = " + count(s.at) : " of " + count(s.min) + " to " + count(s.max)));
  return card("About this program", missingText(), // first: it says why other cards are not here
    blocks.map((b) => el("p", null, link("/graph", b.name + " ×" + b.parts.length), ", " + plural(b.parts[0].end - b.parts[0].first, "operation") + " each")),
    sizes.length ? el("p", null, "Sizes: " + sizes.join(", ")) : null, facts.leaves.length ? el("p", null, plural(facts.leaves.length, "input") + ", weights among them, of " + bytes(facts.leaves.reduce((sum, l) => sum + l.bytes, 0))) : null);
}

addView({ id: "overview", name: "Overview", available: () => true, build: buildOverview, open: () => "" });
