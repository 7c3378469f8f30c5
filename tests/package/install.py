#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""install.py BUILD SOURCE - checks the files that meson install installs, and their folders."""
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
from tap import Cases

BUILD, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
WANTED = {
    'bin/strata': b'\x7fELF',
    'libexec/strata/strata-run': b'\x7fELF',
    'share/man/man8/strata.8': b'.TH STRATA 8',
    'share/man/man7/strata-lang.7': b'.TH STRATA-LANG 7',
    'share/man/man1/kubectl-strata.1': b'.TH KUBECTL-STRATA 1',
    'share/bash-completion/completions/strata': b'complete -F _strata strata',
    'share/zsh/site-functions/_strata': b'#compdef strata',
    'share/fish/vendor_completions.d/strata.fish': b'complete -c strata',
    'share/doc/strata/README.md': b'# strata',
    'share/doc/strata/CHANGELOG.md': b'# Changes',
    'share/doc/strata/examples/app.py': b'python',
    'share/doc/strata/examples/agent.conf': b'[agent]',
    'bin/kubectl-strata': b'kubectl strata',
    'share/doc/strata/examples/daemonset.yaml': b'kind: DaemonSet',
    'lib/systemd/system/strata-agent.service': b'ExecStart=/usr/bin/strata agent',
    'lib/sysusers.d/strata.conf': b'u strata',
    'share/licenses/strata/LICENSE': b'Apache License',
    'share/licenses/strata/GPL-2.0-only.txt': b'GNU GENERAL PUBLIC LICENSE',
    'share/licenses/strata/BSD-2-Clause.txt': b'Redistributions in binary form',
}
WANTED |= {f'share/strata/tools/{path.name}': path.read_bytes() for path in (SOURCE / 'tools').glob('*.bt')}
WANTED |= {f'share/doc/strata/examples/units/{path.name}': path.read_bytes() for path in (SOURCE / 'examples/units').glob('*.bt')}
WANTED |= {f'share/strata/sql/{path.relative_to(SOURCE / "share/sql")}': path.read_bytes() for path in
           (SOURCE / 'share/sql').glob('*/*.sql')}
NAMES = {'Apache-2.0': 'LICENSE', 'GPL-2.0-only': 'GPL-2.0-only.txt', 'BSD-2-Clause': 'BSD-2-Clause.txt'}


def licences():
    """The licences that the sources name."""
    text = subprocess.run(['grep', '-rhoE', '--exclude-dir=build', '--exclude-dir=.git', 'SPDX-License-Identifier: .*', '.'],
                          cwd=SOURCE, capture_output=True, text=True).stdout
    return set(re.findall(r'[A-Za-z]+-\d[\w.]*(?:-\w+)*', text.replace('SPDX-License-Identifier', '')))


cases = Cases()
with tempfile.TemporaryDirectory() as directory:
    done = subprocess.run(['meson', 'install', '-C', BUILD, '--no-rebuild', '--destdir', directory], capture_output=True,
                          text=True)
    cases.check(done.returncode == 0, 'meson install', done.stdout, done.stderr)
    found = {}
    for path in pathlib.Path(directory).rglob('*'):
        if path.is_file():
            name = str(path.relative_to(directory))
            found[re.sub(r'^usr/(local/)?', '', name)] = path.read_bytes()
for name, holds in WANTED.items():
    cases.check(holds in found.get(name, b''), f'{name} is installed', *found)
others = sorted(set(found) - set(WANTED))
cases.check(not others, 'nothing else is', *others)
for name in sorted(found):
    if name.startswith('bin/'):
        pages = [page for page in found if re.fullmatch(rf'share/man/man\d/{name[4:]}\.\d', page)]
        cases.check(pages, f'{name} has a manual page')
for name in sorted(licences()):
    cases.check('share/licenses/strata/' + NAMES.get(name, '?') in found, f'the text of {name} is installed')
sys.exit(cases.done())
