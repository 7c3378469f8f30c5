#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""maps.py - source maps: compares strata with node's own account (--enable-source-maps), for a program that
esbuild has bundled and minified, and for a program with a map of two sections that the test makes.

    maps.py STRATA [VERSION...]      root"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import binaries
from absent import Missing, as_root, tap_fails

import traced

HERE = pathlib.Path(__file__).resolve().parent
PROBE = 'tracepoint:syscalls:sys_enter_pread64 /args.pos >= 1099511627776/ { printf("stack%s\\n", jsstack); }'
MAPPED = PROBE
UNMAPPED = 'config = { js_source_maps = false } ' + PROBE
NAMES = ['probe', 'leaf', 'descend', 'descend', 'descend', 'viaArrow', 'outermost', '<anonymous>']

# The map gives, for each position in this file, one in the original files.
HAND = '''const fs=require('fs');
function p(){fs.readSync(f,b,0,1,2**40)}function q(){p()}const f=fs.openSync(__filename),b=Buffer.alloc(1);
fs.readSync(0,Buffer.alloc(8));q();setTimeout(()=>0,4000);
//# sourceMappingURL=%s
'''


def vlq(*numbers):
    out = ''
    for n in numbers:
        n = (-n << 1 | 1) if n < 0 else n << 1
        while True:
            digit, n = n & 31, n >> 5
            out += 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'[digit | 32 * bool(n)]
            if not n:
                break
    return out


def hand_made(directory, program=HAND):
    """Writes a program whose two functions are in two sections of the map; returns the wanted frames."""
    second = program.splitlines()[1]
    call = second.index('p()}const')
    parts = [
        {'offset': {'line': 1, 'column': 0}, 'map': {
            'version': 3, 'sources': ['lib/first.x'], 'names': ['innermost'], 'sourceRoot': '../from',
            'mappings': ','.join([vlq(9, 0, 9, 2, 0), vlq(1, 0, 0, 1), vlq(3, 0, 10, 4)])}},
        {'offset': {'line': 1, 'column': second.index('function q')}, 'map': {
            'version': 3, 'sources': ['/abs/second.x'], 'names': ['caller'],
            'mappings': ','.join([vlq(9, 0, 99, 0, 0), vlq(call - second.index('function q') - 9, 0, 1, 6)])
                        + ';' + vlq(31, 0, 20, 2)}},
    ]
    (directory / 'dist').mkdir()
    (directory / 'dist' / 'hand.js').write_text(program % 'hand.js.map')
    (directory / 'dist' / 'hand.js.map').write_text(")]}'\n" + json.dumps({'version': 3, 'sections': parts}))
    return [f'innermost {directory}/from/lib/first.x:20:8', 'caller /abs/second.x:101:7',
            '<anonymous> /abs/second.x:121:9']


def bundled(directory, kind):
    esbuild = binaries.unpacked('esbuild', binaries.from_npm('@esbuild/linux-x64', 'bin/esbuild')) / 'esbuild'
    out = directory / f'{kind}.js'
    subprocess.run([esbuild, HERE / 'maps' / 'main.ts', '--bundle', '--platform=node', '--minify', '--log-level=error',
                    f'--sourcemap={kind}', f'--outfile={out}'], check=True)
    return out


def frames(printed):
    """Returns the frames of the program's files, from the innermost on."""
    lines = [line.decode().strip() for line in printed]
    return [line for line in lines if '/' in line and 'node:' not in line]


def places(lines):
    return [re.search(r'(/\S+?:\d+:\d+)\)?$', line).group(1) for line in lines]


def own_account(account):
    return [line.decode() for line in account if b'    at ' in line and b'node:' not in line]


def check(strata, node, directory, kind):
    """Returns the difference, or None."""
    account, printed = traced.run(strata, MAPPED, node, '--enable-source-maps', bundled(directory, kind))
    ours, own = frames(printed), own_account(account)
    # The program takes the account one line before the system call.
    if [line.split(' ')[0] for line in ours] != NAMES or places(ours)[1:] != places(own)[1:] or \
            not places(ours)[0].endswith('maps/main.ts:11:6'):
        return f'node says {own}, strata {ours}'
    return None


def check_hand(strata, node, directory, script):
    wanted = hand_made(directory)
    found = frames(traced.run(strata, script, node, directory / 'dist' / 'hand.js')[1])
    return None if found == wanted else f'{wanted} wanted, strata says {found}'


def check_without(strata, node, directory, _):
    hand_made(directory)
    found = frames(traced.run(strata, UNMAPPED, node, directory / 'dist' / 'hand.js')[1])
    wanted = [f'p {directory}/dist/hand.js:2:17', f'q {directory}/dist/hand.js:2:54',
              f'<anonymous> {directory}/dist/hand.js:3:32']
    return None if found == wanted else f'{wanted} wanted, strata says {found}'


def check_dump(strata, node, directory, _):
    """strata dump of a program that waits within the inner function."""
    wanted = hand_made(directory, HAND.replace('fs.readSync(f,b,0,1,2**40)', 'fs.readSync(0,b,0,1,null)'))
    program = subprocess.Popen([node, directory / 'dist' / 'hand.js'], stdin=subprocess.PIPE)
    found, end = [], time.monotonic() + 20
    try:
        program.stdin.write(b'8 bytes.')
        program.stdin.flush()
        while found != wanted and time.monotonic() < end:
            done = subprocess.run([strata, 'dump', '-p', str(program.pid)], capture_output=True, text=True)
            found = [line.strip() for line in done.stdout.splitlines() if '.x:' in line or 'hand.js:' in line]
    finally:
        program.kill()
        program.wait()
    return None if found == wanted else f'{wanted} wanted, strata says {found}'


CHECKS = [('a file next to the script', check, 'linked'), ('within the script', check, 'inline'),
          ('made by hand, of two parts', check_hand, MAPPED), ('nobody asks', check_without, None),
          ('dump', check_dump, None)]


def main(strata, *versions):
    runs = [(version, *row) for version in versions or ('20', '26') for row in CHECKS]
    print(f'1..{len(runs)}')
    failed = False
    for n, (version, what, function, argument) in enumerate(runs, 1):
        name = f'node {version}: {what}'
        try:
            with tempfile.TemporaryDirectory() as directory:
                wrong = function(strata, str(binaries.node(version)), pathlib.Path(directory).resolve(), argument)
        except Missing as why:
            failed |= tap_fails(n, name, why)
            continue
        if wrong:
            print(f'# {wrong}')
        print(f"{'not ok' if wrong else 'ok'} {n} - {name}", flush=True)
        failed |= bool(wrong)
    return failed


if __name__ == '__main__':
    sys.exit(as_root(lambda: main(*sys.argv[1:])))
