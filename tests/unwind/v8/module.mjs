// SPDX-License-Identifier: Apache-2.0
// module.mjs - functions of an ECMAScript module that program.js calls.
let go;

export default class Shape {
  static of(n) { return go(n - 1); }
}
export const arrow = (n) => go(n - 1);
export function* lazily(n) {
  yield go(n - 1);
}
const soon = async (n) => {
  go(n - 1);
};

export function shapesOf(deeper) {
  go = deeper;
  return [
    Shape.of,
    arrow,
    (n) => [...lazily(n)],
    (n) => { soon(n); },
    function inModule(n) {
      return Object.keys({ n }).map(() => go(n - 1))[0];
    },
  ];
}
