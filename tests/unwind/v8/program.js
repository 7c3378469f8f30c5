// SPDX-License-Identifier: Apache-2.0
// program.js - calls in many shapes, to random depths; the innermost function prints V8's own account
// of the stack and makes a system call that strata traces: account.py. Some run in worker threads.
//
//     node program.js STACKS DEEPEST      begins when standard input ends
'use strict';
const { EventEmitter } = require('events');
const fs = require('fs');
const vm = require('vm');
const { Worker, isMainThread, workerData } = require('worker_threads');

const [STACKS, DEEPEST] = isMainThread ? process.argv.slice(2).map(Number) : workerData.slice(2);
let seed = isMainThread ? 1 : workerData[0];
const random = (n) => (seed = (seed * 48271) % 2147483647) % n;

Error.stackTraceLimit = Infinity;
Error.prepareStackTrace = (error, sites) => sites;

// The file offset of the read is the stack's number.
const NUMBERS = 2 ** 40;
const file = fs.openSync(__filename), byte = Buffer.alloc(1);
let number = isMainThread ? 0 : workerData[1];

// Writes the whole text: a pipe may take only a part of it, or nothing.
function write(text) {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length;) {
    try {
      at += fs.writeSync(1, bytes, at);
    } catch (error) {
      if (error.code !== 'EAGAIN')
        throw error;
    }
  }
}

// One line: the number, "NAME\tFILE\tLINE\tCOLUMN" of each frame, from the caller on, innermost first.
function probe() {
  const sites = new Error().stack.slice(1).filter((s) => !s.isAsync || !s.isAsync());
  const lines = sites.map((s) => [s.getFunctionName() || '', s.getFileName() || '',
    s.getLineNumber() || 0, s.getColumnNumber() || 0].join('\t'));
  write(`own ${number} ${JSON.stringify(lines)}\n`);
  fs.readSync(file, byte, 0, 1, NUMBERS + number++);
  return 1;
}

class Base {
  constructor(n) { this.n = n; if (n > 0 && n % 7 === 3) go(n - 1); }
  method(n) { return go(n - 1); }
  static still(n) { return go(n - 1); }
  get got() {
    return go(this.n - 1);
  }
  set given(n) { go(n - 1); }
}

class Derived extends Base {
  constructor(n) {
    super(0);
    go(n - 1);
  }
  method(n) { return super.method(n); }
  #hidden = (n) => go(n - 1);
  open(n) { return this.#hidden(n); }
}

function* generated(n) { yield go(n - 1); }
async function* asyncGenerated(n) { yield go(n - 1); }
function tag(parts, n) { return go(n - 1); }
const emitter = new EventEmitter().on('event', function listener(n) { go(n - 1); });
const script = new vm.Script('(go, n) => {\n  return go(n - 1);\n}', { filename: 'evaluated.js' });
const evaluated = script.runInThisContext();
function many(a, b, c, d, e, f, g, h, n) {
  const [i, j, k, l, m] = [a, b, c, d, e];
  return (() => i + j + k + l + m + f + g + h + go(n - 1))();
}
function add(a, b) { return a + b + 1; }
const closure = (n) => {
  const x = add(n, n);
  return x < 0 ? x : go(n - 1);
};

const shapes = [
  function plain(n) { return go(n - 1); },
  closure,
  (n) => new Base(0).method(n),
  (n) => Base.still(n),
  (n) => { const b = new Base(0); b.n = n; return b.got; },
  (n) => { new Base(0).given = n; },
  (n) => new Derived(n),
  (n) => new Derived(0).method(n),
  (n) => new Derived(0).open(n),
  (n) => [1].map(() => go(n - 1)),
  (n) => [2, 1].sort((a, b) => (n > 0 && (n = 0, go(depth)), a - b)),
  (n) => 'x'.replace(/x/, () => go(n - 1)),
  (n) => JSON.stringify({ toJSON() { return go(n - 1); } }),
  (n) => generated(n).next(),
  (n) => [...generated(n)],
  (n) => eval('go(n - 1)'),
  (n) => new Function('go', 'n', '\n\nreturn go(n - 1)')(go, n),
  (n) => many(1, 2, 3, 4, 5, 6, 7, 8, n),
  (n) => Reflect.apply(go, null, [n - 1]),
  (n) => go.call(null, n - 1),
  (n) => new Proxy({}, { get: () => go(n - 1) }).x,
  (n) => { try { return go(n - 1); } finally { add(1, 2); } },
  (n) => { for (const x of new Set([n])) go(x - 1); },
  (n) => { new Map([[1, n]]).forEach((x) => go(x - 1)); },
  (n) => `${{ toString: () => String(go(n - 1)) }}`,
  (n) => { async function soon() { go(n - 1); } soon(); },
  (n) => [1, 2].forEach((x) => x > 1 && go(n - 1)),
  (n) => [1, 2].filter((x) => x > 1 && go(n - 1)),
  (n) => [n, 1].reduce((a) => go(a - 1)),
  (n) => [3, 4].find((x) => x > 3 && go(n - 1)),
  (n) => [5].some(() => go(n - 1)) && [6].every(() => true),
  (n) => [7].flatMap(() => go(n - 1)),
  (n) => Array.from([n], (x) => go(x - 1)),
  (n) => { new Promise((resolve) => resolve(go(n - 1))); },
  (n) => Reflect.construct(Base, [n < 3 ? 3 : n - (n - 3) % 7]).n,
  (n) => plus.bind(null, n)(1),
  (n) => new Proxy(go, { apply: (f, that, [x]) => f(x) })(n - 1),
  (n) => +{ [Symbol.toPrimitive]: function primitive() { return go(n - 1); } },
  (n) => tag`${n}`,
  (n) => { const [x = go(n - 1)] = []; return x; },
  (n) => { emitter.emit('event', n); },
  (n) => evaluated(go, n),
  (n) => vm.runInNewContext('\n go(n - 1)', { go, n }),
  (n) => { for (const x of { [Symbol.iterator]: function* each() { yield go(n - 1); } }) add(x, 1); },
  (n) => { asyncGenerated(n).next(); },
  (n) => eval('(function inner() {\n\n  return go(n - 1); })()'),
  (n) => 'a-b'.split({ [Symbol.split]: function split() { return [go(n - 1)]; } })[0],
  (n) => JSON.parse('[1]', (key, value) => (key && go(n - 1), value))[0],
];
function plus(n, more) { return go(n - 1) + more; }
let depth = 0;

function go(n) {
  if (n <= 0)
    return probe();
  depth = n - 1;
  return shapes[random(shapes.length)](n) | 0;
}

function warm() {
  let s = 0;
  for (let i = 0; i < 20000; i++)
    s += add(i, i);
  return s;
}

// V8 switches to compiled code in the middle of a loop, and calls from there. The function is new each
// time, so that V8 does it again.
const looping = new vm.Script(`(function looping(go, add, depth) {
  let x = 0, until = Date.now();
  for (let i = 0, calls = 0; calls < 5; i++) {
    x = add(x, i) & 0xffff;
    if (!(i & 255) && Date.now() > until) {
      until += 3;
      calls++;
      x +=
        go(depth());
    }
  }
})`, { filename: 'looping.js' });

const deep = () => (random(4) ? random(30) : random(DEEPEST)) + 1;
const starts = [
  (next) => { go(deep()); setImmediate(next); },
  (next) => setTimeout(() => { go(deep()); next(); }, 0),
  (next) => Promise.resolve().then(() => { go(deep()); setImmediate(next); }),
  async (next) => { await null; go(deep()); setImmediate(next); },
  (next) => process.nextTick(() => { go(deep()); setImmediate(next); }),
  (next) => { looping.runInThisContext()(go, add, () => random(20) + 1); setImmediate(next); },
];
let left = STACKS;
// strata reads lines from the process, and on a busy machine this takes long.
const linger = () => setTimeout(() => 0, 4000);
const main = () => {
  if (left-- <= 0)
    return linger();
  if (isMainThread && left === STACKS >> 1)
    return work(main);
  starts[random(starts.length)](main);
};

// One after the other: they write to one pipe.
function work(next) {
  const share = Math.min(left, STACKS >> 3);
  const numbered = [1 + random(2 ** 30), 2 ** 30, share, DEEPEST]; // its own seed and numbers
  left -= share;
  new Worker(__filename, { workerData: numbered }).on('exit', next);
}

// Functions of modules are further shapes.
async function begin() {
  const { shapesOf } = await import('./module.mjs');
  shapes.push(...shapesOf(go));
  warm();
  main();
}
if (isMainThread)
  fs.readSync(0, Buffer.alloc(8));
begin();
