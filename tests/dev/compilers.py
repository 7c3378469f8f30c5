#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compilers.py - ./dev installs a compiler for each language of the project, and not only for the tests. On a machine that has
them, no other test notices. Prints TAP."""
import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / 'tests' / 'lib'))
import tap

PACKAGES = {'c': ('gcc', 'gcc'), 'cpp': ('g++', 'gcc-c++')}  # of apt, of dnf


def main():
    cases = tap.Cases()
    project = re.search(r"^project\('strata', (.*?),\n", (TOP / 'meson.build').read_text(), re.M).group(1)
    languages = re.findall(r"'(\w+)'", project)
    dev = (TOP / 'dev').read_text()
    lists = [re.search(pattern, dev, re.S).group(1).split() for pattern in (r'base="(.*?)"', r'for p in (gcc .*?)\$1')]
    for language in languages:
        for wanted, packages in zip(PACKAGES[language], lists):
            cases.check(wanted in packages, f'{language}: {wanted}', packages)
    cases.check('c' in languages, 'the languages are known', project)
    return cases.done()


sys.exit(main())
