// SPDX-License-Identifier: Apache-2.0
// core.js - with ../node/program.js: in the WHICHth of the stacks that it tells of it stays, and
// is killed there, or kills itself:
//
//     WHICH=N HOW=call|spin node -r ./core.js program.js STACKS DEEPEST
'use strict';
const { WHICH, HOW } = process.env;
let left = Number(WHICH);

function add(a, b) { return (a * 3 + b) | 0; }
// All on one line: wherever in it it is, that is its line.
function spin(x) { require('fs').writeSync(1, 'there\n'); for (let i = 0; ; i++) x = i % 1000 ? add(x, i) : Math.imul(x, [3, 2, 1].indexOf(i)); }
const ends = {
  call: () => process.abort(),
  spin: () => spin(1),
};

process.getuid = function stay() {
  if (--left === 0)
    ends[HOW]();
  return 0;
};
