#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""real.py - samples a Sinatra application under puma while clients load it (web.rb).

    real.py STRATA SECONDS [VERSION]...

99 % of the stacks are whole to the thread's start, and those of requests have puma's, Sinatra's and the application's frames.
Of the samples of requests each part of the program has the same share as of the CPU time that the program itself measured."""
import collections
import http.client
import itertools
import pathlib
import subprocess
import sys
import threading

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / 'lib')]
import absent
import busy
import rubies

SCRIPT = 'profile:hz:199 { @[ustack] = count(); } interval:s:%d { exit(); }'
PATHS = ['/rows/', '/parsed/', '/priced/']
PARTS = ['rows', 'drawn', 'parsed', 'priced']
CLIENTS = 4
NEAR = 0.05  # of all samples


def load(port, stop, failures):
    """Sends requests until it is stopped."""
    connection = http.client.HTTPConnection('127.0.0.1', port, timeout=30)
    for n in itertools.count():
        if stop.is_set():
            return
        connection.request('GET', f'{PATHS[n % len(PATHS)]}{n}')
        response = connection.getresponse()
        response.read()
        if response.status != 200:
            failures.append(response.status)
            return


def spent(program):
    """Returns the CPU time of each part since the last call."""
    program.stdin.write('\n')
    program.stdin.flush()
    lines = iter(program.stdout.readline, '\n')
    return {name: float(seconds) for name, seconds in (line.rstrip('\n').split('\t') for line in lines)}


def sampled(strata, seconds, name):
    """Returns what strata printed, the CPU time of each part meanwhile, and requests that failed."""
    command = [rubies.get(f'web-{name}'), HERE / 'web.rb']
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as program:
        port = int(program.stdout.readline())
        stop, failures = threading.Event(), []
        clients = [threading.Thread(target=load, args=(port, stop, failures)) for _ in range(CLIENTS)]
        for client in clients:
            client.start()
        tracer = subprocess.Popen([strata, '-p', str(program.pid), '-e', SCRIPT % seconds], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, errors='replace')
        next(line for line in tracer.stderr if line.startswith('Attached'))
        spent(program)
        printed = tracer.communicate()[0]
        times = spent(program)
        stop.set()
        for client in clients:
            client.join()
        program.stdin.close()
        program.wait()
    return printed, times, failures


def is_request(labels):
    return any('Sinatra::Base#call' in label or label == 'call!' for label in labels)


def check(strata, seconds, name):
    printed, times, failures = sampled(strata, seconds, name)
    total = whole = requests = 0
    count, bad = collections.Counter(), collections.Counter()
    for frames, n in busy.stacks_of(printed):
        total += n
        whole += n * (not frames[-1].startswith('['))
        labels = [frame.split(' /')[0] for frame in frames]
        if frames[-1].startswith('['):
            bad['\n    '.join(frames)] += n
        if is_request(labels):
            requests += n
            wanted = ('Puma::Server#', 'Sinatra::Base#') if name >= '3.3' else ('process_client', 'call!')
            if not all(any(w in label for label in labels) for w in wanted):
                bad['\n    '.join(['no frame of puma or Sinatra:', *frames])] += n
                whole -= n * (not frames[-1].startswith('['))
            count.update({part: n for part in PARTS if f'Web#{part}' in labels or part in labels})
    measured, parts = sum(times.values()), sum(count.values())
    near = [part for part in PARTS if abs(count[part] / max(parts, 1) - times.get(part, 0) / max(measured, 1e-9)) < NEAR]
    fine = total > 50 * seconds and requests > total / 2 and whole >= 0.99 * total and len(near) == len(PARTS) and not failures
    print(f'{"ok" if fine else "not ok"} {name}: {total} samples of puma, {100 * whole / max(total, 1):.2f} % whole, {requests} in '
          f'requests; {len(near)} of {len(PARTS)} parts have their share', *failures[:3], flush=True)
    for part in PARTS:
        print(f'  {100 * count[part] / max(parts, 1):4.1f} %, the program {100 * times.get(part, 0) / max(measured, 1e-9):4.1f} %: {part}')
    for text, n in bad.most_common(5):
        print(f'  {n}:\n    {text}')
    return fine


def main(strata, seconds, *names):
    failed = False
    for name in names or ('3.1', '3.3'):
        try:
            failed |= not check(strata, int(seconds), name)
        except absent.Missing as e:
            failed |= absent.fails(name, e)
    return failed


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
