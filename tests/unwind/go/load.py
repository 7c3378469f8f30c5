#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""load.py - profiles a Go HTTP server under load by wrk, and the Go compiler. Prints the share of whole
stacks, and the hottest functions next to those of Go's own profiler.

    load.py STRATA [SECONDS [VERSION]]      root; wrk"""
import collections
import os
import pathlib
import re
import socket
import subprocess
import sys

import toolchains
import waits

HERE = pathlib.Path(__file__).resolve().parent
ADDRESS = '127.0.0.1:8199'
SCRIPT = 'profile:hz:199 { @[ustack] = count(); } interval:s:%s { exit(); }'
HOTTEST, POINTS, WHOLE = 10, 3.0, 99.5


def read_stacks(text):
    """Yields (count, lines) of each stack of @[ustack]."""
    for body, count in re.findall(r'@\[\n(.*?)\n?\]: (\d+)', text, re.S):
        yield int(count), [line.strip() for line in body.split('\n') if line.strip()]


def share_whole(stacks):
    total = sum(count for count, _ in stacks)
    why = collections.Counter()
    for count, lines in stacks:
        if lines and lines[-1].startswith('['):
            why[lines[-1]] += count
    return total, 100 * (1 - sum(why.values()) / max(total, 1)), why


def function_of(line):
    """The name of a frame, without file and line, or offset."""
    return re.sub(r'\+\d+$', '', re.sub(r' \S+:\d+$', '', line))


def hottest(stacks):
    self = collections.Counter()
    for count, lines in stacks:
        if lines and not lines[0].startswith('['):
            self[function_of(lines[0])] += count
    total = sum(self.values())
    return {name: 100 * n / total for name, n in self.items()}


def own_profile(version, program, profile):
    root = toolchains.goroot(version)
    env = dict(os.environ, GOROOT=str(root), GOTOOLCHAIN='local', GOFLAGS='-mod=mod',
               GOCACHE=str(toolchains.CACHE / f'cache-{version}'))
    out = subprocess.run([root / 'bin' / 'go', 'tool', 'pprof', '-top', '-nodefraction=0', '-flat', '-hide=^runtime.asyncPreempt$',
                          str(program), str(profile)], env=env, capture_output=True, text=True, check=True).stdout
    return {m.group(2): float(m.group(1))
            for m in re.finditer(r'^ *\S+ +([\d.]+)% +[\d.]+% +\S+ +[\d.]+%  (.*?)(?: \(inline\))?$', out, re.M)}


def trace(strata, seconds, *more):
    return subprocess.run([strata, '-q', '-e', SCRIPT % seconds, *more], capture_output=True, text=True).stdout


def is_served():
    host, port = ADDRESS.split(':')
    with socket.socket() as s:
        return s.connect_ex((host, int(port))) == 0


def serve(strata, seconds, version):
    program = toolchains.CACHE / 'programs' / f'load-{version}'
    profile = toolchains.CACHE / 'programs' / f'load-{version}.prof'
    toolchains.build(version, program, [HERE / 'load' / 'main.go'])
    server = subprocess.Popen([program, ADDRESS, profile, str(seconds)])
    waits.until(is_served, 'the server to listen')
    clients = [subprocess.Popen(['wrk', '-t1', '-c4', f'-d{seconds + 3}s', f'http://{ADDRESS}/{what}'],
                                stdout=subprocess.DEVNULL) for what in ('json', 'page', 'text')]
    waits.until(lambda: waits.spent(server.pid) > 0.5, 'the server to be at work')
    stacks = list(read_stacks(trace(strata, seconds, '-p', str(server.pid))))
    server.wait()
    for client in clients:
        client.terminate()
        client.wait()
    own, ours = own_profile(version, program, profile), hottest(stacks)
    total, whole, why = share_whole(stacks)
    print(f'server, go{version}: {total} stacks, {whole:.2f} % whole {dict(why)}')
    far = 0
    for name, share in sorted(own.items(), key=lambda x: -x[1])[:HOTTEST]:
        far = max(far, abs(share - ours.get(name, 0)))
        print(f'  {name:50} pprof {share:5.1f} %  strata {ours.get(name, 0):5.1f} %')
    print(f'  farthest apart: {far:.1f} points')
    return whole < WHOLE or far > POINTS


def compile_std(strata, seconds, version):
    root = toolchains.goroot(version)
    env = dict(os.environ, GOROOT=str(root), GOTOOLCHAIN='local', GOFLAGS='-mod=mod',
               GOCACHE=str(toolchains.CACHE / 'cache-load'))
    subprocess.run([root / 'bin' / 'go', 'clean', '-cache'], env=env)
    go = subprocess.Popen([root / 'bin' / 'go', 'build', '-a', 'std'], env=env)
    script = 'profile:hz:199 /comm == "compile" || comm == "go" || comm == "link" || comm == "asm"/'
    out = subprocess.run([strata, '-q', '-e', f'{script} {{ @[ustack(16384)] = count(); }} interval:s:{seconds} {{ exit(); }}'],
                         capture_output=True, text=True).stdout
    go.terminate()
    go.wait()
    total, whole, why = share_whole(list(read_stacks(out)))
    print(f'go build std, go{version}: {total} stacks, {whole:.2f} % whole {dict(why)}')
    return whole < WHOLE


def main(strata, seconds='60', version='1.27'):
    bad = serve(strata, int(seconds), version)
    return bad | compile_std(strata, int(seconds), version)


if __name__ == '__main__':
    sys.exit(77 if os.geteuid() else main(*sys.argv[1:]))
