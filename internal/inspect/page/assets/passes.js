// Passes: what each step over the graph did to it.

const passView = { rows: new Map() };

function buildPasses(section) {
  const steps = facts.stages.filter((s) => s.before || s.same || s.off);
  const most = Math.max(1, ...steps.map((s) => s.made.length + s.removed.length));
  const list = el("ol", { class: "pass-list", "aria-label": "Passes in their order" }, steps.map((s) => {
    const row = link(passRoute(s), "", { class: "pass-row" + (s.nodes ? "" : " same") });
    row.append(el("span", { class: "name" }, s.name),
      s.nodes ? el("span", { class: "size" }, s.removed.length + s.made.length ? "−" + s.removed.length + " +" + s.made.length : "rearranged") : el("span", { class: "size" }, s.off ? "off" : "unchanged"),
      s.nodes ? el("span", { class: "delta", "aria-hidden": "true" },
        el("span", { class: "gone", style: { width: (50 * s.removed.length) / most + "%" } }), el("span", { class: "new", style: { width: (50 * s.made.length) / most + "%" } })) : "");
    passView.rows.set(s, row);
    return el("li", null, row);
  }));
  roving(list, "a.pass-row", alongList);
  passView.steps = steps;
  passView.detail = el("div", { class: "detail" });
  section.append(el("div", { class: "bar-of-view" }, el("h2", null, "Passes"), el("p", { class: "hint" }, "from " + plural(facts.graphs[0].nodes.length, "operation") + " as they were asked for to " + count(facts.last.nodes.length))),
    el("div", { class: "split master-detail narrow" }, el("div", { class: "rows master" }, list), passView.detail));
}

function openPasses(parts) {
  const s = parts.length ? passView.steps.find((x) => x.name === parts[0]) : passView.steps.find((x) => x.nodes) || passView.steps[0];
  for (const [x, row] of passView.rows) {
    if (x === s) row.setAttribute("aria-current", "true");
    else row.removeAttribute("aria-current");
  }
  if (!s) {
    show(passView.detail, parts.length ? nothingSuch("pass") : null);
    return "";
  }
  showPass(passView.detail, s);
  if (!parts.length) return "";
  if (narrow()) passView.detail.scrollIntoView();
  announce("pass " + s.name);
  return s.name;
}

function showPass(place, s) {
  const heading = [el("h3", { class: "mono" }, s.name), s.doc ? el("p", null, s.doc) : null];
  if (!s.nodes) {
    show(place, heading, el("p", { class: "hint" }, s.off ? "It was switched off." : "It found nothing to do: the graph stayed as it was."), rulesTable(s));
    return;
  }
  const replaced = new Set(s.made.flatMap((n) => n.from));
  const rewritten = s.made.filter((n) => n.from.length), fresh = s.made.filter((n) => !n.from.length);
  const gone = s.removed.filter((n) => !replaced.has(n));
  const line = (n, sign) => el("span", { class: "change-line " + sign }, link(nodeRoute(n), plain(nodeLine(n), 140), { class: "mono" }));
  const part = (title, what, items, make, limit) => items.length ? el("section", { "aria-label": title },
    el("h4", null, title, el("span", { class: "quiet" }, " " + count(items.length) + what)), listOf(items, make, { class: "changes" }, limit)) : null;
  show(place, heading,
    el("p", { class: "sums" }, el("strong", null, count(s.before.nodes.length)), " operations before, ", el("strong", null, count(s.nodes.length)), " after: ",
      count(s.nodes.length - s.made.length), " stayed, ", count(s.removed.length), " left, ", count(s.made.length), " are new."),
    rulesTable(s),
    part("Rewritten", ", new ones below what they were made of", groupRewrites(rewritten), (g) => el("div", { class: "rewrite" },
      g.from.slice(0, 12).map((n) => line(n, n.became.some((m) => m.copy === n) ? "stays" : "gone")), g.from.length > 12 ? el("span", { class: "quiet" }, "and " + (g.from.length - 12) + " more") : null,
      g.to.slice(0, 24).map((n) => line(n, "new")), g.to.length > 24 ? el("span", { class: "quiet" }, "and " + (g.to.length - 24) + " more") : null,
      g.rules.length ? el("span", { class: "rule" }, g.rules.join(", ")) : null), 30),
    part("New", "", fresh, (n) => line(n, "new"), 40),
    part("Gone", ", merged with others or no longer needed", gone, (n) => line(n, "gone"), 40),
    part("Moved", ", in another order than before", movedNodes(s), (n) => [line(n, "stays"), el("span", { class: "quiet" }, "was %" + n.copy.id)], 40),
    part("With other operands", ", all else as before", s.nodes.filter(rewired), (n) => [line(n, "stays"), el("span", { class: "quiet" }, "took " + plain(n.copy.in.map(nodeLabel).join(", "), 200))], 40));
}

// rewired is whether a node that stayed takes other operands than before.
function rewired(n) {
  return n.copy && (n.in.length !== n.copy.in.length || n.in.some((o, i) => o.copy !== n.copy.in[i]));
}

// movedNodes are the fewest of the nodes that stayed without which the others are
// in the order they had: all but a longest increasing sequence of old numbers.
function movedNodes(s) {
  const kept = s.nodes.filter((n) => n.copy), ends = [], before = new Map();
  for (const n of kept) {
    let low = 0, high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ends[middle].copy.id < n.copy.id) low = middle + 1;
      else high = middle;
    }
    before.set(n, ends[low - 1]);
    ends[low] = n; // the least end of a sequence of this length
  }
  const inOrder = new Set();
  for (let n = ends[ends.length - 1]; n; n = before.get(n)) inOrder.add(n);
  return kept.filter((n) => !inOrder.has(n));
}

// groupRewrites puts new nodes that were made of the same old ones together.
function groupRewrites(made) {
  const groups = new Map();
  for (const n of made) {
    const key = n.from.map((f) => f.id).join(",");
    if (!groups.has(key)) groups.set(key, { from: n.from, to: [], rules: [] });
    const g = groups.get(key);
    g.to.push(n);
    if (n.rule && !g.rules.includes(n.rule)) g.rules.push(n.rule);
  }
  return [...groups.values()];
}

function rulesTable(s) {
  if (!s.rules.length) return null;
  const rules = [...s.rules].sort((a, b) => b.count - a.count);
  return el("table", { class: "rules" }, el("caption", null, "Rules that applied"),
    el("thead", null, el("tr", null, el("th", { scope: "col" }, "rule"), el("th", { scope: "col", class: "number" }, "times"), el("th", { scope: "col" }, "because"))),
    el("tbody", null, rules.map((r) => el("tr", null, el("th", { scope: "row", class: "mono" }, plain(r.name, 80)), el("td", { class: "number" }, count(r.count)), el("td", null, plain(r.reason || "", 300))))));
}

addView({
  id: "passes", name: "Passes",
  available: () => facts.graphs.length > 1,
  build: buildPasses, open: openPasses,
});
