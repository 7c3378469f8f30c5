#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""short.py - JavaScript processes that are killed right after their system call: each stack has its
functions, and files and lines unless the process had ended before strata could read them.

    short.py STRATA [COUNT [VERSION...]]      root"""
import pathlib
import re
import subprocess
import sys
import tempfile

import binaries
from absent import Missing, all_fail, as_root
from tap import Cases
from traced import attached

SCRIPT = 'tracepoint:syscalls:sys_enter_getuid /len(jsstack)/ { @[jsstack(addr)] = count(); }'
FILES = 0.75  # share of stacks with files: the kernel half's records have them
SOURCE = '''
function brief_%d() { process.getuid(); process.kill(process.pid, 'SIGKILL'); }
function outer(f) { f(); }
function start() { outer(() => brief_%d()); }
setTimeout(start, 0);
'''
CHAIN = ['<anonymous>', 'outer', 'start']  # below the function with its own name


def wrong(n, file, stacks):
    """Returns the difference between the n-th program's stack and its own account, or None."""
    for stack in stacks:
        lines = [line.strip() for line in stack.splitlines()]
        at = next((i for i, line in enumerate(lines) if re.match(rf'brief_{n}( |$)', line)), None)
        if at is None:
            continue
        want = [f'brief_{n}', *CHAIN]
        for name, line in zip(want, lines[at:at + len(want)]):
            if not re.fullmatch(rf'{re.escape(name)}( <anonymous>| {re.escape(file)}(:\d+:\d+)?)?', line):
                return f'{line} for {name}'
        return None if len(lines) >= at + len(want) else 'cut'
    return 'it is not there'


def look(strata, node, count, file):
    # Fills the cache: on a busy machine node's tables take longer to make than several programs run.
    subprocess.run([strata, '-q', '-e', SCRIPT, '-c', f'{node} -e 0'], capture_output=True, check=True)
    tracer = subprocess.Popen([strata, '-e', SCRIPT], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    attached(tracer)
    for n in range(count):
        file.write_text(SOURCE.replace('%d', str(n)))
        subprocess.run([node, file], check=False)
    tracer.terminate()
    out = tracer.communicate()[0]
    stacks = re.findall(r'^@\[\n(.*?)^\]: \d+$', out, re.M | re.S)
    bad = [f'program {n}: {why}' for n in range(count) if (why := wrong(n, str(file), stacks))]
    seen = [re.findall(pattern, out, re.M) for pattern in (rf'^ +brief_\d+ {re.escape(str(file))}', r'^ +brief_\d+ .*:\d+:\d+$')]
    return bad, *map(len, seen)


def main(strata, count='12', *versions):
    versions = versions or ('20', '26')
    try:
        programs = [str(binaries.node(version)) for version in versions]
    except Missing as why:
        return all_fail(why)
    cases = Cases()
    with tempfile.TemporaryDirectory() as directory:
        file = pathlib.Path(directory) / 'brief.js'
        for version, program in zip(versions, programs):
            # The first one does not count: strata may still be reading node's file.
            bad, files, lines = look(strata, program, int(count), file)
            bad = [b for b in bad if not b.startswith('program 0:')]
            cases.check(not bad and files >= FILES * int(count), f'node {version}: {len(bad)} of {count} stacks are not '
                        f'whole, {files} have their file, {lines} have lines', *bad)
    return cases.done()


if __name__ == '__main__':
    sys.exit(as_root(lambda: main(*sys.argv[1:])))
