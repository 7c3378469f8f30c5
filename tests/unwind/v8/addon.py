#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""addon.py - JavaScript that calls C that calls JavaScript: ustack has all frames in order. The test also
checks the JavaScript frames at node's own system calls and in its event loop.

    addon.py STRATA [VERSION...]      root"""
import pathlib
import re
import subprocess
import sys
import tempfile

import binaries
from absent import Missing, all_fail, as_root
from tap import Cases

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = '''
const { call } = require(process.argv[2]), fs = require('fs'), file = fs.openSync('/dev/null', 'w');
function inner() { process.getuid(); fs.writeSync(file, 'x'); return 1; }
function middle() { return call(inner) + 1; }
function outer() { return call(middle) + 1; }
function tick() { outer(); new ArrayBuffer(1 << 26); setTimeout(tick, 5); }
tick();
console.log('ready');
'''
CHAIN = ['inner', 'addon_below', 'addon_above', 'middle', 'addon_below', 'addon_above', 'outer', 'tick']


def names(stack):
    """The function's name in each line, without arguments, source position or offset."""
    return [re.split(r'[+( ]', line.strip())[0] for line in stack.splitlines() if line.strip()]


def in_order(wanted, found):
    """Returns whether `found` has all the wanted functions, innermost first; others may be between them."""
    rest = iter(found)
    return all(name in rest for name in wanted)


def ask(strata, pid, script):
    try:
        return subprocess.run([strata, '-p', str(pid), '-e', script], capture_output=True, text=True,
                              timeout=30).stdout
    except subprocess.TimeoutExpired as why:
        return f'nothing came: {why}'


def build(directory):
    addon = pathlib.Path(directory) / 'addon.node'
    subprocess.run(['cc', '-O2', '-fPIC', '-shared', f'-I{binaries.headers()}', '-o', addon, HERE / 'addon.c'],
                   check=True)
    return addon


def look(strata, version, directory, addon):
    """Yields (case, whether it passes, output)."""
    node, program = binaries.node(version), pathlib.Path(directory) / 'program.js'
    program.write_text(PROGRAM)
    with subprocess.Popen([node, program, addon], stdout=subprocess.PIPE) as traced:
        try:
            traced.stdout.readline()  # node's own start calls getuid too
            seen = ask(strata, traced.pid, 'tracepoint:syscalls:sys_enter_getuid /len(jsstack)/ { print(ustack); exit(); }')
            yield 'ustack through an addon', in_order(CHAIN, names(seen)), seen
            seen = ask(strata, traced.pid, 'tracepoint:syscalls:sys_enter_mmap /len(jsstack)/ { print(jsstack(1)); exit(); }')
            lines = [line for line in seen.splitlines() if line.strip()]
            yield 'the first of JavaScript, below C++', len(lines) == 1 and lines[0][:8].isspace(), seen
            seen = ask(strata, traced.pid, 'tracepoint:syscalls:sys_enter_write '
                       '/len(jsstack) && args.count == 1/ { print(jsstack); exit(); }')  # V8 wakes its threads by 8 bytes
            want = ['writeSync', 'inner', 'middle', 'outer', 'tick']
            yield 'jsstack of write(2)', in_order(want, [n.removeprefix('fs.') for n in names(seen)]), seen
            seen = ask(strata, traced.pid, f'uprobe:{node}:*uv__io_poll* '
                                           '{ printf("js %d\\n", len(jsstack)); print(ustack); exit(); }')
            yield 'uprobe in the event loop', 'js 0\n' in seen and 'uv_run' in names(seen), seen
        finally:
            traced.kill()


def main(strata, *versions):
    versions = versions or ('20', '26')
    try:
        binaries.headers(), [binaries.node(version) for version in versions]
    except Missing as why:
        return all_fail(why)
    cases = Cases()
    with tempfile.TemporaryDirectory() as directory:
        addon = build(directory)
        for version in versions:
            for what, good, seen in look(strata, version, directory, addon):
                cases.check(good, f'node {version}: {what}', seen)
    return cases.done()


if __name__ == '__main__':
    sys.exit(as_root(lambda: main(*sys.argv[1:])))
