#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hostile.py STRATA HOSTILE... - processes that look like Ruby and have false data; see lib/liars.py."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'lib'))
import liars
from liars import LIMIT, UNREADABLE

LIES = {
    'truth': ({''}, 5, 5),
    'wild-ec': ({UNREADABLE}, 0, 0),
    'uneven-ec': ({UNREADABLE}, 0, 0),
    'wild-frame': ({UNREADABLE}, 0, 0),
    'low-frame': ({UNREADABLE}, 0, 0),
    'uneven-frame': ({UNREADABLE}, 0, 0),
    'empty': ({UNREADABLE}, 0, 0),
    'huge': ({UNREADABLE}, 0, 0),
    'negative': ({UNREADABLE}, 0, 0),
    'wild-ep': ({UNREADABLE}, 2, 2),
    'ep-cycle': ({''}, 5, 5),
    'wild-pc': ({''}, 5, 5),
    'wild-iseq': ({UNREADABLE}, 5, 5),
    'wild-body': ({UNREADABLE}, 5, 5),
    'wild-label': ({UNREADABLE}, 5, 5),
    'label-type': ({UNREADABLE}, 5, 5),
    'wild-path': ({UNREADABLE}, 5, 5),
    'path-type': ({UNREADABLE}, 5, 5),
    'path-array': ({UNREADABLE}, 5, 5),
    'wild-lines': ({''}, 5, 5),
    'huge-lines': ({''}, 5, 5),
    'wild-index': ({''}, 5, 5),
    'huge-code': ({''}, 5, 5),
    'wild-local': ({''}, 5, 5),
    'length': ({UNREADABLE, ''}, 5, 5),
    'embedded': ({''}, 5, 5),
    'wild-text': ({UNREADABLE}, 5, 5),
    'terminal': ({''}, 5, 5),
    'wild-method': ({UNREADABLE}, 5, 5),
    'method-type': ({''}, 5, 5),
    'svar-cycle': ({''}, 5, 5),
    'wild-classpath': ({UNREADABLE}, 5, 5),
    'attached-self': ({''}, 5, 5),
    'wild-symbols': ({UNREADABLE}, 5, 5),
    'serial': ({UNREADABLE}, 5, 5),
    'many': ({''}, 5, 5),
    'random': (None, 0, LIMIT),
}

NAME = r'(Liar[#.])?(work\d+|function)\b'
NAMES = {mode: NAME for mode in ('truth', 'ep-cycle', 'wild-pc', 'wild-lines', 'huge-lines', 'wild-index', 'huge-code',
                                 'wild-local', 'method-type', 'svar-cycle', 'attached-self', 'many')}

# Before 3.3, objects have another layout and methods no class.
OLD = ('truth', 'ep-cycle', 'wild-index', 'embedded', 'length', 'terminal')


class Rubies(liars.Liars):
    def lies_of(self, program):
        lies = super().lies_of(program)
        return {mode: lies[mode] for mode in OLD} if program.endswith('-31') else lies


RUBY = Rubies('Ruby', 'rubystack', LIES, unknown=('-99',), names=NAMES)
sys.exit(liars.main(RUBY, *sys.argv[1:]))
