#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hostile.py STRATA HOSTILE... - processes that look like Lua and have false data; see lib/liars.py."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'lib'))
import liars
from liars import LIMIT, UNREADABLE

LIES = {
    'truth': ({''}, 5, 5),
    'wild-state': ({UNREADABLE}, 0, 0),
    'wild-frame': ({UNREADABLE}, 0, 0),
    'uneven-frame': ({UNREADABLE}, 0, 0),
    'edge': ({UNREADABLE}, 0, 1),
    'cycle': ({'', UNREADABLE}, 0, LIMIT),
    'self': ({'', UNREADABLE}, 0, LIMIT),
    'empty-cycle': ({''}, 2, 5),
    'varargs': ({''}, 4, 5),
    'wild-link': ({UNREADABLE}, 2, 5),
    'code': ({UNREADABLE, ''}, 2, 5),
    'long': ({UNREADABLE, ''}, 2, 5),
    'places': ({''}, 5, 5),
    'wild-name': ({UNREADABLE, ''}, 5, 5),
    'uneven-name': ({UNREADABLE, ''}, 5, 5),
    'no-name': ({UNREADABLE, ''}, 5, 5),
    'endless-name': ({''}, 5, 5),
    'terminal': ({''}, 5, 5),
    'size': ({''}, 5, 5),
    'first-line': ({''}, 5, 5),
    'lines': ({''}, 5, 5),
    'many': ({''}, 5, 5),
    'random': (None, 0, LIMIT),
}

# The first calls come before strata knows the mapping of the trace, or the process.
NEW = {'[address in no known mapping]', '[process not known yet]'}
TRACES = {
    'trace': ({'', *NEW}, 0, 6),
    'trace-many': (None, 0, LIMIT),
    'trace-snapshots': ({UNREADABLE, *NEW}, 0, 0),
    'trace-map': ({UNREADABLE, *NEW}, 0, 0),
    'trace-far': ({UNREADABLE, *NEW}, 0, 0),
    'trace-ir': ({UNREADABLE, *NEW}, 0, 1),
    'trace-code': ({UNREADABLE, *NEW}, 0, 0),
    'trace-cycle': ({UNREADABLE, *NEW}, 0, LIMIT),
    'trace-entries': (None, 0, LIMIT),
    'trace-random': (None, 0, LIMIT),
}

NAME = r'function <hostile\d*\.lua:\d+> hostile\d*\.lua:|main chunk hostile\d*\.lua'
NAMES = {mode: NAME for mode in ('truth', 'places', 'size', 'many')}


class Luas(liars.Liars):
    def lies_of(self, program):
        return super().lies_of(program) | (TRACES if program.endswith('-jit') else {})


LUA = Luas('Lua', 'luastack', LIES, unknown=('-9',), names=NAMES, limits=('[frame limit]', '[limit reached]'))
sys.exit(liars.main(LUA, *sys.argv[1:]))
