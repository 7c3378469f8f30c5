# SPDX-License-Identifier: Apache-2.0
"""built.py - cases as programs of strata build: what is compiled where, with which options."""
import pathlib
import shlex
import subprocess
import zlib

BUILD, RUN, BOTH = ('--unsafe',), ('-q',), ('--no-warnings',)  # options without an argument
RUN_WITH = ('-c', '-f')                                         # with one
COMPILED = 6  # of so many cases, one is compiled where it runs


def split(words):
    """Returns the options of strata build and those of the program, or None if a built program lacks one."""
    build, run, words = [], [], list(words)
    while words:
        word = words.pop(0)
        if word in BUILD + BOTH:
            build.append(word)
        if word in RUN + BOTH:
            run.append(word)
        elif word in RUN_WITH:
            run += [word, words.pop(0)]
        elif word not in BUILD:
            return None
    return build, run


def is_compiled(name):
    """Returns whether the case of that name is compiled where it runs even if there is an image."""
    return zlib.crc32(name.encode()) % COMPILED == 0


def build(strata, script, image, args, params, cwd):
    """Makes an image of the script. Returns the program's options and the warnings, or None and the reason why there is no
    image."""
    parts = split(shlex.split(args))
    if parts is None:
        return None, f'built programs do not take {args}'
    done = subprocess.run([strata, 'build', *parts[0], '-o', str(image), script, *shlex.split(params)], cwd=cwd,
                          capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode or not pathlib.Path(image).exists():
        return None, done.stderr.strip().replace('\n', ' | ')
    return parts[1], done.stderr
