#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""links.py - files that the documents link to, and files of the tree that they name in `code`, exist. Links from README.md
lead to each document."""
import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / 'tests' / 'lib'))
from tap import Cases

LINK = re.compile(r'\]\((?!https?://|mailto:)([^)#\s]+)(?:#[^)]*)?\)')
FENCED = re.compile(r'^```.*?^```\n|^(?: {4}|\t).*$', re.M | re.S)
CODE = re.compile(r'`([^`\n]+)`')
# A file of the tree by its ending, or a folder by its last slash.
FILE = re.compile(r'[\w.-]+(?:/[\w.-]+)*\.(?:c|h|y|l|py|bt|def|md|js|css|sh|build)|[\w.-]+(?:/[\w.-]+)*/')
# Names of files that a reader makes, and of other projects.
OTHERS = re.compile(r'NAME|STEM|FAMILY|TAG|^app\.|^x\.|^lib\.bpf\.c$|^answer\.bt$|^tests/kernel/answer\.bt$|^vmlinux\.h$')


def documents():
    return [TOP / name for name in subprocess.run(['git', '-C', TOP, 'ls-files', '-co', '--exclude-standard', '*.md'],
                                                  capture_output=True, text=True, check=True).stdout.split()
            if not name.startswith('.github')]


def tree():
    names = subprocess.run(['git', '-C', TOP, 'ls-files', '-co', '--exclude-standard'], capture_output=True, text=True,
                           check=True).stdout.split()
    return {str(path) + end for name in names if (TOP / name).exists()
            for path, end in [(pathlib.Path(name), ''), *((p, '/') for p in pathlib.Path(name).parents)]}


def linked(path):
    """Returns the files that a document links to."""
    return [(path.parent / target).resolve() for target in LINK.findall(path.read_text())]


def named(path):
    return [name for code in CODE.findall(FENCED.sub('', path.read_text())) if FILE.fullmatch(code)
            for name in [code] if not OTHERS.search(name)]


def is_there(name, path, names):
    """Returns whether a file exists: by its path from the top, from src/ or from its document, or by the end of its path."""
    return (path.parent / name).exists() or any(n == name or n.endswith('/' + name) for n in names)


def main():
    cases, names, reached, waiting = Cases(), tree(), set(), [TOP / 'README.md']
    while waiting:
        path = waiting.pop()
        if path in reached or path.suffix != '.md' or not path.exists():
            continue
        reached.add(path)
        waiting += linked(path)
    for path in documents():
        name = path.relative_to(TOP)
        missing = [str(target) for target in linked(path) if not target.exists()]
        cases.check(not missing, f'{name}: its links', *missing)
        # The changelog also names files that no longer exist.
        missing = [] if name.name == 'CHANGELOG.md' else [n for n in named(path) if not is_there(n, path, names)]
        cases.check(not missing, f'{name}: the files that it names', *missing)
    lost = [path for path in documents() if path not in reached]
    cases.check(not lost, 'README.md leads to each document', *lost)
    sys.exit(cases.done())


main()
