// Search over everything that has a name: entries are made once, when the
// search is first used.

const foundLimit = 40;

let entries = null;

// rank is how well an entry fits: smaller is better, infinite is not at all.
function rankOf(entry, wanted) {
  let sum = 0;
  for (const word of wanted) {
    if (entry.id === word) continue;
    const at = entry.text.indexOf(word);
    if (at < 0) return Infinity;
    const begins = at === 0 || /[^a-z0-9]/.test(entry.text[at - 1]);
    sum += begins ? 1 : 2;
  }
  return sum * 1000 + entry.order;
}

function find(query) {
  entries ||= searchEntries().map((e) => ({ ...e, id: e.id.toLowerCase(), text: (e.id + " " + e.text).toLowerCase().slice(0, 2000) }));
  const wanted = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (!wanted.length) return { total: 0, best: [] };
  const hits = [];
  for (const e of entries) {
    const rank = rankOf(e, wanted);
    if (rank < Infinity) hits.push([rank, e]);
  }
  hits.sort((a, b) => a[0] - b[0]);
  return { total: hits.length, best: hits.slice(0, foundLimit).map((h) => h[1]) };
}

function buildSearch() {
  const input = byId("search"), list = byId("found");
  let at = -1;
  const options = () => [...list.querySelectorAll('[role="option"]')];
  const close = () => {
    list.hidden = true;
    at = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };
  const mark = (i) => {
    const all = options();
    if (!all.length) return;
    at = (i + all.length) % all.length;
    all.forEach((o, k) => o.setAttribute("aria-selected", k === at ? "true" : "false"));
    all[at].scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", all[at].id);
  };
  const choose = (option) => {
    close();
    input.blur();
    go(option.dataset.route);
    shown.view.focus?.();
  };
  const update = () => {
    const { total, best } = find(input.value);
    at = -1;
    input.removeAttribute("aria-activedescendant");
    if (!input.value.trim()) {
      close();
      return;
    }
    show(list, best.length ? best.map((e, i) => el("div", {
      role: "option", id: "found-" + i, "aria-selected": "false", "data-route": e.route,
      onclick: (event) => choose(event.currentTarget),
    }, el("span", { class: "kind" }, e.kind), el("span", { class: "name" }, plain(e.label, 120)), el("span", { class: "more" }, plain(e.detail || "", 80)))) :
      el("div", { role: "option", "aria-disabled": "true", "aria-selected": "false", class: "none" }, "nothing found"));
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
    announce(total > best.length ? plural(total, "result") + ", the first " + best.length + " shown" : plural(total, "result"));
    if (best.length) mark(0);
  };
  input.addEventListener("input", update);
  input.addEventListener("focus", () => {
    if (input.value.trim()) update();
  });
  input.addEventListener("blur", close);
  list.addEventListener("mousedown", (event) => event.preventDefault()); // keeps the focus until the click
  input.addEventListener("keydown", (event) => {
    const chosen = options()[at];
    if (event.key === "ArrowDown") mark(at + 1);
    else if (event.key === "ArrowUp") mark(at - 1);
    else if (event.key === "Enter" && chosen?.dataset.route) choose(chosen);
    else if (event.key === "Escape") {
      input.value = "";
      close();
      input.blur();
    } else return;
    event.preventDefault();
  });
}
