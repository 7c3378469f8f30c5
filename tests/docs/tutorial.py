#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tutorial.py STRATA - runs the lessons of docs/tutorial.md on a terminal: each prints the block that the document
shows. Numbers may differ, and `...` stands for any lines. Root. Prints TAP."""
import os
import pathlib
import pty
import re
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / 'tests' / 'lib'), str(TOP / 'tests' / 'prompt')]
from tap import Cases
from terminal import Terminal

STRATA = os.path.abspath(sys.argv[1])
HOME = '/home/you/strata'  # the tree, in the document
LESSON = re.compile(r'^## (\d+)\. (.*)$', re.M)
BLOCK = re.compile(r'(?:^    .*\n|^\n(?=    ))+', re.M)
SCRIPT = re.compile(r'`([\w.]+\.bt)`:\n\n```\n(.*?)^```$', re.M | re.S)


def lessons():
    """Returns [(title, text)]."""
    parts = LESSON.split((TOP / 'docs/tutorial.md').read_text())
    return [(f'{number}. {title}', text) for number, title, text in zip(parts[1::3], parts[2::3], parts[3::3])]


def commands(text):
    """Returns [(command, the output in the document)]."""
    found = []
    for block in BLOCK.findall(text):
        lines = [line[4:] for line in block.rstrip('\n').split('\n')]
        for line in lines:
            if line.startswith('$ '):
                found.append((line[2:], []))
            elif found:
                found[-1][1].append(line)
    return [(command, '\n'.join(lines)) for command, lines in found]


def pattern(shown):
    """Returns a regular expression for the output. Numbers, widths of columns and bars may differ."""
    lines = []
    for line in shown.strip('\n').split('\n'):
        if line.strip() == '...':
            lines.append(r'(?:.*\n)*?')
            continue
        line = re.escape(line).replace(re.escape(HOME), r'\S+')
        line = re.sub(r'(\\ )+', r'[ ]+', line)
        line = re.sub(r'\d+', r'\\d+', line)
        lines.append(re.sub(r'@{3,}', '@+', line) + r'[ ]*\n' if line else r'\n*')
    return re.compile(r'\s*' + ''.join(lines) + r'\s*\Z')


def on_terminal(command):
    """Returns the final output on a terminal, without the line that shows progress."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execvp('sh', ['sh', '-c', command])
    printed = b''
    while True:
        try:
            printed += os.read(fd, 65536)
        except OSError:  # the other end is closed
            break
    os.waitpid(pid, 0)
    os.close(fd)
    text = printed.decode(errors='replace').replace('\r\n', '\n')
    return re.sub(r'^[^\n]*\r\x1b\[K', '', text, flags=re.M)


def at_prompt(shown):
    """Types the lines of the document at a prompt, each after the answer to the previous one. Returns the text."""
    with Terminal([STRATA], 100, 100) as terminal:
        terminal.wait('strata> ')
        for line, answer in re.findall(r'^strata> (.*)\n((?:(?!strata> ).*\n)*)', shown + '\n', re.M):
            terminal.line(line)
            typed = pattern(f'strata> {line}\n{answer}strata>').pattern.removesuffix(r'[ ]*\n\s*\Z')
            terminal.until(lambda screen: re.search(typed, screen) or 'left with' in screen)
        return (terminal.wait('left with') or terminal.history()).partition('left with')[0]


def run(command, shown):
    command = command.removeprefix('sudo ')
    return at_prompt(shown) if command == 'strata' else on_terminal(command)


def main():
    if os.geteuid() != 0:
        print('1..0 # SKIP needs root')
        return 77
    cases = Cases()
    with tempfile.TemporaryDirectory() as directory:
        home = pathlib.Path(directory)
        (home / 'strata').symlink_to(STRATA)
        for name in 'LICENSE', 'README.md', 'examples':
            (home / name).symlink_to(TOP / name)
        os.chdir(home)
        # The system's Python is first in PATH, before that of a version manager.
        os.environ |= {'PATH': f'{home}:/usr/sbin:/usr/bin:/sbin:/bin', 'TERM': 'xterm', 'LC_ALL': 'C.UTF-8'}
        found = lessons()
        cases.check([title.partition('.')[0] for title, _ in found] == [str(n) for n in range(1, 11)], 'there are ten lessons')
        for title, text in found:
            for name, script in SCRIPT.findall(text):
                (home / name).write_text(script)
            ran = commands(text)
            cases.check(ran, f'{title}: has a command')
            for command, shown in ran:
                printed = run(command, shown)
                cases.check(pattern(shown).match(printed + '\n'), f'{title}: {command[:70]}', printed)
        cases.check((home / 'cpu.svg').read_text().rstrip().endswith('</svg>'), 'the picture is there')
    return cases.done()


sys.exit(main())
