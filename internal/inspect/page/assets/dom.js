// Elements. Whatever comes from the document of facts reaches the page through
// text nodes and attributes made here, so that no name is ever read as markup.

const SVG = "http://www.w3.org/2000/svg";

// el makes an element: el("a", {href: "#/x", class: "y", onclick: f}, child, ...).
// Attributes that are null, undefined or false are left out.
function el(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(e, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) e.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [k, v] of Object.entries(value)) e.style.setProperty(k, v);
    else e.setAttribute(name, value === true ? "" : value);
  }
  add(e, children);
  return e;
}

// add appends children, lists of them in lists too; null, undefined and false are none.
function add(e, ...children) {
  e.append(...children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false));
}

function byId(id) {
  return document.getElementById(id);
}

// show replaces all that an element holds.
function show(e, ...children) {
  e.replaceChildren();
  add(e, children);
}

// Characters that show nothing, or change how others are shown: controls, marks
// of direction, spaces of no width, selectors, tags, halves of surrogate pairs,
// private use.
const unseen = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202f\u205f-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\ue000-\uf8ff\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}\u{f0000}-\u{10ffff}]/gu;

// plain is a text as a person can see it: what has no shape is written as its
// number, and what is longer than limit is cut with its length behind it.
function plain(text, limit = 200) {
  let s = String(text);
  const length = s.length;
  if (length > limit) s = s.slice(0, limit);
  s = s.replace(unseen, (c) => "\\u{" + c.codePointAt(0).toString(16) + "}");
  return length > limit ? s + "… (" + count(length) + " characters)" : s;
}

// shorten keeps the end of a dotted name, which tells parameters of a layer apart.
function shorten(name, limit) {
  const s = plain(name, 400);
  return s.length <= limit ? s : "…" + s.slice(s.length - limit + 1);
}

// link is a link within the page.
function link(route, text, attributes) {
  return el("a", { href: "#" + route, ...attributes }, text);
}

// listOf is a list of what make returns for each item, cut at limit with a
// button for the rest: thousands of elements make a page slow.
function listOf(items, make, attributes, limit = 60) {
  const list = el("ul", attributes, items.slice(0, limit).map((x, i) => el("li", null, make(x, i))));
  if (items.length <= limit) return list;
  const more = el("button", { type: "button", class: "more" }, "show " + count(items.length - limit) + " more");
  more.addEventListener("click", () => {
    const first = list.children.length;
    list.append(...items.slice(limit).map((x, i) => el("li", null, make(x, limit + i))));
    more.remove();
    const focus = list.children[first]?.querySelector("a, button");
    if (focus) focus.focus();
  });
  return el("div", null, list, more);
}

// roving makes one of many elements the stop of the Tab key and lets arrows
// move between them: next(element, key) is where a key leads, if anywhere.
function roving(container, selector, next) {
  const items = () => [...container.querySelectorAll(selector)];
  const stop = (e) => {
    for (const other of container.querySelectorAll(selector + '[tabindex="0"]')) other.setAttribute("tabindex", "-1");
    e.setAttribute("tabindex", "0");
  };
  for (const [i, e] of items().entries()) e.setAttribute("tabindex", i ? "-1" : "0");
  container.addEventListener("focusin", (event) => {
    const e = event.target.closest(selector);
    if (e) stop(e);
  });
  container.addEventListener("keydown", (event) => {
    const e = event.target.closest(selector);
    if (!e || event.altKey || event.ctrlKey || event.metaKey) return;
    const to = next(e, event.key, items);
    if (!to) return;
    event.preventDefault();
    stop(to);
    to.focus();
  });
  return stop;
}

// alongList is the usual next of roving for elements in a row or column.
function alongList(e, key, items) {
  const all = items();
  const i = all.indexOf(e);
  switch (key) {
    case "ArrowDown": case "ArrowRight": return all[i + 1];
    case "ArrowUp": case "ArrowLeft": return all[i - 1];
    case "Home": return all[0];
    case "End": return all[all.length - 1];
    case "PageDown": return all[Math.min(all.length - 1, i + 10)];
    case "PageUp": return all[Math.max(0, i - 10)];
  }
  return null;
}
