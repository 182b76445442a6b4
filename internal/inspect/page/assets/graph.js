// A column of the graph view that draws a graph.

const edgesOfPath = 200, boxesAtOnce = 250;

class GraphColumn {
  constructor(stage) {
    this.stage = stage;
    this.open = new Set();
    this.hits = new Set();
    this.built = false;
    this.body = el("div", { class: "body" });
  }

  // draw makes the drawing anew; what is chosen stays so. Boxes are HTML, whose
  // text a browser lays out only where it is seen: SVG has no such thing.
  draw() {
    this.built = true;
    const room = this.room || this.body.clientWidth || 400;
    this.scene = buildScene(this.stage, this.open, graphView.everything);
    this.elements = new Map();
    this.boxes = new Map(this.scene.boxes.map((b) => [b.key, b]));
    const { w, h } = this.scene;
    const lines = svg("svg", { class: "edges", "aria-hidden": "true", width: w, height: h, viewBox: "0 0 " + w + " " + h });
    const all = this.scene.paths;
    for (let i = 0; i < all.length; i += edgesOfPath) lines.append(svg("path", { d: all.slice(i, i + edgesOfPath).map((p) => p.d).join("") }));
    this.hitLines = svg("path", { class: "hit" });
    lines.append(this.hitLines);
    const canvas = el("div", { class: "canvas" }, lines);
    this.undrawn = this.scene.boxes.slice();
    this.canvas = canvas;
    this.drawSome();
    const sized = el("div", { class: "sized" }, canvas);
    this.zoom = zoomable(sized, w, h, "graph after " + this.stage.name, (scale) => {
      sized.style.width = w * scale + "px";
      sized.style.height = h * scale + "px";
      canvas.style.transform = "scale(" + scale + ")";
    });
    this.setStop = roving(canvas, ".box", (e, key, items) => this.step(e, key, items));
    canvas.addEventListener("click", (event) => this.act(event.target.closest(".box")));
    this.zoom.start(this.scale || Math.max(0.65, Math.min(1, (room - 8) / w)), firstMiddle(this.scene.boxes));
    show(this.body, this.zoom.tools, this.zoom.frame);
    this.mark(false);
  }

  // drawSome draws the next boxes, and the others when there is time.
  drawSome() {
    const canvas = this.canvas;
    add(canvas, this.undrawn.splice(0, boxesAtOnce).map((b) => this.drawBox(b)));
    if (!this.undrawn.length) return;
    setTimeout(() => {
      if (this.canvas !== canvas || !this.undrawn.length) return; // drawn anew meanwhile, or all
      this.drawSome();
      this.mark(false);
    }, 10);
  }

  // drawAll draws the others now.
  drawAll() {
    add(this.canvas, this.undrawn.splice(0).map((b) => this.drawBox(b)));
  }

  drawBox(b) {
    const frame = b.kind !== "node" && b.open;
    const e = el("button", {
      type: "button", class: "box " + b.kind + (b.node ? " kind-" + kindOf(b.node.op) : "") + (frame ? " open" : ""), tabindex: "-1", "data-key": b.key,
      "aria-expanded": b.node ? null : b.open ? "true" : "false",
      style: { left: round(b.x) + "px", top: round(b.y) + "px", width: round(b.w) + "px", height: round(b.h) + "px" },
    },
    el("span", { class: "head" }, b.node ? el("span", { class: "id" }, b.id) : b.open ? "▾" : "▸", " ", el("span", { class: "op" }, b.label), " ", b.node ? el("span", { class: "type" }, b.type) : null),
    b.sub && !frame ? [" ", el("span", { class: "sub" }, b.sub)] : null,
    b.far ? [" ", el("span", { class: "far" }, "↑ " + b.far.map((f) => f.node ? "%" + f.node.id : f.label).join(" "))] : null,
    b.node?.output ? [" ", el("span", { class: "out" }, "output")] : null);
    this.elements.set(b.key, e);
    return e;
  }

  boxOf(e) {
    return this.boxes.get(e.dataset.key);
  }

  act(e) {
    if (!e) return;
    const b = this.boxOf(e);
    if (b.node) {
      go(nodeRoute(b.node));
      return;
    }
    this.toggle(b.key);
    this.focus(b.key);
  }

  // toggle opens or closes a block. Of one that opens its first part opens too:
  // that is what one wants to see.
  toggle(key) {
    if (this.open.delete(key)) {
      for (const k of [...this.open]) if (k.startsWith(key + ".")) this.open.delete(k);
    } else {
      this.open.add(key);
      if (!key.includes(".")) this.open.add(key + ".0");
    }
    this.redraw();
  }

  redraw() {
    const { scrollLeft, scrollTop } = this.zoom?.frame || {};
    this.draw();
    this.zoom.frame.scrollLeft = scrollLeft || 0;
    this.zoom.frame.scrollTop = scrollTop || 0;
  }

  focus(key) {
    if (!this.elements.has(key)) this.drawAll();
    const e = this.elements.get(key);
    if (!e) return;
    this.setStop(e);
    e.focus({ preventScroll: true });
    bring(e);
  }

  // step is where an arrow leads: along the data, or to a neighbour.
  step(e, key, items) {
    this.drawAll();
    const b = this.boxOf(e), all = this.scene.boxes;
    if (key === "Home" || key === "End") return alongList(e, key, items);
    const near = (list) => list.sort((p, q) => Math.abs(p.x + p.w / 2 - b.x - b.w / 2) - Math.abs(q.x + q.w / 2 - b.x - b.w / 2))[0];
    const level = (keys) => all.filter((x) => keys.has(x.key));
    let to = null;
    if (key === "ArrowUp") to = near(level(new Set(this.scene.paths.filter((p) => p.to.key === b.key).map((p) => p.from.key))));
    else if (key === "ArrowDown") to = near(level(new Set(this.scene.paths.filter((p) => p.from.key === b.key).map((p) => p.to.key))));
    else if (key === "ArrowRight" || key === "ArrowLeft") {
      const side = key === "ArrowRight" ? 1 : -1;
      to = near(all.filter((x) => x !== b && side * (x.x - b.x) > 0 && x.y < b.y + b.h && b.y < x.y + x.h && !(x.open && x.nodes.length > b.nodes.length)));
    }
    if (!to && (key === "ArrowUp" || key === "ArrowDown")) return alongList(e, key, items);
    return to && this.elements.get(to.key);
  }

  // mark shows which boxes stand for the nodes of hits; with reveal, the block that
  // hides the chosen node or the first hit opens, and that is scrolled to.
  mark(reveal) {
    const chosen = graphView.chosen?.stage === this.stage ? graphView.chosen : null;
    if (reveal) {
      const first = chosen || [...this.hits].sort((a, b) => a.id - b.id)[0];
      const closed = first ? keysAround(this.stage, first).filter((k) => !this.open.has(k)) : [];
      if (closed.length) {
        for (const k of closed) this.open.add(k);
        this.redraw();
      }
    }
    const hit = new Set(), own = new Set();
    for (const n of this.hits) for (const b of boxesFor(this.scene, n)) hit.add(b.key);
    if (chosen) for (const b of boxesFor(this.scene, chosen)) own.add(b.key);
    if (reveal && [...hit, ...own].some((key) => !this.elements.has(key))) this.drawAll();
    let first = null;
    for (const [key, e] of this.elements) {
      e.classList.toggle("hit", hit.has(key));
      e.classList.toggle("chosen", own.has(key));
      e.setAttribute("aria-pressed", own.has(key) ? "true" : "false");
      if (own.has(key) || (!chosen && hit.has(key))) first ||= e;
    }
    this.hitLines.setAttribute("d", this.scene.paths.filter((p) => own.has(p.from.key) || own.has(p.to.key)).map((p) => p.d).join(""));
    if (first && reveal) bring(first);
    if (first && own.size) this.setStop(first);
  }

  // choose shows the relatives of what was chosen; related is by stage.
  choose(related) {
    this.hits = related.get(this.stage) || new Set();
    this.pending = true;
    if (!this.built) return;
    this.pending = false;
    this.mark(true);
  }

  // wake is called when the column is seen: what is folded is not drawn.
  wake() {
    if (!this.built) this.draw();
    if (this.pending) this.choose(new Map([[this.stage, this.hits]]));
  }
}

// firstMiddle is the middle of the boxes at the top of a drawing.
function firstMiddle(boxes) {
  const top = Math.min(...boxes.map((b) => b.y)), first = boxes.filter((b) => b.y < top + 40);
  return first.reduce((sum, b) => sum + b.x + b.w / 2, 0) / Math.max(1, first.length);
}
