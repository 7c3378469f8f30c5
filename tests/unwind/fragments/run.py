#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py FRAGMENTS INTERPRETER CC... - an interpreter with nearly all of its loop in a cold fragment.

FRAGMENTS (fragments.c) prints the ranges that strata finds; INTERPRETER is the source. It is built with each CC.
The program of this machine's CC also runs; that of arm64's, if available, is only read. Each file is tested as
built, stripped, and without section headers and .eh_frame_hdr."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'lib'))
from tap import Cases

PARTS, SOURCE, *COMPILERS = sys.argv[1:]
FLAGS = ['-O2', '-fPIE', '-pie', '-rdynamic', '-freorder-blocks-and-partition']
cases = Cases()


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def symbols(tools, path):
    """The loop's ranges by the symbol table, which strata has to find."""
    found = {}
    for line in output(tools + 'readelf', '-sW', path).splitlines():
        word = line.split()
        if len(word) == 8 and word[7] in ('small_eval', 'small_eval.cold'):
            start = int(word[1], 16)
            found[word[7]] = (start, start + int(word[2], 0))
    return found


def find(path, *args):
    """Returns (ranges, way): the place of a file's loop, and the method that found it."""
    word = output(PARTS, '--ranges', '--name', 'small_eval', *args, path).split()
    ranges = [tuple(int(x, 16) for x in r.split('-')) for r in word[2].split(',')]
    return ranges, word[3]


def without_headers(path, to):
    """Removes the section headers, and marks .eh_frame_hdr's table as absent."""
    data = bytearray(pathlib.Path(path).read_bytes())
    data[40:48] = bytes(8)
    data[60:64] = bytes(4)
    phoff = int.from_bytes(data[32:40], 'little')
    for at in range(phoff, phoff + 56 * int.from_bytes(data[56:58], 'little'), 56):
        if int.from_bytes(data[at:at + 4], 'little') == 0x6474e550: # PT_GNU_EH_FRAME
            hdr = int.from_bytes(data[at + 8:at + 16], 'little')
            data[hdr + 2:hdr + 4] = b'\xff\xff' # DW_EH_PE_omit: no count, no table
    pathlib.Path(to).write_bytes(data)


def links(cc, directory):
    """Returns whether the compiler also has a C library."""
    source = directory / 'empty.c'
    source.write_text('#include <stdio.h>\nint main(void) { return 0; }\n')
    return not subprocess.run([cc, source, '-o', directory / 'empty'], capture_output=True).returncode


def check_machine(cc, directory):
    tools = cc.removesuffix('gcc').removesuffix('cc') if cc.endswith('-gcc') else ''
    whole, stripped, bare = (str(directory / n) for n in ('whole', 'stripped', 'bare'))
    subprocess.run([cc, *FLAGS, SOURCE, '-o', whole], check=True)
    subprocess.run([tools + 'strip', '-o', stripped, whole], check=True)
    without_headers(stripped, bare)
    true = symbols(tools, whole)
    main, cold = true['small_eval'], true['small_eval.cold']
    cases.check(main[1] - main[0] < 400 and cold[1] - cold[0] > 32768,
                f'{cc}: the main part is small, the cold part large', true)
    for path, name in ((whole, 'as built'), (stripped, 'stripped'), (bare, 'without headers')):
        found, way = find(path)
        cases.check(found == sorted([main, cold]) and way.split(',')[0] == 'jumps',
                    f'{cc}: both are found by jumps, {name}', true, found, way)
    cases.check(find(whole, '--by', 'names') == (sorted([main, cold]), 'names'), f'{cc}: by names')
    cases.check(find(stripped, '--by', 'names') == ([main], 'whole'), f'{cc}: stripped, no names')
    cases.check(find(stripped, '--by', 'size') == (sorted([main, cold]), 'size'), f'{cc}: by size')
    return whole, find(bare)[0]


with tempfile.TemporaryDirectory() as tmp:
    for i, cc in enumerate(COMPILERS):
        directory = pathlib.Path(tmp) / str(i)
        directory.mkdir()
        if not shutil.which(cc):
            cases.skip(cc, f'there is no {cc}')
            continue
        if i and not links(cc, directory):
            cases.skip(cc, 'it makes no programs')
            continue
        program, ranges = check_machine(cc, directory)
        if i == 0:
            seen = {int(line, 16) for line in output(program).split()}
            out = [hex(a) for a in seen if not any(s <= a < e for s, e in ranges)]
            cases.check(len(seen) > 200 and not out,
                        f'all {len(seen)} return addresses of a run lie in them', *out[:10])
sys.exit(cases.done())
