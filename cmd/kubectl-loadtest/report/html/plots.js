// Shows values in the plots of a page, by pointer and by keyboard, and zooms. Without it each line
// and mark has its values as a title, and the tables have them all.
"use strict";

(() => {
  const ns = "http://www.w3.org/2000/svg";
  const tip = Object.assign(document.createElement("div"), { className: "tip", hidden: true });
  tip.setAttribute("aria-hidden", "true"); // what follows is read instead
  const spoken = Object.assign(document.createElement("div"), { className: "hidden" });
  spoken.setAttribute("role", "status");
  document.body.append(tip, spoken);
  let drawn = [], drag = null;
  const whole = new WeakMap(), at = new WeakMap(); // of a plot: its content before it was zoomed, and the place that is read

  function hide() {
    tip.hidden = true;
    for (const e of drawn) e.remove();
    drawn = [];
  }

  function add(plot, name, attributes, text) {
    const e = document.createElementNS(ns, name);
    for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
    if (text) e.textContent = text;
    plot.append(e);
    return e;
  }

  const draw = (plot, name, attributes) => drawn.push(add(plot, name, attributes));

  // frame is where a plot's axes are, and their titles.
  function frame(plot) {
    const axis = plot && plot.querySelector("line.axis[data-x]");
    if (!axis) return null;
    const [left, right, top, bottom] = [axis.getAttribute("x1"), axis.getAttribute("x2"), axis.dataset.top, axis.getAttribute("y1")].map(Number);
    const [y, x] = Array.from(plot.querySelectorAll("text.title"), t => t.textContent.replace(", logarithmic", ""));
    return { axis, left, right, top, bottom, x: x || "", y: y || "" };
  }

  // value is what stands at a part of a scale: "linear 0 20", "log -3 1", "tail 0 4".
  function value(scale, part) {
    const [kind, low, high] = scale.split(" ");
    const v = Number(low) + part * (Number(high) - Number(low));
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

  const xOf = (f, x) => written(value(f.axis.dataset.x, (x - f.left) / (f.right - f.left)), f.x);

  // points are the places of a line's path that can be seen.
  const points = (path, f) => Array.from(path.getAttribute("d").matchAll(/[ML](-?[\d.]+) (-?[\d.]+)/g), m => [Number(m[1]), Number(m[2])])
    .filter(p => p[0] >= f.left - 0.5 && p[0] <= f.right + 0.5);

  const nearest = (list, x) => list.reduce((best, p) => Math.abs(p[0] - x) < Math.abs(best[0] - x) ? p : best);

  // read shows the values beside a place of a plot, and returns them.
  function read(plot, f, x) {
    hide();
    const near = (f.right - f.left) / 8; // a line that is far away says nothing here
    const found = [];
    for (const path of plot.querySelectorAll("path.curve")) {
      const list = points(path, f);
      if (!list.length) continue;
      const p = nearest(list, x);
      if (Math.abs(p[0] - x) <= near) found.push({ name: path.dataset.name || "", of: path.getAttribute("class").slice("curve ".length), p });
    }
    if (!found.length) return "";
    x = nearest(found.map(f => f.p), x)[0];
    const marks = Array.from(plot.querySelectorAll("g.mark"), m => ({ p: m.getAttribute("transform").match(/-?[\d.]+/g).map(Number), of: m.getAttribute("class").slice("mark ".length), text: m.querySelector("title").textContent }));
    const lines = [];
    let scaled = false; // a mark says its value itself; of other places it is read from the scales
    for (const { name, of, p } of found.filter(l => Math.abs(l.p[0] - x) < 0.5)) {
      draw(plot, "circle", { cx: p[0], cy: p[1], r: 3.5, class: "pick" });
      const mark = marks.find(m => m.of === of && Math.hypot(m.p[0] - p[0], m.p[1] - p[1]) < 1);
      lines.push(mark ? mark.text : (name + " " + written(value(f.axis.dataset.y, (f.bottom - p[1]) / (f.bottom - f.top)), f.y)).trim());
      scaled = scaled || !mark;
    }
    draw(plot, "line", { x1: x, x2: x, y1: f.top, y2: f.bottom, class: "cursor" });
    if (scaled) lines.push("at " + xOf(f, x) + (f.x === "percentile" ? "" : " " + f.x));
    at.set(plot, x);
    const place = new DOMPoint(x, f.top).matrixTransform(plot.getScreenCTM());
    tip.textContent = lines.join("\n");
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    tip.style.left = Math.max(4, Math.min(place.x + 10, innerWidth - box.width - 4)) + "px";
    tip.style.top = Math.max(4, place.y) + "px";
    return lines.join(", ");
  }

  // zoom shows what is between two places of the X axis over the whole width.
  function zoom(plot, from, to) {
    hide();
    const f = frame(plot);
    if (!f || to - from < 4) return;
    if (!whole.has(plot)) whole.set(plot, plot.innerHTML);
    const moved = x => f.left + (Number(x) - from) / (to - from) * (f.right - f.left);
    const inside = x => x >= f.left - 0.5 && x <= f.right + 0.5;
    const clip = "clip-" + Array.from(document.querySelectorAll("svg.plot")).indexOf(plot);
    for (const old of plot.querySelectorAll("clipPath, .tick.middle, .label:not(.rule)")) old.remove();
    add(add(plot, "clipPath", { id: clip }), "rect", { x: f.left, y: f.top - 6, width: f.right - f.left, height: f.bottom - f.top + 12 });
    for (const path of plot.querySelectorAll("path.curve, path.band")) {
      path.setAttribute("d", path.getAttribute("d").replace(/([MLH])(-?[\d.]+)/g, (_, c, x) => c + moved(x).toFixed(1)));
      path.setAttribute("clip-path", "url(#" + clip + ")");
    }
    for (const mark of plot.querySelectorAll("g.mark")) {
      const [x, y] = mark.getAttribute("transform").match(/-?[\d.]+/g).map(Number);
      mark.setAttribute("transform", "translate(" + moved(x).toFixed(1) + " " + y + ")");
      mark.setAttribute("visibility", inside(moved(x)) ? "visible" : "hidden");
    }
    for (const r of plot.querySelectorAll("rect.beyond")) {
      const [a, b] = [moved(r.getAttribute("x")), moved(Number(r.getAttribute("x")) + Number(r.getAttribute("width")))].map(x => Math.min(Math.max(x, f.left), f.right));
      r.setAttribute("x", a);
      r.setAttribute("width", b - a);
    }
    for (const e of plot.querySelectorAll("line.rule, text.rule, text.tick:not(.end)")) {
      const name = e.hasAttribute("x1") ? ["x1", "x2"] : ["x"], x = moved(e.getAttribute(name[0]));
      for (const n of name) e.setAttribute(n, x);
      e.setAttribute("visibility", inside(x) ? "visible" : "hidden");
    }
    const [kind, low, high] = f.axis.dataset.x.split(" "), scaled = x => Number(low) + (x - f.left) / (f.right - f.left) * (Number(high) - Number(low));
    f.axis.dataset.x = [kind, scaled(from), scaled(to)].join(" ");
    for (const x of [f.left, (f.left + f.right) / 2, f.right]) add(plot, "text", { class: "tick middle", x, y: f.bottom + 18 }, xOf(f, x));
    at.delete(plot);
  }

  function restore(plot) {
    hide();
    if (!whole.has(plot)) return;
    plot.innerHTML = whole.get(plot); // it came with the page
    whole.delete(plot);
    at.delete(plot);
  }

  // under is the plot below the pointer, and the pointer's place in it; null: there is none.
  function under(e, plot) {
    plot = plot || (e.target.closest ? e.target.closest("svg.plot") : null);
    const f = frame(plot);
    if (!f) return null;
    const p = new DOMPoint(e.clientX, e.clientY).matrixTransform(plot.getScreenCTM().inverse());
    return { plot, f, x: p.x, inside: p.x >= f.left - 4 && p.x <= f.right + 4 && p.y >= f.top && p.y <= f.bottom };
  }

  const between = (f, a, b) => [Math.max(f.left, Math.min(a, b)), Math.min(f.right, Math.max(a, b))];
  const farEnough = 8; // what is shorter is a click

  document.addEventListener("pointermove", e => {
    const u = under(e, drag && drag.plot);
    if (!u || !drag && !u.inside) return hide();
    if (!drag || Math.abs(u.x - drag.x) < farEnough) return void read(u.plot, u.f, u.x);
    hide();
    const [from, to] = between(u.f, drag.x, u.x);
    draw(u.plot, "rect", { class: "selected", x: from, y: u.f.top, width: Math.max(0, to - from), height: u.f.bottom - u.f.top });
  });
  document.addEventListener("pointerdown", e => {
    const u = under(e);
    if (!u || !u.inside) return hide();
    read(u.plot, u.f, u.x);
    if (e.pointerType === "mouse" && e.button === 0) { // a finger that is drawn scrolls
      drag = { plot: u.plot, x: u.x };
      e.preventDefault();
      u.plot.focus({ preventScroll: true });
    }
  });
  document.addEventListener("pointerup", e => {
    const u = drag && under(e, drag.plot), start = drag;
    drag = null;
    if (u && Math.abs(u.x - start.x) >= farEnough) zoom(u.plot, ...between(u.f, start.x, u.x));
  });
  document.addEventListener("dblclick", e => { const u = under(e); if (u) restore(u.plot); });
  document.addEventListener("focusout", hide);
  document.addEventListener("scroll", hide, { passive: true });
  document.addEventListener("replaced", () => { if (drawn.some(e => !e.isConnected)) hide(); });

  document.addEventListener("keydown", e => {
    const plot = e.target, f = plot.matches && plot.matches("svg.plot") ? frame(plot) : null;
    if (!f || e.ctrlKey || e.metaKey || e.altKey) return;
    const places = [...new Set(Array.from(plot.querySelectorAll("path.curve"), p => points(p, f).map(q => q[0])).flat())].sort((a, b) => a - b);
    const now = at.has(plot) ? at.get(plot) : f.left - 1, width = (f.right - f.left) / 4;
    const to = { ArrowRight: places.find(x => x > now + 0.5), ArrowLeft: places.findLast(x => x < now - 0.5), Home: places[0], End: places.at(-1) };
    if (e.key in to) {
      const x = to[e.key] === undefined ? now : to[e.key];
      spoken.textContent = read(plot, f, x);
    } else if (e.key === "+") {
      const center = Math.min(Math.max(now, f.left + width), f.right - width);
      zoom(plot, center - width, center + width);
      spoken.textContent = "From " + xOf(frame(plot), f.left) + " to " + xOf(frame(plot), f.right) + " " + f.x;
    } else if (e.key === "-" || e.key === "Escape") {
      restore(plot);
      spoken.textContent = "All of the plot";
    } else return;
    e.preventDefault();
  });
})();
