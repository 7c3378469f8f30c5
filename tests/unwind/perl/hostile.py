#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hostile.py STRATA HOSTILE... - processes that look like Perl and have false data; see lib/liars.py."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'lib'))
import liars
from liars import LIMIT, UNREADABLE

LIES = {
    'truth': ({''}, 5, 5),
    'wild-info': ({UNREADABLE, ''}, 0, 0),
    'wild-contexts': ({UNREADABLE}, 0, 0),
    'uneven-contexts': ({UNREADABLE, ''}, 0, 0),
    'low-contexts': ({UNREADABLE, ''}, 0, 0),
    'index': ({UNREADABLE, ''}, 0, 0),
    'negative': ({UNREADABLE, ''}, 0, 0),
    'cycle': ({''}, LIMIT, LIMIT),
    'empty-cycle': ({''}, 0, 0),
    'edge': ({UNREADABLE}, 0, 0),
    'wild-cop': ({UNREADABLE}, 5, 5),
    'lines': ({''}, 5, 5),
    'wild-sub': ({UNREADABLE}, 5, 5),
    'small-sub': ({UNREADABLE}, 5, 5),
    'type': ({UNREADABLE}, 5, 5),
    'wild-names': ({UNREADABLE}, 5, 5),
    'names': ({''}, 5, 5),
    'counts': ({UNREADABLE, ''}, 5, 5),
    'deleted': ({''}, 5, 5),
    'nameless': ({''}, 5, 5),
    'wild-package': ({UNREADABLE}, 5, 5),
    'latin': ({''}, 5, 5),
    'terminal': ({''}, 5, 5),
    'endless-file': ({''}, 5, 5),
    'evals': ({''}, 5, 5),
    'stale-eval': ({''}, 4, 4),
    'many': ({''}, 5, 5),
    'random': (None, 0, LIMIT),
}

NAME = r'Liar::hostile |\(main\) '
NAMES = {
    **{mode: NAME for mode in ('truth', 'deleted', 'stale-eval', 'lines')},
    'nameless': r'__ANON__::hostile |\(main\) ',
    'latin': r'été::été |\(main\) ',
}

PERL = liars.Liars('Perl', 'perlstack', LIES, unknown=('-37', '-99'), names=NAMES, never=':951424$')
sys.exit(liars.main(PERL, *sys.argv[1:]))
