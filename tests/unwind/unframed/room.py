#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""room.py ROOM - a unit of strata agent leaves large pieces of code without call frame information out if there is no room
to follow them. The small ones still have rules."""
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'lib'))
from tap import Cases

ROOM = sys.argv[1]
FUNCTION = 'push %rbp; mov %rsp, %rbp; sub $16, %rsp; leave; ret; .balign 16\n'
LARGE = 200000 # functions: 3 MB
SMALL = 20
SOURCE = f'''
.text
.globl small, large, framed
.type small, @function
small: .rept {SMALL}
{FUNCTION}.endr
.type framed, @function
framed: .cfi_startproc
ret
.cfi_endproc
.balign 16
.type large, @function
large: .rept {LARGE}
{FUNCTION}.endr
.section .note.GNU-stack, "", @progbits
'''


def main():
    if os.uname().machine != 'x86_64':
        print('1..0 # SKIP the code is x86_64')
        return 0
    cases = Cases()
    with tempfile.TemporaryDirectory() as work:
        library = f'{work}/library.so'
        subprocess.run(['cc', '-shared', '-nostdlib', '-o', library, '-xassembler', '-'], input=SOURCE, text=True, check=True)

        def rules(room):
            word, n = subprocess.run([ROOM, library, str(room)], capture_output=True, text=True, check=True).stdout.split()
            return word, int(n)
        word, every = rules(1 << 30)
        cases.check(word == 'all' and every > LARGE, 'with room, all code has rules', word, every)
        word, few = rules(16 << 20)
        cases.check(word == 'cut' and SMALL < few < LARGE // 100, 'without room, small pieces have', word, few)
    return cases.done()


sys.exit(main())
