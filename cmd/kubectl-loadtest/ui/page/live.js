// Keeps an open page up to date, and shows values in its plots. Without it the pages work, and
// are loaded anew by a meta refresh.
"use strict";

(() => {
  const events = document.body.dataset.events;
  const state = document.getElementById("connection");
  const firstPause = 1000, longestPause = 10000;
  let source = null, pause = firstPause, timer = 0, over = false;

  function say(text, tone) {
    if (state.textContent !== text) state.textContent = text; // a screen reader says each change
    state.className = tone;
  }

  // have are the parts that the page shows, so that the server sends those that differ.
  function have() {
    return Array.from(document.querySelectorAll(".piece"), p => p.id.slice("part-".length) + ":" + p.dataset.digest).join(",");
  }

  function connect() {
    clearTimeout(timer);
    if (source || over || document.hidden) return;
    source = new EventSource(events + "?" + new URLSearchParams({ page: document.body.dataset.page, have: have() }));
    source.addEventListener("open", () => { pause = firstPause; say(state.dataset.live, "live"); });
    source.addEventListener("part", e => replace(JSON.parse(e.data)));
    source.addEventListener("gone", e => { over = true; disconnect(); say(JSON.parse(e.data), "lost"); });
    source.addEventListener("error", () => {
      disconnect();
      say("The connection is lost, trying again. Does kubectl loadtest still run?", "lost");
      timer = setTimeout(connect, pause);
      pause = Math.min(2 * pause, longestPause);
    });
  }

  function disconnect() {
    if (source) source.close();
    source = null;
  }

  // replace puts new content into a part. What a person has done there stays: marks, the focus,
  // how far a table is scrolled.
  function replace(part) {
    const old = document.getElementById("part-" + part.name);
    if (!old || old.dataset.digest === part.digest) return;
    const marked = new Set(Array.from(old.querySelectorAll("input:checked"), i => i.value));
    const scrolled = Array.from(old.querySelectorAll(".scroll, pre"), s => [s.scrollLeft, s.scrollTop]);
    const focused = old.contains(document.activeElement) ? path(old, document.activeElement) : null;
    if (drawn.some(e => old.contains(e))) hide();
    old.innerHTML = part.html; // the server has escaped what is not its own
    old.dataset.digest = part.digest;
    for (const i of old.querySelectorAll("input[type=checkbox]")) i.checked = marked.has(i.value);
    old.querySelectorAll(".scroll, pre").forEach((s, n) => { if (scrolled[n]) [s.scrollLeft, s.scrollTop] = scrolled[n]; });
    const again = focused && find(old, focused);
    if (again) again.focus({ preventScroll: true });
  }

  // path says which element it is, by what stays when the content is replaced.
  function path(root, e) {
    for (const attribute of ["href", "value", "aria-label", "aria-labelledby"]) {
      const value = e.getAttribute(attribute);
      if (value) return [e.tagName, attribute, value];
    }
    return [e.tagName, "", String(Array.from(root.querySelectorAll(e.tagName)).indexOf(e))];
  }

  function find(root, [tag, attribute, value]) {
    const all = Array.from(root.querySelectorAll(tag));
    return attribute ? all.find(e => e.getAttribute(attribute) === value) : all[Number(value)];
  }

  if (events) {
    // A browser has few connections to a server: pages that nobody sees give theirs up.
    document.addEventListener("visibilitychange", () => { if (document.hidden) { disconnect(); clearTimeout(timer); } else connect(); });
    addEventListener("pagehide", disconnect);
    addEventListener("pageshow", connect);
    connect();
  }

  // Values on hover. A plot says its scales at its axis, and each line has its places.
  const svg = "http://www.w3.org/2000/svg";
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  tip.setAttribute("aria-hidden", "true"); // the tables have the values
  document.body.append(tip);
  let drawn = [];

  function hide() {
    tip.hidden = true;
    for (const e of drawn) e.remove();
    drawn = [];
  }

  // value is what stands at a part of a scale: "linear 0 20", "log -3 1", "tail 0 4".
  function value(scale, at) {
    const [kind, low, high] = scale.split(" ");
    const v = Number(low) + at * (Number(high) - Number(low));
    if (kind === "log") return Math.pow(10, v);
    return kind === "tail" ? 1 - Math.pow(10, -v) : v;
  }

  const digits = v => Number(v.toPrecision(3)).toLocaleString("en", { maximumFractionDigits: 6 });

  // written is a value with the unit of its axis. Response times are in seconds.
  function written(v, title) {
    if (title.startsWith("response time")) {
      for (const [unit, of] of [["s", 1], ["ms", 1e-3]]) if (v >= of) return digits(v / of) + " " + unit;
      return digits(v / 1e-6) + " µs";
    }
    if (title === "percentile") return "p" + Number((100 * v).toPrecision(6));
    return digits(v);
  }

  // points are the places of a line's path.
  const points = path => Array.from(path.getAttribute("d").matchAll(/[ML](-?[\d.]+) (-?[\d.]+)/g), m => [Number(m[1]), Number(m[2])]);

  function nearest(list, x) {
    return list.reduce((best, p) => Math.abs(p[0] - x) < Math.abs(best[0] - x) ? p : best);
  }

  function line(plot, x, axis) {
    const e = document.createElementNS(svg, "line");
    for (const [k, v] of Object.entries({ x1: x, x2: x, y1: axis.dataset.top, y2: axis.getAttribute("y1"), class: "cursor" })) e.setAttribute(k, v);
    plot.append(e);
    drawn.push(e);
  }

  function dot(plot, [x, y]) {
    const e = document.createElementNS(svg, "circle");
    for (const [k, v] of Object.entries({ cx: x, cy: y, r: 3.5, class: "pick" })) e.setAttribute(k, v);
    plot.append(e);
    drawn.push(e);
  }

  function hover(e) {
    const plot = e.target.closest ? e.target.closest("svg.plot") : null;
    const axis = plot && plot.querySelector("line.axis[data-x]");
    hide();
    if (!axis) return;
    const at = new DOMPoint(e.clientX, e.clientY).matrixTransform(plot.getScreenCTM().inverse());
    const [left, right, top, bottom] = [axis.getAttribute("x1"), axis.getAttribute("x2"), axis.dataset.top, axis.getAttribute("y1")].map(Number);
    if (at.x < left - 4 || at.x > right + 4 || at.y < top || at.y > bottom) return;
    const titles = Array.from(plot.querySelectorAll("text.title"), t => t.textContent);
    const near = (right - left) / 8; // a line that is far from the cursor says nothing there
    const found = [];
    for (const path of plot.querySelectorAll("path.curve")) {
      const list = points(path);
      if (!list.length) continue;
      const p = nearest(list, at.x);
      if (Math.abs(p[0] - at.x) <= near) found.push({ name: path.dataset.name || "", of: path.getAttribute("class").slice("curve ".length), p });
    }
    if (!found.length) return;
    const x = nearest(found.map(f => f.p), at.x)[0];
    const marks = Array.from(plot.querySelectorAll("g.mark"), m => ({ p: m.getAttribute("transform").match(/-?[\d.]+/g).map(Number), of: m.getAttribute("class").slice("mark ".length), text: m.querySelector("title").textContent }));
    const lines = [];
    let read = false; // a mark says its value itself; of other places it is read from the scales
    for (const f of found.filter(f => Math.abs(f.p[0] - x) < 0.5)) {
      dot(plot, f.p);
      const mark = marks.find(m => m.of === f.of && Math.hypot(m.p[0] - f.p[0], m.p[1] - f.p[1]) < 1);
      if (mark) lines.push(mark.text);
      else lines.push((f.name + " " + written(value(axis.dataset.y, (bottom - f.p[1]) / (bottom - top)), titles[0] || "")).trim());
      read = read || !mark;
    }
    line(plot, x, axis);
    if (read) lines.push("at " + written(value(axis.dataset.x, (x - left) / (right - left)), titles[1] || "") + (titles[1] && titles[1] !== "percentile" ? " " + titles[1] : ""));
    tip.textContent = lines.join("\n");
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    tip.style.left = Math.max(4, Math.min(e.clientX + 14, innerWidth - box.width - 4)) + "px";
    tip.style.top = Math.max(4, e.clientY - box.height - 10) + "px";
  }

  document.addEventListener("pointermove", hover);
  document.addEventListener("pointerdown", hover);
  document.addEventListener("scroll", hide, { passive: true });
})();
