'use strict';
/* A flame graph's behaviour, in a file of its own and on a page. The data are rows [name, kind, self, total,
 * depth, line, before, level], a parent before its children; the first is the root. If nothing is compared,
 * `before` and `level` are missing; if lines are not shown, `line` is missing. Frames narrower than a third of a
 * pixel are not drawn.
 * flame() returns the functions that a page needs. */
const flame = (svg, data) => {
  const {names, kinds, colours, levels} = data, unit = ['', 'count'].includes(data.unit) ? '' : ' ' + data.unit;
  const ROW = 17, TOP = 76;
  const part = name => svg.querySelector('.' + name);
  const frames = part('frames'), now = part('now'), found = part('found');
  const number = n => n.toLocaleString('en-US');
  const share = (n, of) => (of ? 100 * n / of : 0).toFixed(n === of ? 0 : 2) + ' %';
  const escape = s => s.replace(/[&<>"]/g, c => ({'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;'})[c]);
  let tree, zoom = 0, at = 0, icicle = false, pattern = null, byLine = data.lines === 2;

  /* Adds the start of each frame, in units of the root's total, and the links of the tree. */
  function link(rows) {
    const t = {rows, parent: [], start: [], first: [], next: []};
    const open = [], filled = [], last = [];
    rows.forEach(([, , , total, depth], i) => {
      const up = depth ? open[depth - 1] : -1;
      t.parent[i] = up;
      t.start[i] = up < 0 ? 0 : t.start[up] + filled[up];
      filled[i] = 0;
      t.first[i] = t.next[i] = -1;
      if (up >= 0) {
        filled[up] += total;
        if (t.first[up] < 0) t.first[up] = i; else t.next[last[up]] = i;
        last[up] = i;
      }
      open[depth] = i;
    });
    return t;
  }

  const childrenOf = (t, i) => {
    const list = [];
    for (let c = t.first[i]; c >= 0; c = t.next[c]) list.push(c);
    return list;
  };

  /* Merges siblings of the same function, then their callees, and so on. */
  function byFunction(t) {
    const rows = [];
    const merge = (list, depth) => {
      const groups = new Map();
      for (const i of list) {
        const key = t.rows[i][0] * 64 + t.rows[i][1];
        if (groups.has(key)) groups.get(key).push(i); else groups.set(key, [i]);
      }
      const sum = (g, column) => g.reduce((n, i) => n + t.rows[i][column], 0);
      const sorted = [...groups.values()].map(g => [sum(g, 3), g]).sort((a, b) => b[0] - a[0]);
      for (const [total, g] of sorted) {
        const [name, kind] = t.rows[g[0]];
        rows.push([name, kind, sum(g, 2), total, depth, 0]);
        merge(g.flatMap(i => childrenOf(t, i)), depth + 1);
      }
    };
    merge([0], 0);
    return link(rows);
  }

  const trees = [null, link(data.rows)];
  const choose = () => {
    if (data.lines && !byLine) trees[0] = trees[0] || byFunction(trees[1]);
    tree = trees[data.lines && !byLine ? 0 : 1];
  };
  const row = i => tree.rows[i];
  const nameOf = i => names[row(i)[0]] + (row(i)[5] ? ':' + row(i)[5] : '');
  const matches = i => pattern && pattern.test(nameOf(i));
  const percent = n => (n > 0 ? '+' : '') + n.toFixed(2);

  /* Two recordings: the shares, and their difference. */
  function comparison(i) {
    const after = 100 * row(i)[3] / row(0)[3], before = row(0)[6] ? 100 * row(i)[6] / row(0)[6] : 0;
    return `, ${before.toFixed(2)} % before (${percent(after - before)})`;
  }

  function describe(i) {
    const [, kind, self, total] = row(i), all = row(0)[3];
    let text = `${nameOf(i)} — ${number(total)}${unit} (${share(total, all)}), self ${number(self)}`;
    if (zoom) text += `, ${share(total, row(zoom)[3])} of ${nameOf(zoom)}`;
    if (levels) text += comparison(i);
    return text + ` — ${kinds[kind]}`;
  }

  function visible() {
    const width = svg.clientWidth || 1200, base = row(zoom), least = base[3] / width / 3, list = [];
    for (let up = tree.parent[zoom]; up >= 0; up = tree.parent[up]) list.push(up);
    const walk = i => {
      if (row(i)[3] < least) return;
      list.push(i);
      for (let c = tree.first[i]; c >= 0; c = tree.next[c]) walk(c);
    };
    walk(zoom);
    return list;
  }

  const colourOf = i => levels ? levels[row(i)[7] + (levels.length >> 1)] :
    colours[row(i)[1]][row(i)[0] % colours[row(i)[1]].length];

  function draw() {
    const list = visible(), base = row(zoom)[3], from = tree.start[zoom];
    const deepest = list.reduce((n, i) => Math.max(n, row(i)[4]), 0), width = svg.clientWidth || 1200;
    let out = '';
    for (const i of list) {
      const [, , , total, depth] = row(i), around = depth < row(zoom)[4];
      const x = around ? 0 : 100 * (tree.start[i] - from) / base, w = around ? 100 : 100 * total / base;
      const y = TOP + ROW * (icicle ? depth : deepest - depth), fits = Math.floor((w * width / 100 - 6) / 6);
      const name = fits > 2 ? nameOf(i).slice(0, fits + 40) : '';
      const cls = (matches(i) ? ' hit' : '') + (i === at ? ' at' : '');
      out += `<svg class="f${cls}" data-i="${i}" x="${x.toFixed(4)}%" y="${y}" width="${w.toFixed(4)}%" height="${ROW}"` +
        `${around ? ' opacity=".55"' : ''}><rect fill="${colourOf(i)}"/>` +
        (name ? `<text x="3" y="12.5">${escape(name)}</text>` : '') + '</svg>';
    }
    frames.innerHTML = out;
    svg.setAttribute('height', TOP + ROW * (deepest + 1) + 10);
    showFound();
  }

  /* Shows the share of the total below the found frames: nested ones count once. */
  function showFound() {
    if (!pattern) { found.textContent = ''; return; }
    let sum = 0, n = 0;
    const walk = i => {
      if (matches(i)) { sum += row(i)[3]; n++; return; }
      for (let c = tree.first[i]; c >= 0; c = tree.next[c]) walk(c);
    };
    walk(0);
    found.textContent = `${pattern.source}: ${share(sum, row(0)[3])} in ${number(n)} place${n === 1 ? '' : 's'}`;
  }

  function show(i) { at = i; now.textContent = describe(i); }
  function zoomTo(i) { zoom = i; show(i); draw(); }
  function search(text) {
    try { pattern = text ? new RegExp(text, 'i') : null; } catch (e) { pattern = null; draw(); found.textContent = e.message; return; }
    draw();
  }
  function ask() {
    const text = window.prompt('Functions that match (regular expression):', pattern ? pattern.source : '');
    if (text !== null) search(text);
  }
  function flip() { icicle = !icicle; draw(); }
  function split() {
    if (!data.lines) return;
    byLine = !byLine;
    choose();
    part('lines').textContent = byLine ? 'Functions' : 'Lines';
    zoomTo(0);
  }
  function reset() { pattern = null; zoomTo(0); }

  const frameOf = e => { const f = e.target.closest('.f'); return f ? +f.dataset.i : -1; };
  frames.addEventListener('click', e => { const i = frameOf(e); if (i >= 0) zoomTo(i); });
  frames.addEventListener('mouseover', e => { const i = frameOf(e); if (i >= 0) now.textContent = describe(i); });
  frames.addEventListener('mouseout', () => { now.textContent = describe(at); });
  for (const [name, f] of [['search', ask], ['reset', reset], ['flip', flip], ['lines', split]])
    part(name).addEventListener('click', f);

  const sibling = back => {
    if (!back) return tree.next[at];
    let c = tree.parent[at] < 0 ? -1 : tree.first[tree.parent[at]];
    for (; c >= 0 && tree.next[c] !== at; c = tree.next[c]) ;
    return c;
  };
  const moves = {
    ArrowUp: () => icicle ? tree.parent[at] : tree.first[at],
    ArrowDown: () => icicle ? tree.first[at] : tree.parent[at],
    ArrowLeft: () => sibling(true), ArrowRight: () => sibling(false),
  };
  const keys = {Enter: () => zoomTo(at), Escape: reset, '/': ask, i: flip, l: split,
    Backspace: () => zoomTo(Math.max(0, tree.parent[zoom]))};
  document.addEventListener('keydown', e => {
    if (e.ctrlKey || e.metaKey || e.altKey || !svg.clientWidth || /^(INPUT|SELECT)$/.test(e.target.tagName)) return;
    if (moves[e.key]) { const i = moves[e.key](); if (i >= 0) { show(i); draw(); } }
    else if (keys[e.key]) keys[e.key]();
    else return;
    e.preventDefault();
  });
  window.addEventListener('resize', () => { if (svg.clientWidth) draw(); });
  choose();
  icicle = TOP + ROW * (visible().reduce((n, i) => Math.max(n, row(i)[4]), 0) + 3) > window.innerHeight;
  svg.querySelectorAll('.script').forEach(e => e.removeAttribute('visibility'));
  if (!data.lines) part('lines').setAttribute('visibility', 'hidden');
  if (byLine) part('lines').textContent = 'Functions';
  const note = now.textContent;
  show(0);
  if (note) now.textContent += ' — ' + note;
  draw();
  return {search, tree: () => tree, nameOf, number, share, escape};
};
