#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py STRATA HOSTILE... - processes that look like CPython and have false data; see lib/liars.py. A code object that
cannot be read is a frame named '?'."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'lib'))
import liars
from liars import LIMIT, UNREADABLE

LIES = {
    'truth': ({''}, 4, 4),
    'cycle': ({''}, LIMIT, LIMIT),
    'self': ({''}, LIMIT, LIMIT),
    'shims': ({''}, 0, LIMIT),
    'wild-code': ({UNREADABLE}, 4, 4),
    'wild-frame': ({UNREADABLE}, 2, 2),
    'edge-frame': ({UNREADABLE}, 2, 2),
    'edge-code': ({UNREADABLE}, 4, 4),
    'no-code': ({'', UNREADABLE}, 1, 4),
    'names': ({''}, 4, 4),
    'terminal': ({''}, 4, 4),
    'lines': ({''}, 4, 4),
    'lines-negative': ({UNREADABLE}, 4, 4),
    'instr': ({'', UNREADABLE}, 0, 4),
    'many': ({''}, 4, 4),
}
# Versions whose offsets are data of the process.
OFFSETS = ('offsets-huge', 'offsets-zero', 'offsets-random 1', 'offsets-random 2', 'offsets-random 3', 'offsets-wild 1')


class Pythons(liars.Liars):
    def lies_of(self, program):
        if not program.endswith(('3.11', '3.12')):
            return {mode: (None, 0, LIMIT) for mode in OFFSETS}
        fewer = program.endswith('3.12')
        return {mode: (ends, least - (fewer and least == 4), most) for mode, (ends, least, most) in LIES.items()}


sys.exit(liars.main(Pythons('Python', 'pystack', LIES, unknown=(), limits=()), *sys.argv[1:]))
