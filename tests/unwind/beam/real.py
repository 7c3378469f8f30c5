#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""real.py - samples ejabberd of Debian while a client registers users, whose passwords it hashes (a recursion of 4096 functions),
and checks them.

    real.py STRATA SECONDS [APPLICATION]...

98 % of the stacks are whole. The others are in C that has no stack of Erlang to show: see docs/languages/erlang.md. Each stack that
hashes a password begins with the first function of its process and has the modules of the request in order, at any depth. An
APPLICATION is a name of beams.py, such as bookworm-ejabberd."""
import collections
import http.client
import itertools
import json
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / 'lib')]
import absent
import beams
import waits

SCRIPT = 'profile:hz:199 { @[ustack(8192)] = count(); } interval:s:%d { exit(); }'
STACK = re.compile(r'^@\[\n(.*?)^\]: (\d+)$', re.M | re.S)
ERLANG = re.compile(r"(?:'[^']*'|\w+):(?:'[^']*'|\w+)/\d+(?= |$)")
FIRST = 'proc_lib:init_p_do_apply/3'
MODULES = ['proc_lib', 'ejabberd_http', 'mod_http_api', 'ejabberd_auth', 'scram']  # each calls the next one
# The collector moves the stack, the process ends, or a match runs with another Process.
MARKED = re.compile(r'erts_garbage_collect|erts_gc_|garbage_collect|erts_continue_exit_process|db_prog_match')
WHOLE = 0.98
DEEPEST = 4096 - 100
CONFIG = '''hosts: [localhost]
loglevel: error
auth_method: [internal]
auth_password_format: scram
listen: [{port: PORT, ip: "127.0.0.1", module: ejabberd_http, request_handlers: {/api: mod_http_api}}]
api_permissions: {all: {who: all, what: "*"}}
modules: {mod_http_api: {}, mod_admin_extra: {}}
'''


def call(connection, name, **arguments):
    connection.request('POST', f'/api/{name}', json.dumps(arguments))
    response = connection.getresponse()
    return response.status, response.read().decode()


def load(port, stop, failures):
    """Sends requests until it is stopped."""
    connection = http.client.HTTPConnection('127.0.0.1', port, timeout=60)
    for n in itertools.count():
        if stop.is_set():
            return
        user = {'user': f'user{n}', 'host': 'localhost', 'password': f'secret{n}'}
        answers = [call(connection, 'register', **user), call(connection, 'check_password', **user)]
        if answers[0][0] != 200 or answers[1] != (200, '0'):
            failures.append(answers)
            return


def is_open(port):
    with socket.socket() as s:
        return s.connect_ex(('127.0.0.1', port)) == 0


def start(name, directory, port):
    pathlib.Path(directory, 'ejabberd.yml').write_text(CONFIG.replace('PORT', str(port)))
    where = {'ERL_LIBS': '/usr/lib/x86_64-linux-gnu', 'EJABBERD_CONFIG_PATH': f'{directory}/ejabberd.yml',
             'SPOOL_DIR': directory, 'EJABBERD_LOG_PATH': f'{directory}/ejabberd.log'}
    return subprocess.Popen(['env', *(f'{key}={value}' for key, value in where.items()), beams.get(name), '+S', '2', '-noinput',
                             '-mnesia', 'dir', f'"{directory}/db"', '-s', 'ejabberd'], cwd='/tmp', stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def sampled(strata, seconds, name):
    """Returns what strata printed, and requests that failed."""
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        port = s.getsockname()[1]
    with tempfile.TemporaryDirectory(dir='/tmp') as directory:  # it exists whatever the root is
        program = start(name, directory, port)
        stop, failures = threading.Event(), []
        client = threading.Thread(target=load, args=(port, stop, failures))
        try:
            waits.until(lambda: is_open(port), 'ejabberd to listen')
            client.start()
            done = subprocess.run([strata, '-p', str(program.pid), '-e', SCRIPT % seconds], capture_output=True, text=True,
                                  errors='replace', check=True)
        finally:
            stop.set()
            if client.ident:
                client.join()
            program.send_signal(signal.SIGKILL)
            program.wait()
    return done.stdout, failures


def judge(lines):
    """Returns 'whole', or what is wrong."""
    if lines[-1].startswith('['):
        return lines[-1] if MARKED.search('\n'.join(lines)) else f'marked without a reason: {lines[-1]}'
    frames = [found[0] for found in map(ERLANG.match, lines) if found]
    modules = (frame.split(':')[0] for frame in reversed(frames))
    chain = [module for module, _ in itertools.groupby(module for module in modules if module in MODULES)]
    if 'scram:hi_round/4' in frames and (chain != MODULES or frames[-1] != FIRST):
        return f'out of order: {chain}'
    return 'whole'


def check(strata, seconds, name):
    printed, failures = sampled(strata, seconds, name)
    tally, worst, deepest, rounds = collections.Counter(), {}, 0, 0
    for text, n in STACK.findall(printed):
        lines = [line.strip() for line in text.splitlines()]
        what = judge(lines)
        tally[what] += int(n)
        worst[what] = text
        deep = sum(line.startswith('scram:hi_round/4') for line in lines)
        rounds += int(n) if deep else 0
        deepest = max(deepest, deep)
    total, whole = sum(tally.values()), tally.pop('whole', 0)
    wrong = sum(n for what, n in tally.items() if not what.startswith('['))
    fine = (total > 50 * seconds and whole >= WHOLE * total and not wrong and not failures and rounds > total / 10 and
            deepest > DEEPEST)
    print(f'{"ok" if fine else "not ok"} {name}: {total} samples, {100 * whole / max(total, 1):.2f} % whole, {wrong} wrong, {rounds} '
          f'of scram:hi_round/4, at most {deepest} of it in a stack', failures[:1], flush=True)
    for what, n in tally.most_common(4):
        print(f'  {n}: {what}\n' + '\n'.join(worst[what].splitlines()[:12]))
    return fine


def main(strata, seconds, *names):
    failed = False
    for name in names or ('bookworm-ejabberd',):
        try:
            failed |= not check(strata, int(seconds), name)
        except absent.Missing as e:
            failed |= absent.fails(name, e)
    return failed


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
