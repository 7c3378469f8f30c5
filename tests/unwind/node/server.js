// SPDX-License-Identifier: Apache-2.0
// server.js - an HTTP server that parses and makes JSON and fills templates, and its clients, in one
// process, for SECONDS: load.py.
//
//     node server.js SECONDS      prints the number of requests
'use strict';
const http = require('http');

const seconds = Number(process.argv[2]);
let seed = 7, served = 0;
const random = (n) => (seed = (seed * 48271) % 2147483647) % n;

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

const agent = new http.Agent({ keepAlive: true, maxSockets: 8 });
function ask() {
  const body = JSON.stringify({ from: random(10000), count: 20 + random(40), json: random(2) });
  const request = http.request({ port: server.address().port, agent, method: 'POST' }, (response) => {
    let size = 0;
    response.on('data', (data) => { size += data.length; });
    response.on('end', () => { served += size > 0; Date.now() < end ? ask() : finish(); });
  });
  request.end(body);
}
let running = 8;
function finish() {
  if (--running)
    return;
  agent.destroy();
  server.close();
  console.log(served);
}
const end = Date.now() + 1000 * seconds;
server.listen(0, () => { for (let i = 0; i < 8; i++) ask(); });
