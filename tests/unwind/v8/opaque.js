// SPDX-License-Identifier: Apache-2.0
// opaque.js - functions call each other to depths from 1 to 40; the innermost makes a system call
// whose file offset is the number of functions in the stack by V8's account: opaque.py.
'use strict';
const fs = require('fs');

Error.stackTraceLimit = Infinity;
const file = fs.openSync(__filename), byte = Buffer.alloc(1);

function probe() {
  const depth = new Error().stack.split('\n').length - 1;
  fs.readSync(file, byte, 0, 1, 2 ** 40 + depth);
  return depth;
}
const shapes = [
  function plain(n) { return go(n); },
  (n) => { const x = n * 2; return go(x / 2); },
  (n) => { try { return go(n); } finally { byte[0]++; } },
];
function go(n) { return n ? shapes[n % 3](n - 1) : probe(); }

for (let i = 0; i < 400; i++)
  go(i % 40);
