#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""unload.py STRATA SECONDS [VERSION]... - samples a program whose classes are unloaded and whose code cache is flushed
(Unload.java): no frame has the name of another class."""
import pathlib
import re
import sys
import tempfile

import busy
import javas

HERE = pathlib.Path(__file__).resolve().parent
OPTIONS = ['-Xmx64m', '-XX:MaxMetaspaceSize=24m', '-XX:ReservedCodeCacheSize=6m', '-XX:+UseCodeCacheFlushing',
           '-XX:+ClassUnloading']
FRAME = re.compile(r'Unload\$Work(\d{4})\.(run|<init>|<clinit>|(?:inner|work)(\d{4})) Unload\.java(:[\d-]+)?$')


def wrong(frames):
    """Whether the frames of copies have different numbers, or one is not a method of the class."""
    own = [FRAME.match(f) for f in frames if f.startswith('Unload$Work')]
    return None in own or len({n for m in own for n in (m.group(1), m.group(3)) if n}) > 1


def check(strata, seconds, name, classes):
    total = copies = bad = 0
    seen, examples = set(), []
    command = [*javas.command(name), *OPTIONS, '-cp', classes, 'Unload', str(seconds + 10)]
    for frames, n in busy.sampled(strata, command, seconds, 999):
        numbers = re.findall(r'Unload\$Work(\d{4})', '\n'.join(frames))
        total += n
        copies += n if numbers else 0
        seen.update(numbers)
        if wrong(frames):
            bad += n
            examples.append('\n    '.join(frames))
    fine = copies > 50 * seconds and len(seen) > 10 and not bad
    print(f'{"ok" if fine else "not ok"} {name}: {total} samples, {copies} of {len(seen)} classes that are unloaded, {bad} have wrong '
          f'names', flush=True)
    for text in examples[:5]:
        print('    ' + text)
    return fine


def main(strata, seconds, *names):
    failed = False
    with tempfile.TemporaryDirectory(dir=javas.CACHE.parent) as classes:
        for name in names or javas.names():
            try:
                javas.compiled(HERE / 'Unload.java', classes)
                failed |= not check(strata, int(seconds), name, classes)
            except javas.Missing as e:
                failed |= javas.fails(name, e)
    return failed


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
