// SPDX-License-Identifier: Apache-2.0
// main.ts - maps.py bundles this: it prints node's own account of its stack, by the source map,
// then makes a system call that strata traces.
import * as fs from 'fs';
import { Walker, viaArrow } from './deep';

const file = fs.openSync(process.argv[1], 'r'), byte = Buffer.alloc(1);

function probe(): number {
  console.log(new Error().stack);
  fs.readSync(file, byte, 0, 1, 2 ** 40);
  return 1;
}

function outermost(): number {
  const walker = new Walker({ depth: 3, leaf: () => probe() });
  return viaArrow(walker, 2);
}

fs.readSync(0, Buffer.alloc(8));
outermost();
setTimeout(() => 0, 4000);
