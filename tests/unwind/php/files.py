#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""files.py OPEN - checks the results of OPEN (open.c) for the PHPs of this machine and of arm64, which do not
run: the version, executor_globals, the rule of execute_ex() for code that opcache compiles."""
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'lib'))
import absent
import phps

RULE_CFA = 1


def wrong(name, text):
    """Returns the error, or '' if there is none."""
    found = re.fullmatch(r'(\S+) globals (\d) frameless (\d) rule (\d+) cfa (\d+) fragments (\d+)', text.strip())
    if not found:
        return 'not understood'
    version, *numbers = found.groups()
    has_globals, frameless, rule, cfa, fragments = map(int, numbers)
    if version != re.search(r'\d\.\d', name).group():
        return 'another version'
    if not has_globals or frameless != (version >= '8.4') or not fragments:
        return 'something is missing'
    return '' if rule == RULE_CFA and cfa >= 16 else 'not the rule of a frame'


def main(program):
    ok = True
    for name in [*phps.names(), *phps.ARM64]:
        try:
            elf = phps.elf(name)
        except absent.Missing as why:
            ok &= not phps.fails(name, why)
            continue
        text = subprocess.run([program, elf], stdout=subprocess.PIPE, text=True).stdout
        why = wrong(name, text)
        ok &= not why
        print(f'{name}: {text.strip()} {why}')
    return not ok


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
