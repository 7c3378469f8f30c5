#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""busy.py - samples Java programs whose chains of calls are known.

    busy.py STRATA SECONDS [VERSION:MODE]...

Of Busy.java no stack may have an impossible chain, and 99.5 % are whole to the thread's start. A stack of Virtual.java (21
and later) has all callers, or says that the rest is in the heap."""
import collections
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

import javas

HERE = pathlib.Path(__file__).resolve().parent
SCRIPT = 'profile:hz:%d { @[ustack] = count(); } interval:s:%d { exit(); }'

# The next frame of the program below each one.
CALLERS = {
    'Busy.leaf': r'Busy\.(a|lambda\$sorts\$\d|recurses)',
    'Busy.a': r'Busy\.b',
    'Busy.b': r'Busy\.(lambda\$(lambdas|streams)\$\d|reflects|synchronises)',
    'Busy.recurses': r'Busy\.(recurses|main)',
    'Busy.thrower': r'Busy\.(thrower|exceptions)',
    'Virtual.spin': r'Virtual\.deep',
    'Virtual.deep': r'Virtual\.(deep|turns)',
    'Virtual.turns': r'Virtual\.run',
    'Virtual.<init>': r'Virtual\.main',
    'Throws.thrower': r'Throws\.(thrower|exceptions)',
    'Throws.exceptions': r'Throws\.main',
    'Throws$Light.<init>': r'Throws\.thrower',
}
for name in ('lambdas', 'streams', 'sorts', 'reflects', 'strings', 'exceptions', 'synchronises', 'maps'):
    CALLERS['Busy.' + name] = r'Busy\.main'
    CALLERS[f'Busy.lambda${name}'] = rf'Busy\.{name}'
OUTERMOST = r'(Busy|Throws)\.main|Virtual\.(main|run)'
MARK = '[continuation]'


def callers_of(name):
    return CALLERS.get(name) or CALLERS.get(re.sub(r'\$\d+$', '', name))


def is_possible(frames):
    """Whether each frame of the program has a possible caller; a stack that says that it ends early lacks some."""
    ends_early = frames[-1].startswith('[')
    own = [f.split()[0] for f in frames if re.match(r'(Busy|Virtual|Throws(\$Light)?)\.', f)]
    if not own and frames[0] == '<_rethrow_Java>': # only methods of the programs throw that often
        return ends_early
    for i, name in enumerate(own):
        wanted = callers_of(name)
        if i + 1 < len(own):
            if not wanted or not re.fullmatch(wanted, own[i + 1]):
                return False
        elif not ends_early and not re.fullmatch(OUTERMOST, name):
            return False
    return True


def is_deep(frames):
    """Whether a stack of Virtual has all copies of a method that calls itself. Of an interrupted position in compiled
    code only the next one with debug information is known, which may be in another inlined copy."""
    own = [f.split()[0] for f in frames if f.startswith('Virtual.')]
    return frames[-1].startswith('[') or own[:1] != ['Virtual.spin'] or 20 <= own.count('Virtual.deep') <= 22


def stacks_of(text):
    """Yields (frames, samples) of each stack of @."""
    for found in re.finditer(r'^@\[\n(.*?)^\]: (\d+)$', text, re.M | re.S):
        frames = [line.strip() for line in found.group(1).splitlines() if line.strip()]
        if frames:
            yield frames, int(found.group(2))


def sampled(strata, command, seconds, hz):
    """Yields (frames, samples) of each stack."""
    program = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        time.sleep(1)  # not a clock: the first samples would be of the start
        done = subprocess.run([strata, '-p', str(program.pid), '-e', SCRIPT % (hz, seconds)], capture_output=True,
                              text=True, errors='replace', check=True)
    finally:
        program.kill()
        program.wait()
    yield from stacks_of(done.stdout)


def check(strata, seconds, name, mode, classes, program):
    total = whole = wrong = java = heap = shallow = 0
    examples = collections.Counter()
    command = [*javas.command(name, mode), '-cp', classes, program, str(seconds + 10)]
    for frames, n in sampled(strata, command, seconds, 999):
        total += n
        if not frames[-1].startswith('[') or frames[-1] == MARK:
            whole += n
        else:
            examples['\n    '.join(frames[-4:])] += n
        heap += n if frames[-1] == MARK else 0
        java += n if any(f.startswith(program + '.') for f in frames) else 0
        if not is_deep(frames):
            shallow += n
            examples['copies are missing:\n    ' + '\n    '.join(frames)] += n
        if not is_possible(frames):
            wrong += n
            examples['impossible:\n    ' + '\n    '.join(frames)] += n
    fine = total > 100 * seconds and java > total / 4 and not wrong and not shallow and whole >= 0.995 * total and \
        (heap > 0) == (program == 'Virtual')
    print(f'{"ok" if fine else "not ok"} {name}:{mode} {program}: {total} samples, {java} of its methods, '
          f'{100 * whole / max(total, 1):.2f} % whole, {heap} continue in the heap, {wrong} impossible, {shallow} lack copies', flush=True)
    for text, n in examples.most_common(0 if fine else 5):
        print(f'  {n}:\n    {text}')
    return fine


def check_child(strata, name, classes):
    """A process that begins under strata fills its tables after they were mapped; its methods keep their names when it
    has ended."""
    command = ' '.join([*javas.command(name), '-cp', classes, 'Busy', '2'])
    done = subprocess.run([strata, '-c', command, '-e', 'profile:hz:99 { @[javastack(func)] = count(); }'],
                          capture_output=True, text=True, errors='replace')
    found = sum(int(n) for n in re.findall(r'Busy\.main Busy\.java:[\d-]+\n\]: (\d+)', done.stdout))
    print(f'{"ok" if found > 5 else "not ok"} {name} as a child: {found} samples end in main')
    if found <= 5:
        print(done.stdout[-1000:], done.stderr)
    return found > 5


def has_run(pid):
    """Waits until java has run for half a second: the commands that enter its root do not need as much."""
    while True:
        fields = pathlib.Path('/proc', str(pid), 'stat').read_text().rpartition(')')[2].split()
        if int(fields[11]) + int(fields[12]) >= os.sysconf('SC_CLK_TCK') / 2:
            return
        time.sleep(0.05)


def begun(strata, pid, script):
    """Returns a tracer that has attached to the process."""
    tracer = subprocess.Popen([strata, '-p', str(pid), '-e', script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              errors='replace')
    line = tracer.stderr.readline()
    while line and not line.startswith('Attached'):
        line = tracer.stderr.readline()
    return tracer


def check_late(strata, name, classes):
    """If the process has ended before strata read inlined methods, the stack says that they are missing."""
    program = subprocess.Popen([*javas.command(name), '-cp', classes, 'Busy', '5'], stdout=subprocess.DEVNULL)
    has_run(program.pid)
    tracer = begun(strata, program.pid, 'profile:hz:199 { @[ustack] = count(); }')
    tracer.send_signal(signal.SIGSTOP)
    program.wait()
    tracer.send_signal(signal.SIGCONT)
    tracer.send_signal(signal.SIGINT)
    out, _ = tracer.communicate(timeout=120)
    total = marked = wrong = 0
    for frames, n in stacks_of(out):
        total += n
        if frames[-1].startswith('[inlined'):
            marked += n
        elif not is_possible(frames):
            wrong += n
    fine = total > 50 and marked and not wrong
    print(f'{"ok" if fine else "not ok"} {name}: read late: {total} samples, {marked} say that methods are missing, {wrong} impossible')
    return fine


def check_answer(strata, name, classes):
    """The first line of `strata cpu` names the program's own method, whatever methods of the JDK it calls."""
    program = subprocess.Popen([*javas.command(name), '-cp', classes, 'Busy', '20'], stdout=subprocess.DEVNULL)
    try:
        time.sleep(1)  # not a clock: the first samples would be of the start
        done = subprocess.run([strata, 'cpu', '-d', '2', '-p', str(program.pid)], capture_output=True, text=True,
                              errors='replace')
    finally:
        program.kill()
        program.wait()
    answer = done.stdout.strip().splitlines()[:1]
    fine = bool(answer and re.match(r'\d+ % of @cpu: .*\bBusy\.', answer[0]))
    print(f'{"ok" if fine else "not ok"} {name}: the answer names the program: {answer}')
    return fine


def main(strata, seconds, *cases):
    failed = False
    with tempfile.TemporaryDirectory(dir=javas.CACHE.parent) as classes:
        try:
            for source in ('Busy.java', 'Throws.java', 'Virtual.java'):
                javas.compiled(HERE / source, classes)
        except javas.Missing as e:
            return javas.fails('17', e)
        for case in cases or [f'{n}:{m}' for n in javas.names() for m in javas.modes(n)]:
            name, mode = case.split(':')
            programs = ['Busy', 'Throws', 'Virtual'] if int(name) >= 21 else ['Busy', 'Throws']
            try:
                if mode == 'default':
                    failed |= not check_child(strata, name, classes)
                    failed |= not check_answer(strata, name, classes)
                    failed |= not check_late(strata, name, classes)
                failed |= not all([check(strata, int(seconds), name, mode, classes, p) for p in programs])
            except javas.Missing as e:
                failed |= javas.fails(name, e)
    return failed


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
