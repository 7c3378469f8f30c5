#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py STRATA COUNT [LANGUAGE[:VERSION...]]... - samples of functions that are freed after they ran for a moment, so that
later ones get the addresses of their code. Their names have numbers in the order in which they run: a sample with a smaller
number than the one before has the name of a function that is gone. Prints TAP."""
import pathlib
import re
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / 'lib'), str(HERE.parents[1] / 'pythons'),
                *(str(HERE.parent / stem) for stem in ('beam', 'lua', 'perl', 'php', 'ruby'))]
import beams
import luas
import perls
import phps
import pythons
import rubies
import traced
from absent import Missing, all_fail, as_root
from tap import Cases

SCRIPT = 'profile:hz:2999 { printf("stack %ld\\n%s", nsecs, ustack(16)); }'
LANGUAGES = {'erlang': (beams, None), 'lua': (luas, 'lua'), 'perl': (perls, 'pl'), 'php': (phps, 'php'),
             'python': (pythons, 'py'), 'ruby': (rubies, 'rb'), 'ruby-young': (rubies, 'young.rb')}
CASES = ('erlang:bookworm:sid', 'lua:bookworm-lua5.4:bookworm-luajit:sid-lua5.4:sid-luajit', 'perl:5.36', 'php:8.2',
         'python:debian-3.11', 'ruby:3.1:3.3', 'ruby-young:3.1:3.3')


def command(language, version, count, directory):
    """directory: below /tmp, which exists whatever the root is."""
    if language == 'erlang':
        beams.compile_module(version, HERE / 'replaced.erl', directory)
        return beams.command(version, directory, 'replaced', count)
    module, ending = LANGUAGES[language]
    program = phps.command(version, 'plain') if language == 'php' else \
        [pythons.get(version) / 'python'] if language == 'python' else [module.get(version)]
    return [*program, HERE / f'replaced.{ending}', count, directory]


def check(cases, strata, count, language, version):
    with tempfile.TemporaryDirectory(dir='/tmp') as directory:
        process = traced.start(*command(language, version, count, directory), cwd='/tmp')
        _, printed, said = traced.beside(process, strata, SCRIPT)
    stacks = re.split(r'^stack (?=\d)', b'\n'.join(printed).decode(errors='replace'), flags=re.M)[1:]
    named, wrong, last = 0, [], -1
    for stack in sorted(stacks, key=lambda stack: int(stack.partition('\n')[0])):
        numbers = [int(number) for number in re.findall(r'\bC?f(\d{6})\b', stack)]
        named += bool(numbers)
        if numbers and (min(numbers) < last or len(set(numbers)) > 1):
            wrong.append(f'after {last}: {stack}')
        elif numbers:
            last = numbers[0]
    cases.check(named > count / 8 and not wrong,
                f"{language} {version}: {len(wrong)} of {named} samples have another function's name",
                *wrong[:2], said.decode(errors='replace') if not named else '')


def main(strata, count, *wanted):
    cases = Cases()
    for case in wanted or CASES:
        language, *versions = case.split(':')
        for version in versions or LANGUAGES[language][0].names():
            try:
                check(cases, strata, int(count), language, version)
            except Missing as why:
                return all_fail(why)
    return cases.done()


if __name__ == '__main__':
    sys.exit(as_root(lambda: main(*sys.argv[1:])))
