#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""release.py - the version, the changelog and the manual agree. In a small copy, ./dev release tags a tree in which they
agree, and refuses others."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / 'tests' / 'lib'))
from tap import Cases


def git(top, *args):
    return subprocess.run(['git', '-C', top, '-c', 'user.name=a', '-c', 'user.email=a@b.invalid', *args], check=True,
                          capture_output=True, text=True).stdout


def release(top, *args):
    done = subprocess.run([top / 'packaging/release', *args], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def copy(top):
    for name in 'packaging', 'man':
        (top / name).mkdir()
    for name in ['packaging/release', 'meson.build', 'CHANGELOG.md', *(f'man/{p.name}' for p in (TOP / 'man').iterdir())]:
        shutil.copy(TOP / name, top / name)
    changes = top / 'CHANGELOG.md'
    changes.write_text(re.sub(r'^## Unreleased\n.*?(?=^## )', '', changes.read_text(), flags=re.M | re.S))
    git(top, 'init', '-q')
    commit(top)


def commit(top):
    git(top, 'add', '-A')
    git(top, 'commit', '-qm', 'a tree')


def spoil(top, name, old, new):
    path = top / name
    text = path.read_text()
    assert old in text, (name, old)
    path.write_text(text.replace(old, new, 1))
    done = release(top, '--check')
    path.write_text(text)
    return done


def main():
    cases = Cases()
    done = release(TOP, '--check')
    cases.check(done[0] == 0, 'version, changelog and manual agree', done[1])
    with tempfile.TemporaryDirectory() as directory:
        top = pathlib.Path(directory)
        copy(top)
        version = (top / 'CHANGELOG.md').read_text().partition('## ')[2].partition(' ')[0]
        for name, new in ('meson.build', "version: '9.9.9'"), ('man/strata.8', '"strata 9.9.9"'):
            status, text = spoil(top, name, new.replace('9.9.9', version), new)
            cases.check(status == 1 and version in text and '9.9.9' in text, f'another version in {name} is refused', text)
        status, text = spoil(top, 'CHANGELOG.md', f'## {version} - ', f'## {version}, unreleased ')
        cases.check(status == 1 and 'CHANGELOG.md' in text, 'an unreleased version is refused', text)
        (top / 'new').write_text('')
        status, text = release(top)
        cases.check(status == 1 and 'has changes' in text and not git(top, 'tag'), 'a changed tree is refused', text)
        commit(top)
        git(top, 'config', 'user.name', 'a')
        git(top, 'config', 'user.email', 'a@b.invalid')
        status, text = release(top)
        notes = git(top, 'tag', '-l', '--format=%(contents)', f'v{version}')
        cases.check(status == 0 and git(top, 'tag').split() == [f'v{version}'] and notes.startswith(f'## {version}') and
                    notes.count('## ') == notes.count('### ') + 1, 'the tag has the section of the changelog', text, notes)
        status, text = release(top)
        cases.check(status == 1 and 'exists' in text, 'a version is tagged once', text)
        spoil_with = f'## Unreleased\n\n- A change.\n\n## {version} - '
        status, text = spoil(top, 'CHANGELOG.md', f'## {version} - ', spoil_with)
        cases.check(status == 0, 'changes after the newest version agree', text)
        path = top / 'CHANGELOG.md'
        path.write_text(path.read_text().replace(f'## {version} - ', spoil_with, 1))
        commit(top)
        status, text = release(top)
        cases.check(status == 1 and 'Unreleased' in text, '..but are not tagged', text)
    sys.exit(cases.done())


main()
