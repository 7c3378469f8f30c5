/* The page around the flame graphs: a tab for each map, the functions, their callers and callees. Rows of
 * functions are [name, kind, self, total], in a comparison [.., self before, total before]. */
(() => {
  const ROWS = 200;
  const nav = document.querySelector('nav'), tabs = [...document.querySelectorAll('.tab')];
  const make = (name, cls, text) => {
    const e = document.createElement(name);
    if (cls) e.className = cls;
    if (text !== undefined) e.textContent = text;
    return e;
  };
  const jsonOf = (tab, cls) => JSON.parse(tab.querySelector('script.' + cls).textContent);
  const number = n => n.toLocaleString('en-US');
  const percent = (n, of) => (of ? 100 * n / of : 0).toFixed(2) + ' %';

  /* A table that a click on a column sorts (first: the column by which it is sorted at first; null: as it is): columns are [title, value of a row, text of a row]. */
  function table(columns, rows, total, choose, first = 1) {
    const t = make('table'), head = make('tr'), body = make('tbody'), headings = make('thead');
    let by = first, most = ROWS, shown = rows;
    const fill = () => {
      body.textContent = '';
      const order = by === null ? shown : [...shown].sort((a, b) => columns[by].value(b) - columns[by].value(a));
      for (const r of order.slice(0, most)) {
        const line = make('tr');
        for (const c of columns) {
          const cell = make('td', c.cls || '', c.text(r));
          if (c.share) { cell.classList.add('share'); cell.style.setProperty('--part', percent(c.value(r), total).replace(' ', '')); }
          if (c.cls === 'name') cell.title = c.text(r);
          line.append(cell);
        }
        line.dataset.name = r[0];
        line.addEventListener('click', () => choose(r[0]));
        body.append(line);
      }
      if (order.length > most) {
        const line = make('tr'), cell = make('td', 'name quiet', `${number(order.length - most)} more`);
        cell.colSpan = columns.length;
        line.append(cell);
        line.addEventListener('click', () => { most *= 10; fill(); });
        body.append(line);
      }
    };
    columns.forEach((c, i) => {
      const cell = make('th', c.cls || '', c.title);
      if (c.value) cell.addEventListener('click', () => { by = i; fill(); });
      head.append(cell);
    });
    headings.append(head);
    t.append(headings, body);
    fill();
    return {element: t, filter: pattern => { shown = pattern ? rows.filter(r => pattern.test(r[0])) : rows; fill(); }};
  }

  function columnsOf(f) {
    const columns = [
      {title: 'function', cls: 'name', value: null, text: r => r[0]},
      {title: 'total', value: r => r[3], text: r => percent(r[3], f.total), share: true},
      {title: 'self', value: r => r[2], text: r => percent(r[2], f.total), share: true},
    ];
    const change = (r, now, before) => 100 * r[now] / f.total - (f.before ? 100 * r[before] / f.before : 0);
    const signed = n => (n > 0 ? '+' : '') + n.toFixed(2);
    if (!f.before) {
      columns.push({title: 'number', value: r => r[3], text: r => number(r[3])});
    } else {
      columns.push({title: 'total: change', value: r => change(r, 3, 5), text: r => signed(change(r, 3, 5))});
      columns.push({title: 'self: change', value: r => change(r, 2, 4), text: r => signed(change(r, 2, 4))});
    }
    return columns;
  }

  /* Lists callers and callees of a function, from the graph; a recursive call counts once. */
  function around(tree, names, name) {
    const callers = new Map(), callees = new Map();
    const add = (map, key, n) => map.set(key, (map.get(key) || 0) + n);
    const walk = (i, within) => {
      const own = names[tree.rows[i][0]] === name;
      if (own && !within && tree.parent[i] > 0) add(callers, names[tree.rows[tree.parent[i]][0]], tree.rows[i][3]);
      for (let c = tree.first[i]; c >= 0; c = tree.next[c]) {
        const callee = names[tree.rows[c][0]];
        if (own && callee !== name) add(callees, callee, tree.rows[c][3]);
        walk(c, within || own);
      }
    };
    walk(0, false);
    const list = map => [...map].map(([key, n]) => [key, 0, 0, n]);
    return [list(callers), list(callees)];
  }

  function open(tab) {
    const data = jsonOf(tab, 'data'), f = jsonOf(tab, 'functions');
    const graph = flame(tab.querySelector('svg.flame'), data);
    const below = make('div', 'below'), left = make('div', 'hottest'), right = make('div', 'around');
    const input = make('input');
    const choose = name => {
      const [callers, callees] = around(graph.tree(), data.names, name);
      const columns = columnsOf(f).filter(c => ['function', 'total', 'number'].includes(c.title));
      const row = f.list.find(r => r[0] === name);
      right.textContent = '';
      right.append(make('h2', '', name), make('p', 'quiet', row ?
        `total ${number(row[3])} (${percent(row[3], f.total)}), self ${number(row[2])} (${percent(row[2], f.total)})` : ''));
      for (const [title, cls, list] of [['Called by', 'callers', callers], ['Calls', 'callees', callees]]) {
        const part = make('div', cls);
        part.append(make('h2', '', title), table(columns, list, f.total, choose).element);
        right.append(part);
      }
      left.querySelectorAll('tr').forEach(r => r.classList.toggle('chosen', r.dataset.name === name));
    };
    const hottest = table(columnsOf(f), f.list, f.total, choose, f.before ? 3 : null);
    input.placeholder = 'Filter and highlight functions (regular expression)';
    input.addEventListener('input', () => {
      let pattern = null;
      try { pattern = input.value ? new RegExp(input.value, 'i') : null; } catch { return; }
      hottest.filter(pattern);
      graph.search(input.value);
    });
    left.append(input, hottest.element);
    if (f.left_out) left.append(make('p', 'quiet', `${number(f.left_out)} functions with the least are left out`));
    right.append(make('p', 'quiet', 'Click a function to see who calls it and what it calls.'));
    below.append(left, right);
    tab.append(below);
  }

  function show(i) {
    tabs.forEach((tab, k) => tab.classList.toggle('chosen', k === i));
    [...nav.children].forEach((b, k) => b.classList.toggle('chosen', k === i));
    if (!tabs[i].dataset.open) { tabs[i].dataset.open = 'yes'; open(tabs[i]); }
  }

  tabs.forEach((tab, i) => {
    const b = make('button', '', tab.dataset.title);
    b.addEventListener('click', () => show(i));
    nav.append(b);
  });
  if (tabs.length) show(0);
})();
