// The frame around the views: routes, keys, colours. A route is the hash of the
// address, #/view/thing/..., so that each thing has a link that lasts and the
// browser's history works.

const views = []; // in the order of their tabs; each file of a view adds its own

// addView registers a view: {id, name, available(), build(section), open(parts, moved)}.
// build runs when the view is first seen; open shows what the rest of the route names.
function addView(view) {
  views.push(view);
}

const shown = { view: null, parts: [] };

function parseRoute(hash) {
  const parts = hash.replace(/^#\/?/, "").split("/").filter((p) => p !== "").map((p) => {
    try {
      return decodeURIComponent(p);
    } catch {
      return p;
    }
  });
  const view = views.find((v) => v.id === parts[0] && v.available());
  return view ? { view, parts: parts.slice(1) } : { view: views.find((v) => v.available()), parts: [] };
}

// numbered is what a part of a route numbers in a list, or null.
function numbered(list, part) {
  return /^\d+$/.test(part) ? list[Number(part)] || null : null;
}

// nothingSuch says that a route names what is not there.
function nothingSuch(what) {
  return el("p", { class: "hint" }, "There is no such " + what + ".");
}

function go(route) {
  if (location.hash === "#" + route) openRoute();
  else location.hash = route;
}

function openRoute() {
  const { view, parts } = parseRoute(location.hash);
  const moved = shown.view !== view;
  shown.view = view;
  shown.parts = parts;
  for (const v of views) {
    if (v.section) v.section.hidden = v !== view;
    if (v.tab) {
      if (v === view) v.tab.setAttribute("aria-current", "page");
      else v.tab.removeAttribute("aria-current");
    }
  }
  if (!view.section) {
    view.section = el("section", { class: "view view-" + view.id, "aria-label": view.name });
    byId("main").append(view.section);
    view.build(view.section);
  }
  document.title = [view.open(parts, moved), view.name, facts.title].filter(Boolean).map((s) => plain(s, 80)).join(" · ");
}

// announce tells screen readers what has been chosen.
function announce(text) {
  byId("live").textContent = plain(text, 200);
}

function buildFrame() {
  byId("title").textContent = plain(facts.title, 80);
  byId("subtitle").textContent = plain(facts.subtitle, 200);
  show(byId("views"), views.filter((v) => v.available()).map((v, i) => {
    v.number = i + 1;
    v.tab = link("/" + v.id, v.name, { "aria-keyshortcuts": String(i + 1) });
    return v.tab;
  }));
  byId("help").addEventListener("click", openKeys);
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault(); // the address stays that of the view
    byId("main").focus();
  });
  buildTheme();
  window.addEventListener("hashchange", () => {
    if (location.hash.startsWith("#/") || location.hash === "") openRoute();
  });
  document.addEventListener("keydown", globalKeys);
  openRoute();
  document.documentElement.dataset.ready = "yes";
}

// Colours

const themes = [
  { id: "auto", sign: "◐", label: "Colours: as the system has them" },
  { id: "light", sign: "○", label: "Colours: light" },
  { id: "dark", sign: "●", label: "Colours: dark" },
];

function buildTheme() {
  const button = byId("theme");
  const set = (i) => {
    document.documentElement.dataset.theme = themes[i].id;
    button.textContent = themes[i].sign;
    button.setAttribute("aria-label", themes[i].label);
    button.title = themes[i].label;
  };
  let at = Math.max(0, themes.findIndex((t) => t.id === stored("sinter-theme")));
  set(at);
  button.addEventListener("click", () => {
    at = (at + 1) % themes.length;
    set(at);
    store("sinter-theme", themes[at].id);
  });
}

// A page from a file may have no storage of its own; the choice then lasts as
// long as the page.
function stored(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

function store(key, value) {
  try {
    localStorage.setItem(key, value);
  } catch { /* see stored */ }
}

// Keys

const keys = [
  ["/", "search"],
  ["1 … 9", "a view"],
  ["Tab", "from part to part"],
  ["← → ↑ ↓", "within a list, a table, the graph (↑ operands, ↓ users), the picture of memory, the timeline"],
  ["Home End", "first and last of a list"],
  ["Enter", "choose; open or close a repeated block"],
  ["+ − 0", "larger, smaller, original size of a drawing"],
  ["Alt ←, Alt →", "back and forward through what you looked at"],
  ["Esc", "close; leave the search"],
  ["?", "these keys"],
];

function openKeys() {
  const dialog = byId("keys");
  if (!dialog.firstChild) {
    show(dialog,
      el("h2", { id: "keys-title" }, "Keys"),
      el("dl", { class: "keys" }, keys.map(([k, what]) => [el("dt", null, el("kbd", null, k)), el("dd", null, what)]).flat()),
      el("form", { method: "dialog" }, el("button", { type: "submit" }, "Close")));
  }
  dialog.showModal();
}

function globalKeys(event) {
  if (event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented) return;
  const typing = event.target.closest("input, select, textarea, dialog");
  if (typing) return;
  if (event.key === "/") {
    event.preventDefault();
    byId("search").focus();
    byId("search").select();
  } else if (event.key === "?") {
    event.preventDefault();
    openKeys();
  } else if (/^[1-9]$/.test(event.key)) {
    const view = views.find((v) => v.number === Number(event.key));
    if (view) {
      go("/" + view.id);
      view.tab.focus();
    }
  } else if (shown.view?.key?.(event.key)) {
    event.preventDefault();
  }
}
