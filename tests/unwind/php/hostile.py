#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hostile.py STRATA HOSTILE... - processes that look like PHP and have false data; see lib/liars.py."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'lib'))
import liars
from liars import LIMIT, UNREADABLE

LIES = {
    'truth': ({''}, 4, 4),
    'cycle': ({''}, LIMIT, LIMIT),
    'self': ({''}, LIMIT, LIMIT),
    'fakes': ({''}, 0, 0),
    'wild-globals': ({UNREADABLE}, 0, 0),
    'wild-frame': ({UNREADABLE}, 2, 2),
    'uneven-frame': ({UNREADABLE}, 2, 2),
    'edge-frame': ({UNREADABLE}, 2, 2),
    'wild-func': ({UNREADABLE}, 3, 3),
    'edge-func': ({UNREADABLE}, 4, 4),
    'wild-opline': ({''}, 4, 4),
    'type': ({UNREADABLE}, 1, 1),
    'wild-class': ({UNREADABLE}, 4, 4),
    'names': ({''}, 4, 4),
    'terminal': ({''}, 4, 4),
    'nameless': ({''}, 4, 4),
    'exception': ({''}, 4, 4),
    'frameless': ({''}, 4, 7),
    'many': ({''}, 4, 4),
    'random': (None, 0, LIMIT),
}

PHP = liars.Liars('PHP', 'phpstack', LIES, unknown=('-9.9', '-zts'))
sys.exit(liars.main(PHP, *sys.argv[1:]))
