// SPDX-License-Identifier: Apache-2.0
// steps.js - uses many of V8's builtins and compilers in an endless loop; steps.py steps it by
// instructions from the first os.getPriority() on.
//
//     node steps.js ROUNDS      works ROUNDS rounds before that: V8 compiles hot functions
'use strict';
const os = require('os');

class Point {
  #z = 1;
  constructor(x, y) { this.x = x; this.y = y; }
  get length() { return Math.hypot(this.x, this.y, this.#z); }
  set length(n) { this.x = n; }
  add(other) { return new Point(this.x + other.x, this.y + other.y); }
  static zero() { return new Point(0, 0); }
}
class Named extends Point {
  constructor(name, ...rest) { super(...rest); this.name = name; }
  add(other) { return super.add(other).length; }
}

function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
function* count(n) { for (let i = 0; i < n; i++) yield i; }
function sum() { let s = 0; for (const a of arguments) s += a; return s; }
function maybe(n) { if (n % 2) throw new Error('odd'); return n; }
function few(a, b, c, d) { return [a, b, c, d].length; }

const parts = [
  (i) => fib(5 + i % 3),
  (i) => new Named('n' + i, i, 2).add(Point.zero()),
  (i) => [5, 3, 9, i].sort((a, b) => a - b).map((x) => x * 1.5).filter((x) => x > 2).reduce((a, b) => a + b, 0),
  (i) => JSON.parse(JSON.stringify({ a: [i, 'x', null], b: { c: i / 3 } })).b.c,
  (i) => `a${i}b`.replace(/[0-9]+/g, (m) => m + 1).split('').join('-').length,
  (i) => { const m = new Map(); for (const k of count(4)) m.set('k' + k, k); return [...m.values()].length; },
  (i) => { try { return maybe(i); } catch (e) { return e.message.length; } finally { few(1); } },
  (i) => sum(...[1, 2, 3], i) + sum.apply(null, [1, i]) + sum.call(null, i) + Reflect.apply(sum, null, [i]),
  (i) => few(1) + few(1, 2, 3, 4, 5, 6) + few.bind(null, 1)(2),
  (i) => { const { a, ...rest } = { a: 1, b: i, c: 3 }; return Object.keys(rest).length + a; },
  (i) => Number(BigInt(i) ** 3n % 1000n) + Math.sin(i) + parseInt('12' + i, 10),
  (i) => { const f = new Float64Array(8); for (let k = 0; k < 8; k++) f[k] = k * i; return f.subarray(2).indexOf(3); },
  (i) => new Proxy({ v: i }, { get: (t, k) => t[k] }).v,
  (i) => { const o = {}; for (const k of 'abcd') o[k] = i; delete o.b; for (const k in o) i += o[k]; return i; },
  (i) => { const p = new Point(1, 2); p.length = i; return p.length | 0; },
  (i) => { async function soon(x) { await null; return x; } soon(i).then((x) => x + 1); return i; },
  (i) => String(Symbol('s')).length + typeof i + (i instanceof Object),
  (i) => { let s = ''; for (let k = 0; k < 5; k++) s += String.fromCharCode(97 + (k + i) % 26); return s < 'm'; },
];

function work(i) {
  let n = 0;
  for (const part of parts)
    n += part(i) ? 1 : 2;
  return n;
}

const rounds = Number(process.argv[2]);
for (let i = 0; i < rounds; i++)
  work(i);
os.getPriority();
for (let i = 0; ; i++)
  work(i);
