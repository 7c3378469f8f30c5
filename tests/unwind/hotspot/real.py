#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""real.py - samples Debian's Tomcat under load (Web.java), next to Java Flight Recorder, which openjdk contains.

    real.py STRATA SECONDS [VERSION]...

99 % of the stacks are whole to the thread's start. The recorder's ten hottest methods, with the methods that they call and
without those that have most samples, are as hot in strata's samples of Java code, within a factor of two: the recorder
samples a few threads at a time, and leaves out stacks that it cannot walk. Its period of 20 ms would give some 30 samples of
the tenth method; it is 1 ms here. From 25 on it samples CPU time, too. That is used there, since its other samples wait for a
safepoint: they had a method in 14 % that was in 1 % of all samples of strata, and of the recorder's samples of CPU time.

Both sides count a method where it has a frame of its own or is below a call. Methods inlined at the interrupted instruction
do not count: the recorder takes them from the next place, by address, for which HotSpot has them. In one run a single
bytecode, the end of a loop in TreeMap, had 55 of its 422 samples. strata follows the code to the next place."""
import collections
import datetime
import itertools
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import busy
import javas
import packages

HERE = pathlib.Path(__file__).resolve().parent
SCRIPT = 'profile:hz:199 { @[ustack(full)] = count(); } interval:s:%d { exit(); }'
JARS = {'tomcat-embed-core': 'libtomcat10-embed-java', 'tomcat-annotations-api': 'libtomcat10-java'}
THEIRS = [(17, 'jdk.ExecutionSample', 'jdk.ExecutionSample#period=1ms'),
          (25, 'jdk.CPUTimeSample', 'jdk.CPUTimeSample#enabled=true,jdk.CPUTimeSample#throttle=2ms')]
JAVA = re.compile(r'([\w.$/+-]+\.[\w$<>]+) \w+\.java(?::\d+)?( \[inlined\])?$')


def classpath():
    """Returns Tomcat's jars, from Debian's packages."""
    at = javas.CACHE.resolve() / 'tomcat'
    if not at.exists():
        packages.unpack(javas.CACHE, 'bookworm', 'amd64', at, JARS.values())
    return [str(next(at.glob(f'usr/share/maven-repo/**/{jar}-10.1*.jar')).resolve()) for jar in JARS]


def name_of(method):
    return method['type']['name'].replace('/', '.') + '.' + method['name']


def placed(frames):
    """Returns the names of a stack of (name, whether inlined), without those that were inlined at its instruction."""
    return {name for name, _ in itertools.dropwhile(lambda frame: frame[1], frames)}


def recorded(java, recording, kind, begin, end):
    """Returns the share of the recorder's samples of Java code, from begin to end, that each method is in."""
    done = subprocess.run([java, '-m', 'jdk.jfr/jdk.jfr.internal.tool.Main', 'print', '--json', '--stack-depth', '64', '--events',
                           kind, recording], stdout=subprocess.PIPE, text=True, check=True)
    count, samples = collections.Counter(), 0
    for event in json.loads(done.stdout)['recording']['events']:
        frames = event['values']['stackTrace']['frames']
        time_of = datetime.datetime.fromisoformat(event['values']['startTime']).timestamp()
        if begin < time_of < end and frames[0]['type'] != 'Native':
            samples += 1
            count.update(placed([(name_of(frame['method']), frame['type'] == 'Inlined') for frame in frames]))
    # Java hides lambdas, the recorder does not
    return {name: n / samples for name, n in count.items() if '$$Lambda' not in name}


def sampled(strata, seconds, command):
    """Returns (samples, those that are whole, examples of others, share of each method in samples of Java code, time of the
    beginning, and of the end)."""
    whole = total = java = 0
    methods, bad = collections.Counter(), collections.Counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as program:
        while program.stdout.readline() not in ('begun\n', ''):
            pass
        begin = time.time()
        done = subprocess.run([strata, '-p', str(program.pid), '-e', SCRIPT % seconds], stdout=subprocess.PIPE, text=True,
                              errors='replace', check=True)
        end = time.time()
        program.wait()
    for frames, n in busy.stacks_of(done.stdout):
        total += n
        if frames[-1].startswith('['):
            bad['\n    '.join(frames)] += n
        else:
            whole += n
        if JAVA.match(frames[0]):
            java += n
            for name in placed([(found.group(1), found.group(2)) for found in map(JAVA.match, frames) if found]):
                methods[name] += n
    return total, whole, bad, {name: n / java for name, n in methods.items()}, begin, end


def check(strata, seconds, name):
    with tempfile.TemporaryDirectory(dir=javas.CACHE.parent) as d:
        jars = classpath()
        javas.compiled(HERE / 'Web.java', d, 11, jars)
        command = javas.command(name)
        _, kind, settings = max(row for row in THEIRS if row[0] <= int(name))
        jfr = f'-XX:StartFlightRecording:filename={d}/web.jfr,settings=profile,{settings}'
        command += [jfr, '-cp', ':'.join([d, *jars]), 'Web', d, str(seconds + 8)]
        total, whole, bad, methods, begin, end = sampled(strata, seconds, command)
        theirs = recorded(command[0], f'{d}/web.jfr', kind, begin, end)
    hottest = sorted((m for m in theirs if theirs[m] < 0.3), key=theirs.get)[-10:]
    equal = [m for m in hottest if 0.5 < methods.get(m, 0) / theirs[m] < 2]
    fine = total > 100 * seconds and whole >= 0.99 * total and len(equal) >= 9
    print(f'{"ok" if fine else "not ok"} {name}: {total} samples of Tomcat, {100 * whole / max(total, 1):.2f} % whole; {len(equal)} of the '
          f'recorder\'s ten hottest methods are as hot', flush=True)
    for m in reversed(hottest):
        print(f'  {100 * methods.get(m, 0):4.1f} %, recorder {100 * theirs[m]:4.1f} %: {m}')
    for text, n in bad.most_common(0 if fine else 5):
        print(f'  {n}:\n    {text}')
    return fine


def main(strata, seconds, *names):
    failed = False
    for name in names or ('17', '21', '25'):
        try:
            failed |= not check(strata, int(seconds), name)
        except javas.Missing as e:
            failed |= javas.fails(name, e)
    return failed


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
