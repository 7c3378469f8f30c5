// SPDX-License-Identifier: Apache-2.0
// program.js - a chain of functions whose names, scripts and scopes V8 keeps in many shapes, for
// make.py: the innermost prints "there" and waits; account: prints V8's account of the stack first, for
// which V8 makes the tables of lines.
//
//     node program.js account|wait ROUNDS      calls the chain ROUNDS times before: V8 compiles hot functions
'use strict';
const fs = require('fs');
const vm = require('vm');
const [HOW, ROUNDS] = process.argv.slice(2);
let armed = false;

function account() {
  Error.stackTraceLimit = Infinity;
  Error.prepareStackTrace = (error, sites) => sites;
  const sites = new Error().stack.slice(2);
  fs.writeSync(1, JSON.stringify(sites.map((s) => [s.getFunctionName() || '', s.getFileName() || '',
    s.getLineNumber() || 0, s.getColumnNumber() || 0].join('\t'))) + '\n');
}

function probe() {
  if (!armed)
    return 1;
  if (HOW === 'account')
    account();
  fs.writeSync(1, 'there\n');
  return fs.readSync(0, Buffer.alloc(1));
}

// A function of a script whose name and source are strings of some shape.
const run = (filename, text, more) => new vm.Script(text, { filename, ...more }).runInThisContext();
const part = (n) => ['/heap/', 'a-name-', 'that-is-', 'long-'][n];
const cons = part(0) + part(1) + part(2) + 'cons.js';
const deep = part(0) + (part(1) + (part(2) + (part(3) + 'deep.js'))) + '';
const thin = part(0) + part(1) + part(3) + 'thin.js';
const sliced = `not this: ${part(0)}${part(1)}${part(3)}sliced.js`.slice(10);
({})[thin]; // as a key it becomes a thin string, which points to the internalized one
const locals = Array.from({ length: 80 }, (_, i) => `local${i}`);
const next = '(function NAME(go) {\n  return go();\n})\n';
const shapes = [
  run(cons, next.replace('NAME', 'named_cons')),
  run(deep, next.replace('NAME', 'named_deep')),
  run(thin, next.replace('NAME', 'named_thin')),
  run(sliced, next.replace('NAME', 'named_sliced')),
  run('/heap/имя 😀.js', next.replace('NAME', 'named_wide')),
  run('/heap/wide.js', '// текст 😀\r\n\u2028// \r' + next.replace('NAME', 'имя').replace(/\n/g, '\r\n')),
  run('/heap/latin.js', next.replace('NAME', 'naïve')),
  run('/heap/cons-text.js', '// first\n'.repeat(3) + next.replace('NAME', 'cons_text') + '// ' + part(1)),
  run('/heap/inferred.js', 'var a = { b: {} };\na.b.inferred = function (go) {\n  return go(); };'),
  run('/heap/scope.js', `(function scoped(go) { let ${locals.slice(0, 9)};\n` +
      ` return (() => go(${locals.slice(0, 9)}))(); })`),
  run('/heap/hashed.js', `(function hashed(go) { let ${locals.join(' = 1, ')} = 1;\n return eval('go()'); })`),
  run('/heap/moved.js', next.replace('NAME', 'moved'), { lineOffset: 40, columnOffset: 7 }),
  new Function('go', '\n\n  return go();'),
  function evaluates(go) { return eval('\n go()'); },
  function hot(go) {
    let n = 0;
    [1, 2].forEach(function each(x) { if (x > 1) n += inner(go, x); });
    return n;
  },
  function maps(go) { return [3].map((x) => inner(go, x))[0] | 0; },
  (go) => Made.still(go),
];
// The script's last line has a source map; make.py knows it, too.
if (process.env.MAP)
  shapes.push(run('/heap/mapped.js', next.replace('NAME', 'short') +
    `//# sourceMappingURL=data:application/json;base64,${process.env.MAP}`));

class Made {
  constructor(go) { this.n = go(); }
  static still(go) { return new this(go).n; }
}
function inner(go, x) { return leaf(go) + x; }
function leaf(go) { return go() | 0; }

let at = 0;
function go() {
  return at < shapes.length ? shapes[at++](go) | 0 : probe();
}

function chain() {
  at = 0;
  return go();
}
for (let i = 0; i < Number(ROUNDS); i++)
  chain();
armed = true;
chain();
