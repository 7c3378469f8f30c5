#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""wasm.py - JavaScript that calls WebAssembly that calls JavaScript: both stacks are whole, and have
all these frames, with the names of the module's name section, else with those of V8's perf map: by index.

    wasm.py STRATA [VERSION...]      root"""
import pathlib
import re
import subprocess
import sys
import tempfile

import binaries
from absent import Missing, all_fail, as_root
from tap import Cases
from addon import ask, in_order, names

# (import "e" "f" (func $f (param i32) (result i32)))
# (func $inner (param i32) (result i32) (call $f (local.get 0)))
# (func (export "outer") (param i32) (result i32) (i32.add (call $inner (local.get 0)) (i32.const 1)))
MODULE = bytes([
    0, *b'asm', 1, 0, 0, 0,
    1, 6, 1, 0x60, 1, 0x7f, 1, 0x7f,
    2, 7, 1, 1, *b'e', 1, *b'f', 0, 0,
    3, 3, 2, 0, 0,
    7, 9, 1, 5, *b'outer', 0, 2,
    10, 18, 2, 6, 0, 0x20, 0, 0x10, 0, 0x0b, 9, 0, 0x20, 0, 0x10, 1, 0x41, 1, 0x6a, 0x0b])
# The names of functions 1 and 2, which have Unicode.
NAMED = MODULE + bytes([0, 28, 4, *b'name', 0, 2, 1, *b'm', 1, 17, 2, 1, 6, *b'nested', 2, 6, *'außen'.encode()])
PROGRAM = """
const code = new Uint8Array(%s);
let told = 0;
const f = function back(n) { if (n < 0) process.getuid(); return n; };
const { outer } = new WebAssembly.Instance(new WebAssembly.Module(code), { e: { f } }).exports;
function calls(n) { return outer(n) + 1; }
for (let i = 0; i < %d; i++) calls(i);
function tick() { calls(-1); setTimeout(tick, 5); }
tick();
console.log('ready');
"""
# From 24 on $inner is inlined when it is warm.
ROUNDS = {'at first': (0, True), 'when it is warm': (200000, False)}


NAMES = ('wasm-function[1]', 'wasm-function[2]', MODULE), ('nested', 'außen', NAMED)


def named_by_v8(version, directory, module):
    """Returns the names of the module's functions in V8's perf map."""
    program = pathlib.Path(directory) / 'witness.js'
    program.write_text(PROGRAM.replace('tick();\n', '') % (list(module), 10))
    with subprocess.Popen([binaries.node(version), '--perf-basic-prof', program], stdout=subprocess.DEVNULL) as traced:
        traced.wait()
    symbols = pathlib.Path(f'/tmp/perf-{traced.pid}.map')
    try:
        return set(re.findall(r'JS:\*?(?!wasm-to-js)(\S+)-\d+-liftoff', symbols.read_text()))
    finally:
        symbols.unlink()


def look(strata, version, directory):
    """Yields (case, whether it passes, output)."""
    for inner, outer, module in NAMES:
        seen = named_by_v8(version, directory, module)
        yield f"V8's perf map, {outer}", seen == {inner, outer}, str(seen)
    for how, (rounds, all_functions), (inner, outer, module) in ((how, ROUNDS[how], named)
                                                        for how in ROUNDS for named in NAMES):
        chain = ['back', *[inner] * all_functions, outer, 'calls', 'tick']
        how += f', {outer}'
        program = pathlib.Path(directory) / 'program.js'
        program.write_text(PROGRAM % (list(module), rounds))
        with subprocess.Popen([binaries.node(version), program], stdout=subprocess.PIPE) as traced:
            try:
                traced.stdout.readline()  # node's own start calls getuid too
                seen = ask(strata, traced.pid, 'tracepoint:syscalls:sys_enter_getuid /len(jsstack)/ '
                                               '{ print(jsstack); printf("and\\n"); print(ustack); exit(); }')
            finally:
                traced.kill()
        js, _, whole = seen.partition('and\n')
        yield f'jsstack, {how}', in_order(chain, names(js)), seen
        yield f'ustack, {how}', in_order(chain, names(whole)) and '_start+' in whole and not re.search(r'^ *\[[a-z ,]+\]$', whole, re.M), seen


def main(strata, *versions):
    versions = versions or ('20', '21', '22', '23', '24', '25', '26')
    try:
        [binaries.node(version) for version in versions]
    except Missing as why:
        return all_fail(why)
    cases = Cases()
    with tempfile.TemporaryDirectory() as directory:
        for version in versions:
            for what, good, seen in look(strata, version, directory):
                cases.check(good, f'node {version}: {what}', seen)
    return cases.done()


if __name__ == '__main__':
    sys.exit(as_root(lambda: main(*sys.argv[1:])))
