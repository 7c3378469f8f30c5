#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""completion.py STRATA - shell completion: every option and type of probe, and attach points of this kernel;
also in bash on a terminal, and in zsh and fish if they are installed."""
import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / 'tests' / 'lib'))
from tap import Cases

STRATA = os.path.abspath(sys.argv[1])
FILES = TOP / 'packaging' / 'completion'
cases = Cases()


def offered(option, text):
    out = subprocess.run([STRATA, f'--complete={option}', '--', text], capture_output=True, text=True).stdout
    return [line.split('\t')[0] for line in out.splitlines()]


help_text = subprocess.run([STRATA, '-h'], capture_output=True, text=True).stdout
options = re.findall(r'^  (?:-\w, |    )(--[\w-]+)', help_text, re.M)
cases.check(len(options) > 10 and offered('', '-') == options, 'every option is offered, nothing else',
            options, offered('', '-'))
info = subprocess.run([STRATA, '--info'], capture_output=True, text=True).stdout
types = re.findall(r'^  (\w+) ', info[info.index('\nProbes'):info.index('\nBuiltins')], re.M)
cases.check(len(types) > 10 and [t.rstrip(':') for t in offered('-l', '')] == types, 'every type of probe is offered',
            types, offered('-l', ''))
features = re.findall(r'^  (\w+) +(?:yes|no) ', info[info.index('Kernel features'):info.index('\nProbes')], re.M)
cases.check(offered('--no-feature', '') == features, 'every feature', features, offered('--no-feature', ''))
cases.check('image' in offered('-d', ''), 'the stages of -d')
formats = re.findall(r'^  (\w+) ', help_text[help_text.index('\nFormats'):help_text.index('\nExamples')], re.M)
cases.check('text' in formats and offered('-f', '') == formats, 'the formats of -f', formats, offered('-f', ''))
cases.check(offered('strata', 'sho') == ['show'] and 'offcpu' in offered('/usr/bin/strata', 'off') and not offered('strata', ''),
            'the first word: tools and show; without a letter files')
help_of_show = subprocess.run([STRATA, 'show', '-h'], capture_output=True, text=True).stdout
options_of_show = re.findall(r'^  (?:-\w, |    )(--[\w-]+)', help_of_show, re.M)
cases.check(len(options_of_show) > 8 and offered('show', '--') == options_of_show, 'the options of show', options_of_show, offered('show', '--'))
cases.check('uprobe:libc:malloc' in offered('-e', 'uprobe:libc:mallo'), "a library's functions")
cases.check('uprobe:/usr/bin/' in offered('-e', 'uprobe:/usr/b'), 'paths')
cases.check('fentry:vfs_read' in offered('-l', 'fentry:vfs_rea'), "the kernel's functions")
if os.geteuid() == 0:
    cases.check(offered('-l', 'tracepoint:sche') == ['tracepoint:sched:'], 'categories of tracepoints',
                offered('-l', 'tracepoint:sche'))
    cases.check('tracepoint:sched:sched_switch' in offered('-e', 'tracepoint:sched:sched_sw'), 'tracepoints')
else:
    cases.skip('tracepoints', 'needs root')


def typed(shell, start, keys, wanted):
    """Returns the text on a terminal after these keys, when it contains `wanted` or after 5 s."""
    with tempfile.TemporaryDirectory() as home:
        os.symlink(STRATA, f'{home}/strata')
        pid, fd = pty.fork()
        if not pid:
            os.environ.update(HOME=home, PATH=f'{home}:/usr/bin:/bin', PS1='$ ', TERM='dumb', INPUTRC='/dev/null',
                              ZDOTDIR=home)
            os.execvp(shell[0], shell)
        shown = ''

        def wait(until, seconds=10):
            nonlocal shown
            end = time.monotonic() + seconds
            while until not in shown and time.monotonic() < end:
                if select.select([fd], [], [], 0.1)[0]:
                    try:
                        shown += os.read(fd, 65536).decode(errors='replace')
                    except OSError:
                        break
        for line in start:
            os.write(fd, (line + '\n').encode())
        os.write(fd, b'echo rea""dy\n')
        wait('ready')
        shown = ''
        os.write(fd, keys.encode())
        wait(wanted, 5)
        for _ in range(10): # ^C: the line must not run, since `strata` opens its prompt; a busy shell drops typed keys
            os.write(fd, b'\x03')
            wait('^C', 1)
            os.write(fd, b'echo do""ne\n')
            wait('done', 1)
            if 'done' in shown:
                break
        os.close(fd)
        os.waitpid(pid, 0)
    return re.sub(r'\x1b\[[0-9;?]*[A-Za-z]|\r|\x07', '', shown)


SHELLS = {
    'bash': (['bash', '--norc', '-i'], [f'source {FILES}/strata.bash']),
    'zsh': (['zsh', '-f', '-i'], [f'fpath=({FILES} $fpath)', 'autoload -U compinit && compinit -u -D']),
    'fish': (['fish', '-N', '-i'], [f'source {FILES}/strata.fish']),
}
for name, (command, start) in SHELLS.items():
    if not shutil.which(name):
        cases.skip(f'{name}: TAB', f'{name} is not installed')
        continue
    for keys, wanted in (('strata --dry\t', 'strata --dry-run '),
                         ("strata -l 'uprobe:libc:malloc_tri\t", "uprobe:libc:malloc_trim"),
                         ('strata -l uprobe:libc:malloc_tri\t', 'uprobe:libc:malloc_trim'),
                         ('strata -l rawtra\t', 'strata -l rawtracepoint:'),
                         ('strata --no-feature attach_c\t', 'attach_cookie')):
        shown = typed(command, start, keys, wanted)
        cases.check(wanted in shown, f'{name}: {keys.strip()} and TAB', f'wanted {wanted}', shown)
sys.exit(cases.done())
