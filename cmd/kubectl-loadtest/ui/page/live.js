// Keeps an open page up to date. Without it the pages work, and are loaded anew by a meta refresh.
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
  // what is unfolded, how far a table is scrolled.
  function replace(part) {
    const old = document.getElementById("part-" + part.name);
    if (!old || old.dataset.digest === part.digest) return;
    const marked = new Set(Array.from(old.querySelectorAll("input:checked"), i => i.value));
    const scrolled = Array.from(old.querySelectorAll(".scroll, pre"), s => [s.scrollLeft, s.scrollTop]);
    const focused = old.contains(document.activeElement) ? path(old, document.activeElement) : null;
    const open = Array.from(old.querySelectorAll("details"), d => d.open);
    old.innerHTML = part.html; // the server has escaped what is not its own
    old.dataset.digest = part.digest;
    for (const i of old.querySelectorAll("input[type=checkbox]")) i.checked = marked.has(i.value);
    old.querySelectorAll(".scroll, pre").forEach((s, n) => { if (scrolled[n]) [s.scrollLeft, s.scrollTop] = scrolled[n]; });
    old.querySelectorAll("details").forEach((d, n) => { d.open = open[n]; });
    document.dispatchEvent(new Event("replaced"));
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
})();
