// SPDX-License-Identifier: Apache-2.0
// replaced.js - functions of one size, each freed after it ran for a moment: later ones get the addresses of the
// functions, of their bytecode and of their compiled code. Prints the name of each and the times (ns of the monotonic
// clock) between which it ran.
//
//     node --expose-gc replaced.js COUNT      begins when standard input ends
'use strict';
require('fs').readSync(0, Buffer.alloc(8));
const times = [], now = process.hrtime.bigint;
for (let i = 0; i < Number(process.argv[2]); i++) {
  const name = 'f' + String(i).padStart(6, '0');
  const make = new Function(`return function ${name}(n) { let s = 0;
    for (let k = 0; k < n; k++) s += k % 7; return s; }`);
  const begin = now();
  make()(60000);
  times.push(`${name} ${begin} ${now()}`);
  if (i % 3 === 0)
    gc(i % 2 === 0 ? true : { type: 'minor' });
  else if (i % 16 === 1)
    gc();
}
console.log(times.join('\n'));
