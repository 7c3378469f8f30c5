// SPDX-License-Identifier: Apache-2.0
// moving.js - 200 system calls from functions that V8 moves or collects a moment later.
'use strict';
const fs = require('fs');
let junk = [];

function litter() {
  junk = [];
  for (let i = 0; i < 20000; i++)
    junk.push({ i, list: [i] });
}

function innermost(n) {
  litter();
  return process.umask() + n;
}

function middle(n) { return innermost(n) + 1; }
const passing = (i) => function passing(n) { return middle(n) + i; };

function main() {
  let sum = 0;
  for (let i = 0; i < 100; i++)
    sum += passing(i)(1);
  return sum;
}

fs.readSync(0, Buffer.alloc(1), 0, 1); // strata is stopped meanwhile
main();
for (let i = 0; i < 100; i++)
  litter();
fs.readSync(0, Buffer.alloc(1), 0, 1); // strata reads the lines meanwhile
