// SPDX-License-Identifier: Apache-2.0
// server.js - an HTTP server that parses and makes JSON and fills templates: load.py.
'use strict';
const http = require('http');

class Item {
  constructor(id) { this.id = id; this.name = `item ${id}`; this.tags = makeTags(id); }
  get price() { return priceOf(this); }
  toJSON() { return { id: this.id, name: this.name, price: this.price, tags: this.tags }; }
}
function makeTags(id) {
  const tags = [];
  for (let i = 0; i < id % 7 + 3; i++)
    tags.push('t' + (id * 31 + i) % 97);
  return tags;
}
function priceOf(item) {
  let p = 0;
  for (let i = 0; i < 12; i++)
    p = (p * 31 + item.id + i) % 10007;
  return p / 100;
}

const escapes = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
function escapeHtml(text) { return String(text).replace(/[&<>]/g, (c) => escapes[c]); }
// "{{name}}" becomes a property: compiled once to closures.
function compile(template) {
  const parts = template.split(/\{\{(\w+)\}\}/);
  return parts.map((p, i) => i % 2 ? (o) => escapeHtml(o[p]) : () => p);
}
const row = compile('<tr><td>{{id}}</td><td>{{name}}</td><td>{{price}}</td><td>{{tags}}</td></tr>\n');
function fill(parts, object) { return parts.map((part) => part(object)).join(''); }
function page(items) { return '<table>' + items.map((i) => fill(row, i)).join('') + '</table>'; }

function sortItems(items) { return items.sort((a, b) => a.price - b.price || a.id - b.id); }
function search(query) {
  const items = [];
  for (let i = 0; i < query.count; i++)
    items.push(new Item(query.from + i));
  return sortItems(items);
}
function checksum(text) {
  let h = 0;
  for (let i = 0; i < text.length; i++)
    h = (h * 33 + text.charCodeAt(i)) | 0;
  return h;
}
async function answer(request, body) {
  const query = JSON.parse(body);
  const items = search(query);
  const text = query.json ? JSON.stringify(items) : page(items);
  await null;
  return [text, checksum(text)];
}
const server = http.createServer((request, response) => {
  let body = '';
  request.on('data', (data) => { body += data; });
  request.on('end', async () => {
    const [text, sum] = await answer(request, body);
    response.setHeader('x-checksum', sum);
    response.end(text);
  });
});

// Prints the port; serves until standard input ends.
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.stdin.resume().on('end', () => process.exit());
