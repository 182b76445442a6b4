// Texts of code: loops and assembly, with numbers of lines and quiet colours.

const codeLimit = 4000; // lines shown at once

const tokens = {
  loops: /(\/\/.*)|("(?:[^"\\]|\\.)*")|\b(kernel|symbol|param|slots|for|global|vector|unroll|reduce|thread|to|if|else|scratch|read|write|min|max|size)\b|\b([psb]\d+)(?=\[| )|\b(0x[0-9a-f]+|\d[\d.e+-]*)\b/g,
  code: /^(\s*[0-9a-f]+)(\s\s+[0-9a-f]+)(\s.*)?$/,
};

// codeBlock shows a text. kind is "loops" or "code"; hints maps a name in it,
// such as a parameter, to {route, title}.
function codeBlock(text, kind, label, hints) {
  const lines = text.replace(/\n$/, "").split("\n");
  const body = el("code");
  const draw = (from, to) => {
    for (const line of lines.slice(from, to)) body.append(el("span", { class: "line" }, kind === "code" ? assembly(line) : loops(line, hints)), "\n");
  };
  draw(0, codeLimit);
  const pre = el("pre", { class: "code " + (kind === "code" ? "machine" : kind), tabindex: "0", role: "region", "aria-label": label }, body);
  if (lines.length <= codeLimit) return pre;
  const more = el("button", { type: "button", class: "more", onclick: () => {
    draw(codeLimit, lines.length);
    more.remove();
  } }, "show " + count(lines.length - codeLimit) + " more lines");
  return el("div", { class: "codebox" }, pre, more);
}

function loops(line, hints) {
  const parts = [];
  let at = 0;
  const s = plain(line.replaceAll("\t", "    "), 4000);
  for (const m of s.matchAll(tokens.loops)) {
    parts.push(s.slice(at, m.index));
    const kind = m[1] ? "remark" : m[2] ? "text" : m[3] ? "word" : m[4] ? "name" : "number";
    const hint = m[4] && hints?.get(m[4]);
    parts.push(hint ? link(hint.route, m[0], { class: "t-name", title: hint.title }) : el("span", { class: "t-" + kind }, m[0]));
    at = m.index + m[0].length;
  }
  parts.push(s.slice(at));
  return parts;
}

// assembly tells offsets and bytes, which few read, from the instruction.
function assembly(line) {
  const s = plain(line.replaceAll("\t", "    "), 1000);
  const m = tokens.code.exec(s);
  if (!m) return [el("span", { class: "t-label" }, s)];
  const instruction = (m[3] || "").trimStart();
  const space = instruction.indexOf(" ");
  const name = space < 0 ? instruction : instruction.slice(0, space);
  const jump = /^(j|call|ret|loop)/.test(name);
  return [
    el("span", { class: "t-offset" }, m[1].trim().padStart(5)), el("span", { class: "t-bytes" }, " " + m[2].trim().padEnd(20) + " "),
    el("span", { class: jump ? "t-jump" : "t-word" }, name), space < 0 ? "" : instruction.slice(space),
  ];
}
