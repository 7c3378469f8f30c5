'use strict';
/* The flame graph's behaviour. The data are rows [name, kind, self, total, depth], a parent before its
 * children; the first is the root. What is narrower than a third of a pixel is not drawn. */
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const {names, rows, kinds, colours, unit, title} = data;
  const svg = document.documentElement, frames = document.getElementById('frames');
  const now = document.getElementById('now'), found = document.getElementById('found');
  const ROW = 17, TOP = 58, NS = 'http://www.w3.org/2000/svg';
  const parent = [], start = [], first = [], next = [];
  let zoom = 0, at = 0, icicle = false, pattern = null;

  /* Where each begins, in units of the root's total; the links of the tree. */
  const open = [], filled = [], last = [];
  rows.forEach(([, , , total, depth], i) => {
    open.length = depth;
    const up = depth ? open[depth - 1] : -1;
    parent[i] = up;
    start[i] = up < 0 ? 0 : start[up] + filled[up];
    filled[i] = 0;
    first[i] = next[i] = -1;
    if (up >= 0) {
      filled[up] += total;
      if (first[up] < 0) first[up] = i; else next[last[up]] = i;
      last[up] = i;
    }
    open[depth] = i;
  });

  const nameOf = i => names[rows[i][0]];
  const number = n => n.toLocaleString('en-US');
  const share = (n, of) => (100 * n / of).toFixed(n === of ? 0 : 2) + ' %';
  const escape = s => s.replace(/[&<>"]/g, c => ({'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;'})[c]);
  const matches = i => pattern && pattern.test(nameOf(i));

  function describe(i) {
    const [, kind, self, total] = rows[i], all = rows[0][3];
    let text = `${nameOf(i)} — ${number(total)}${unit} (${share(total, all)}), self ${number(self)}`;
    if (zoom) text += `, ${share(total, rows[zoom][3])} of ${nameOf(zoom)}`;
    return text + ` — ${kinds[kind]}`;
  }

  function visible() {
    const width = svg.clientWidth || 1200, base = rows[zoom], least = base[3] / width / 3, list = [];
    for (let up = parent[zoom]; up >= 0; up = parent[up]) list.push(up);
    const walk = i => {
      if (rows[i][3] < least) return;
      list.push(i);
      for (let c = first[i]; c >= 0; c = next[c]) walk(c);
    };
    walk(zoom);
    return list;
  }

  function draw() {
    const list = visible(), base = rows[zoom][3], from = start[zoom];
    const deepest = Math.max(...list.map(i => rows[i][4]));
    let out = '';
    for (const i of list) {
      const [name, kind, , total, depth] = rows[i], around = depth < rows[zoom][4];
      const x = around ? 0 : 100 * (start[i] - from) / base, w = around ? 100 : 100 * total / base;
      const y = TOP + ROW * (icicle ? depth : deepest - depth);
      const cls = (matches(i) ? ' hit' : '') + (i === at ? ' at' : '');
      out += `<svg class="f${cls}" data-i="${i}" x="${x.toFixed(4)}%" y="${y}" width="${w.toFixed(4)}%" height="${ROW}"` +
        `${around ? ' opacity=".55"' : ''}><rect fill="${colours[kind][name % colours[kind].length]}"/>` +
        (w * (svg.clientWidth || 1200) > 2200 ? `<text x="3" y="12.5">${escape(names[name])}</text>` : '') + '</svg>';
    }
    frames.innerHTML = out;
    svg.setAttribute('height', TOP + ROW * (deepest + 1) + 10);
    search();
  }

  /* How much of the total is below what was found: nested hits count once. */
  function search() {
    if (!pattern) { found.textContent = ''; return; }
    let sum = 0, n = 0;
    const walk = i => {
      if (matches(i)) { sum += rows[i][3]; n++; return; }
      for (let c = first[i]; c >= 0; c = next[c]) walk(c);
    };
    walk(0);
    found.textContent = `${pattern.source}: ${share(sum, rows[0][3])} in ${number(n)} place${n === 1 ? '' : 's'}`;
  }

  function show(i) { at = i; now.textContent = describe(i); }
  function zoomTo(i) { zoom = i; show(i); draw(); }
  function ask() {
    const text = window.prompt('Functions that match (regular expression):', pattern ? pattern.source : '');
    if (text === null) return;
    try { pattern = text ? new RegExp(text, 'i') : null; } catch (e) { pattern = null; found.textContent = e.message; return; }
    draw();
  }
  function flip() { icicle = !icicle; draw(); }

  const frameOf = e => { const f = e.target.closest('.f'); return f ? +f.dataset.i : -1; };
  frames.addEventListener('click', e => { const i = frameOf(e); if (i >= 0) zoomTo(i); });
  frames.addEventListener('mouseover', e => { const i = frameOf(e); if (i >= 0) now.textContent = describe(i); });
  frames.addEventListener('mouseout', () => { now.textContent = describe(at); });
  document.getElementById('search').addEventListener('click', ask);
  document.getElementById('reset').addEventListener('click', () => { pattern = null; zoomTo(0); });
  document.getElementById('flip').addEventListener('click', flip);
  document.addEventListener('keydown', e => {
    const sibling = back => {
      let c = parent[at] < 0 ? -1 : first[parent[at]];
      if (!back) return next[at];
      for (; c >= 0 && next[c] !== at; c = next[c]) ;
      return c;
    };
    const moves = {
      ArrowUp: () => icicle ? parent[at] : first[at], ArrowDown: () => icicle ? first[at] : parent[at],
      ArrowLeft: () => sibling(true), ArrowRight: () => sibling(false),
    };
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (moves[e.key]) { const i = moves[e.key](); if (i >= 0) { show(i); draw(); } }
    else if (e.key === 'Enter') zoomTo(at);
    else if (e.key === 'Escape') { pattern = null; zoomTo(0); }
    else if (e.key === '/') ask();
    else if (e.key === 'i') flip();
    else return;
    e.preventDefault();
  });
  window.addEventListener('resize', draw);
  icicle = TOP + ROW * (Math.max(...visible().map(i => rows[i][4])) + 3) > window.innerHeight;
  document.querySelectorAll('.script').forEach(e => e.removeAttribute('visibility'));
  zoomTo(0);
})();
