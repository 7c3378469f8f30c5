#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""real.py - samples nginx with Lua while clients load it (web.conf, shop.lua).

    real.py STRATA SECONDS [HOST]...

99.4 % of the stacks are whole to the thread's start, and those of requests have the function that answers, or the coroutine, which
nginx itself resumes. Of the samples of
requests each part of the program has the same share as of the CPU time that the program itself measured. A HOST is a name of
luas.py, such as bookworm-nginx."""
import collections
import http.client
import itertools
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import threading

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / 'lib')]
import absent
import luas
import waits

SCRIPT = 'profile:hz:199 { @[ustack] = count(); } interval:s:%d { exit(); }'
STACK = re.compile(r'^@\[\n(.*?)^\]: (\d+)$', re.M | re.S)
OWN = re.compile(r'(?:shop\.)?(\w+) \S*shop\.lua')
PARTS = ['sorted', 'replaced', 'priced']
CLIENTS = 3
NEAR = 0.06  # of all samples
WHOLE = 0.994
INLINED = '[inlined functions not readable]'  # a trace calls C: its callers may be inlined


def get(connection, path):
    connection.request('GET', path)
    response = connection.getresponse()
    return response.status, response.read().decode()


def load(port, stop, failures):
    """Sends requests until it is stopped."""
    connection = http.client.HTTPConnection('127.0.0.1', port, timeout=60)
    for n in itertools.count():
        if stop.is_set():
            return
        status, text = get(connection, f'/article/{n}')
        if status != 200:
            failures.append(text)
            return


def spent(port):
    """Returns the CPU time of each part so far."""
    status, text = get(http.client.HTTPConnection('127.0.0.1', port, timeout=60), '/spent')
    assert status == 200, text
    return {name: float(seconds) for name, seconds in (line.split('\t') for line in text.splitlines())}


def is_open(port):
    with socket.socket() as s:
        return s.connect_ex(('127.0.0.1', port)) == 0


def sampled(strata, seconds, name):
    """Returns what strata printed, the CPU time of each part meanwhile, and requests that failed."""
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        port = s.getsockname()[1]
    with tempfile.TemporaryDirectory(dir='/tmp') as directory:  # it exists whatever the root is
        text = (HERE / 'web.conf').read_text().replace('DIRECTORY', directory).replace('PORT', str(port))
        pathlib.Path(directory, 'web.conf').write_text(text + '\n')
        pathlib.Path(directory, 'shop.lua').write_bytes((HERE / 'shop.lua').read_bytes())
        program = subprocess.Popen([luas.get(name), '-p', '/usr/share/nginx', '-c', f'{directory}/web.conf',
                                    '-g', 'user root;'], cwd='/tmp')
        try:
            waits.until(lambda: is_open(port), 'nginx to listen')
            stop, failures = threading.Event(), []
            clients = [threading.Thread(target=load, args=(port, stop, failures)) for _ in range(CLIENTS)]
            for client in clients:
                client.start()
            tracer = subprocess.Popen([strata, '-p', str(program.pid), '-e', SCRIPT % seconds], stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, text=True, errors='replace')
            next(line for line in tracer.stderr if line.startswith('Attached'))
            before = spent(port)
            printed = tracer.communicate()[0]
            after = spent(port)
            stop.set()
            for client in clients:
                client.join()
        finally:
            program.kill()
            program.wait()
    return printed, {part: after[part] - before[part] for part in PARTS}, failures


def check(strata, seconds, name):
    printed, times, failures = sampled(strata, seconds, name)
    count, bad, total, whole, requests = collections.Counter(), collections.Counter(), 0, 0, 0
    for text, n in STACK.findall(printed):
        n, frames = int(n), [line.strip() for line in text.splitlines() if line.strip() != INLINED]
        total += n
        whole += n * (not frames[-1].startswith('['))
        if frames[-1].startswith('['):
            bad[text] += n
        named = [found[1] for found in map(OWN.match, frames) if found]
        own = [part for part in PARTS if part in named or (part == 'priced' and 'each' in named)]
        if 'shop.lua' in text:
            requests += n
            if not frames[-1].startswith('[') and (len(own) > 1 or not {'answer', 'spent', 'each'} & set(named)):
                bad['no frame that answers:\n' + text] += n
                whole -= n
        count.update(dict.fromkeys(own, n))
    measured, parts = sum(times.values()), sum(count.values())
    near = [part for part in PARTS if abs(count[part] / max(parts, 1) - times[part] / max(measured, 1e-9)) < NEAR]
    fine = total > 30 * seconds and requests > total / 2 and whole >= WHOLE * total and \
        len(near) == len(PARTS) and not failures
    print(f'{"ok" if fine else "not ok"} {name}: {total} samples of nginx, {100 * whole / max(total, 1):.2f} % whole, {requests} in requests; '
          f'{len(near)} of {len(PARTS)} parts have their share', *failures[:1], flush=True)
    for part in PARTS:
        print(f'  {100 * count[part] / max(parts, 1):4.1f} %, the program {100 * times[part] / max(measured, 1e-9):4.1f} %: {part}')
    for text, n in bad.most_common(4):
        print(f'  {n}:\n{text}')
    return fine


def main(strata, seconds, *names):
    failed = False
    for name in names or ('bookworm-nginx', 'trixie-nginx'):
        try:
            failed |= not check(strata, int(seconds), name)
        except absent.Missing as e:
            failed |= absent.fails(name, e)
    return failed


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
