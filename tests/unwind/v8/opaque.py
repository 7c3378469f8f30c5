#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""opaque.py - V8 with an unknown layout: node without the constants for debuggers, and without any symbol.
Its stacks are whole, and have as many functions <js> as V8 itself counts; strata reports that they have
no names.

    opaque.py STRATA      root"""
import os
import pathlib
import subprocess
import sys
import tempfile

import binaries
from absent import Missing, all_fail, as_root
from tap import Cases

HERE = pathlib.Path(__file__).resolve().parent
SCRIPT = r'''tracepoint:syscalls:sys_enter_pread64 /args.pos >= 1099511627776/ {
    printf("stack %d%s%send\n", args.pos - 1099511627776, jsstack(200), ustack(400));
}'''
VERSIONS = ('20', '26')
# Optimized code has functions inlined into others.
OPTIONS = [('--no-opt', '--no-maglev', '--no-sparkplug'), ('--no-opt', '--no-maglev', '--always-sparkplug')]
CALLS = 400
WITHOUT = {'constants': [b'v8dbg_'], 'symbols of V8': [b'v8dbg_', b'_embedded_blob_', b'Builtins_']}
ABOVE = 1  # fs.readSync


def without(names, node, to):
    """Makes a copy of node whose symbols have other names, with the same build ID."""
    image = pathlib.Path(node).read_bytes()
    for name in names:
        image = image.replace(name, b'x' * len(name))
    to.write_bytes(image)
    to.chmod(0o755)
    return to


def stacks(text):
    """Yields (number of functions by V8's account, lines) of each stack."""
    for part in text.split('stack ')[1:]:
        first, *lines = part.partition('end\n')[0].splitlines()
        yield int(first), [line.strip() for line in lines]


def is_start(lines):
    """Returns whether these are the thread's first two frames. The callee of the second has a name only with libc's
    debug symbols."""
    return [line.split('+')[0].split('@')[0] for line in lines] == ['__libc_start_main', '_start']


def wrong(depth, lines):
    functions = lines.count('<js>') // 2  # jsstack's and ustack's
    return functions != depth + ABOVE or not is_start(lines[-2:]) or any(l.startswith('[') and l.endswith(']') for l in lines)


def look(strata, program, options, cache):
    """Returns the errors, and strata's messages."""
    ran = subprocess.run([strata, '-e', SCRIPT, '-c', ' '.join(map(str, (program, *options, HERE / 'opaque.js')))],
                         env={**os.environ, 'STRATA_CACHE_DIR': cache}, capture_output=True, text=True, timeout=120)
    found = list(stacks(ran.stdout))
    bad = [f'V8 counts {depth}, strata {lines.count("<js>") / 2}: {lines}' for depth, lines in found if wrong(depth, lines)]
    if len(found) != CALLS:
        bad.append(f'{len(found)} stacks of {CALLS}')
    if 'are <js>' not in ran.stderr:
        bad.append('it is not said')
    return bad, ran.stderr


def main(strata):
    try:
        nodes = {version: binaries.node(version) for version in VERSIONS}
    except Missing as why:
        return all_fail(why)
    cases = Cases()
    with tempfile.TemporaryDirectory() as directory:
        for version, node in nodes.items():
            for what, names in WITHOUT.items():
                program = without(names, node, pathlib.Path(directory, f'node-{version}'))
                cache = pathlib.Path(directory, what)
                cache.mkdir(exist_ok=True)
                for options in OPTIONS:
                    bad, said = look(strata, program, options, str(cache))
                    cases.check(not bad, ' '.join((f'node {version} without {what}', *options)), *bad[:3], said)
    return cases.done()


if __name__ == '__main__':
    sys.exit(as_root(lambda: main(*sys.argv[1:])))
