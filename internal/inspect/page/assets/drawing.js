// What drawings share: a frame that scrolls, with buttons and keys for its size.

// zoomable puts a drawing of w by h, {root, resize(scale)}, into a frame of its
// own. It returns {frame, tools, key(k), set(scale, still)}.
function zoomable(root, w, h, label, resize) {
  let scale = 1;
  const frame = el("div", { class: "drawing", role: "group", "aria-label": label }, root);
  const set = (s) => {
    const x = (frame.scrollLeft + frame.clientWidth / 2) / scale, y = (frame.scrollTop + frame.clientHeight / 2) / scale;
    scale = Math.min(8, Math.max(0.05, s));
    resize(scale);
    frame.scrollLeft = x * scale - frame.clientWidth / 2;
    frame.scrollTop = y * scale - frame.clientHeight / 2;
  };
  const button = (sign, name, act) => el("button", { type: "button", "aria-label": name + ": " + label, title: name, onclick: act }, sign);
  return {
    frame,
    tools: el("div", { class: "zoom" }, button("−", "smaller", () => set(scale / 1.25)), button("+", "larger", () => set(scale * 1.25)), button("⤢", "fit", () => set(Math.min(1, (frame.clientWidth - 8) / w)))),
    // start sets the first size and shows the middle. The browser has to lay out
    // all of the drawing to scroll it, so that comes once the page is there.
    start(s, middle = w / 2) {
      scale = s;
      resize(s);
      requestAnimationFrame(() => {
        if (!frame.scrollLeft) frame.scrollLeft = middle * scale - frame.clientWidth / 2;
      });
    },
    key(k) {
      if (k === "+" || k === "=") set(scale * 1.25);
      else if (k === "-") set(scale / 1.25);
      else if (k === "0") set(1);
      else return false;
      return true;
    },
  };
}

// zoomableSVG is zoomable for a drawing of SVG.
function zoomableSVG(root, w, h, label) {
  root.setAttribute("viewBox", "0 0 " + Math.max(1, w) + " " + Math.max(1, h));
  const z = zoomable(root, w, h, label, (scale) => {
    root.setAttribute("width", w * scale);
    root.setAttribute("height", h * scale);
    root.style.setProperty("min-width", Math.min(640, w) * scale + "px");
    root.style.setProperty("width", scale > 1 ? 100 * scale + "%" : null);
  });
  z.start(1);
  return z;
}

// narrow tells that what is chosen is shown below, not beside, as page.css has it.
function narrow() {
  return matchMedia("(max-width: 900px)").matches;
}

// bring scrolls the frame of a drawing, and nothing else, until e is seen.
function bring(e) {
  const frame = e.closest(".drawing, .rows");
  if (!frame) return;
  const a = e.getBoundingClientRect(), b = frame.getBoundingClientRect();
  if (a.top < b.top || a.bottom > b.bottom) frame.scrollTop += a.top - b.top - (b.height - a.height) / 3;
  if (a.left < b.left + 20 || a.right > b.right - 20) frame.scrollLeft += a.left - b.left - (b.width - a.width) / 2;
}

// bar is a share of something, drawn; the number stands beside it as text.
function bar(share, kind) {
  return el("span", { class: "bar " + (kind || ""), "aria-hidden": "true" }, el("span", { style: { width: Math.min(100, Math.max(0, share * 100)) + "%" } }));
}
