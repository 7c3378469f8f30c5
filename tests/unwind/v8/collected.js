// SPDX-License-Identifier: Apache-2.0
// collected.js - functions of one size, each freed after one call: later ones get their addresses.
// Each makes a system call; collected.py knows its name.
//
//     node --expose-gc collected.js COUNT      begins when standard input ends
'use strict';
const probe = () => process.getuid();

require('fs').readSync(0, Buffer.alloc(8));
for (let i = 0; i < Number(process.argv[2]); i++) {
  const name = 'f' + String(i).padStart(6, '0');
  const make = new Function('probe', `return function ${name}(n) { let s = 0;
    for (let k = 0; k < n; k++) s += probe(); return s; }`);
  make(probe)(2);
  if (i % 3 === 0)
    gc(i % 2 === 0 ? true : { type: 'minor' });
  else if (i % 16 === 1)
    gc();
}
