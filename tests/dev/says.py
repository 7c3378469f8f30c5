#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""says.py - the output of ./dev while it installs packages and compiles strata, on a terminal and in a
file. Uses stand-ins for apt-get, meson and ninja."""
import os
import pathlib
import pty
import subprocess
import sys
import tempfile

from owner import FAKES, TOP, stand_ins
from tap import Cases

# A machine that lacks one package. The messages of a library have brackets, like the steps of ninja.
NINJA = 'for n in 1 2 3 4 5 6 7 8 9 10; do echo "[$n/10] step"; echo "[libx WARNING a/b.cc:44] no"; done'
# apt closes the descriptor of its status lines before dpkg prints a message.
APT = '''case "$*" in *update*) exit 0 ;; esac
all="$*" fd=${all##*Status-Fd=} fd=${fd%% *}
eval "exec 9>&$fd $fd>&-"
echo "dlstatus:1:50.0000:Retrieving file 1 of 1" >&9
echo "pmstatus:bison:33.3333:Unpacking bison (amd64)" >&9
echo "E: a reason"
exit $APT_STATUS'''
LACKING = FAKES | {
    'apt-get': APT,
    'dpkg-query': 'case "$*" in *bison) echo not-installed ;; *) echo installed ;; esac',
    'ninja': NINJA,
    'sudo': 'exec "$@"',
}


def on_terminal(command, env):
    """Returns the output of ./dev on a terminal."""
    ours, its = pty.openpty()
    process = subprocess.Popen(command, env=env, stdin=its, stdout=its, stderr=its)
    os.close(its)
    said = b''
    try:
        while part := os.read(ours, 4096):
            said += part
    except OSError: # the other end of the terminal is closed
        pass
    os.close(ours)
    process.wait()
    return said.decode()


def main():
    if not pathlib.Path('/etc/debian_version').exists():
        print('1..0 # SKIP needs a system with apt')
        return 0
    cases = Cases()
    with tempfile.TemporaryDirectory() as directory:
        top = pathlib.Path(directory) / 'tree'
        top.mkdir()
        stand_ins(top, LACKING)
        env = {'PATH': f'{top}/bin:/usr/sbin:/usr/bin:/sbin:/bin', 'APT_STATUS': '0'}
        command = [top / 'dev', 'build']
        done = subprocess.run(command, env=env, capture_output=True, text=True)
        lines = done.stderr.splitlines()
        cases.check(done.returncode == 0 and all(line.startswith('dev: ') for line in lines), 'no line but its own', *lines)
        cases.check('dev: build/release: 10 of 10' in lines and 'WARNING' not in done.stderr, 'the steps of a build', *lines)
        cases.check('status:' not in done.stderr, 'a file gets no progress of apt', *lines)
        said = on_terminal(command, env)
        wanted = ('\rdev: apt-get: 50 % fetched ', '\rdev: apt-get: 33 % installed ', '\rdev: build/release: 10 of 10 ')
        cases.check(all(w in said for w in wanted) and 'WARNING' not in said, 'a terminal gets both', repr(said))
        done = subprocess.run(command, env=env | {'APT_STATUS': '1'}, capture_output=True, text=True)
        cases.check(done.returncode == 1 and '\nE: a reason\ndev: installing failed: ' in done.stderr,
                    'the messages of apt-get if it fails', done.stderr)
    return cases.done()


if __name__ == '__main__':
    sys.exit(main())
