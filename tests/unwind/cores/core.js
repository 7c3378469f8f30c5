// SPDX-License-Identifier: Apache-2.0
// core.js - loaded before ../v8/program.js: after its WHICHth stack, the process stays in place until it
// is killed, or kills itself:
//
//     WHICH=N HOW=call|spin node -r ./core.js program.js STACKS DEEPEST
'use strict';
const fs = require('fs');
const { isMainThread } = require('worker_threads');
const { WHICH, HOW } = process.env;
const { writeSync } = fs;
let left = isMainThread ? Number(WHICH) : Infinity;

function add(a, b) { return (a * 3 + b) | 0; }
// All code is on one line, so that the line is the same at each place of an interruption.
function spin(x) { writeSync(1, 'there\n'); for (let i = 0; ; i++) x = i % 1000 ? add(x, i) : Math.imul(x, [3, 2, 1].indexOf(i)); }
const ends = {
  call: () => process.abort(),
  spin: () => spin(1),
};

fs.writeSync = function stay(file, data, ...more) {
  const n = writeSync(file, data, ...more);
  if (String(data).startsWith('own ') && --left === 0)
    ends[HOW]();
  return n;
};
