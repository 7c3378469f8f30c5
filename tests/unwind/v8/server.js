// SPDX-License-Identifier: Apache-2.0
// server.js ADDON - an HTTP server for load.py that parses and makes JSON and fills templates. At its end it prints
// the CPU time of its thread for each part of the requests and for the rest, by the kernel's clock.
'use strict';
const { cpu } = require(process.argv[2]);
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
function makeText(query, items) { return query.json ? JSON.stringify(items) : page(items); }
function parse(body) { return JSON.parse(body); }
const spent = { parse: 0, search: 0, makeText: 0, checksum: 0 };
async function answer(request, body) {
  requests++;
  const t0 = cpu();
  const query = parse(body);
  const t1 = cpu();
  const items = search(query);
  const t2 = cpu();
  const text = makeText(query, items);
  const t3 = cpu();
  await null;
  const t4 = cpu();
  const sum = checksum(text);
  const t5 = cpu();
  spent.parse += t1 - t0;
  spent.search += t2 - t1;
  spent.makeText += t3 - t2;
  spent.checksum += t5 - t4;
  return [text, sum];
}
let begun = 0, requests = 0;
// The time of one look at the clock, by the same clock: each part contains one.
function lookTakes() {
  const n = 100000, t = cpu();
  for (let i = 0; i < n; i++)
    cpu();
  return (cpu() - t) / n;
}
const server = http.createServer((request, response) => {
  let body = '';
  begun ||= cpu();
  request.on('data', (data) => { body += data; });
  request.on('end', async () => {
    const [text, sum] = await answer(request, body);
    response.setHeader('x-checksum', sum);
    response.end(text);
  });
});

// Prints the port; serves until standard input ends.
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.stdin.resume().on('end', () => {
  const all = cpu() - begun, looks = requests * lookTakes();
  for (const part in spent)
    spent[part] -= looks;
  const rest = all - Object.values(spent).reduce((a, b) => a + b);
  console.log(JSON.stringify({ ...spent, rest }));
  process.exit();
});
