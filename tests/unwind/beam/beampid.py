#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""beampid.py STRATA ROUNDS [ERLANG...] - compares beampid with the identifiers that Erlang processes print, on normal and on
dirty schedulers; its use in predicates and keys; and the stacks of Erlang processes that have ended. An ERLANG is a name of
beams.py. Prints TAP."""
import collections
import pathlib
import re
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / 'lib'))
import accounts
import beams
import traced

STRATA, ROUNDS, NAMES = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
SCRIPT = '''tracepoint:syscalls:sys_enter_getrusage /pid == PID/ {
    printf("call %s\\n", beampid);
    @calls[beampid, beamstack] = count();
}
tracepoint:syscalls:sys_enter_getrusage /pid == PID && beampid == "MAIN"/ { @main = count(); }
tracepoint:syscalls:sys_enter_getrusage /pid == PID && beampid != "MAIN"/ { @others = count(); }
tracepoint:syscalls:sys_enter_unlink* /pid == PID/ { printf("delete %s %s\\n", str(args.pathname), beampid); }
tracepoint:syscalls:sys_enter_futex /pid == PID && beampid == ""/ { @none = count(); }
'''
STACK = r'''@calls\[%s,\s+(?:[^\n]*\n)??\s*beampid:call/0 \S+:35
\s+%s[^@]*\]: (\d+)$'''


def look(cases, name):
    with tempfile.TemporaryDirectory(dir='/tmp') as directory:  # it exists whatever the root is
        beams.compile_module(name, HERE / 'beampid.erl', directory)
        process = traced.start(*beams.command(name, directory, 'beampid', ROUNDS), cwd='/tmp')
        version, main = process.stdout.readline().decode().split()
        account, printed, said = traced.beside(process, STRATA, SCRIPT.replace('PID', str(process.pid)).replace('MAIN', main))
    account = [line.decode().strip() for line in account]
    out = b'\n'.join(printed).decode()
    what = f'{name} (OTP {version})'
    called = re.findall(r'^call (.*)$', out, re.M)
    cases.check(called == account and len(account) == 2 * ROUNDS, f'{what}: {len(called)} calls, {len(set(called))} processes',
                len(account), [pair for pair in zip(called, account) if pair[0] != pair[1]][:5], said.decode())
    deleted = re.findall(r'^delete /nonexistent/(\S+) (.*)$', out, re.M)
    cases.check([path for path, _ in deleted] == account and all(path == seen for path, seen in deleted),
                f'{what}: dirty schedulers', len(deleted), [pair for pair in deleted if pair[0] != pair[1]][:5])
    counts = {key: int(n) for key, n in re.findall(r'^@(main|others|none): (\d+)$', out, re.M)}
    cases.check(counts.get('main') == counts.get('others') == ROUNDS and counts.get('none', 0) > 0, f'{what}: predicates', counts)
    wrong = [(pid, n) for pid, n in collections.Counter(account).items()
             if not (found := re.search(STACK % (pid, 'beampid:round_of/1' if pid == main else "beampid:'-round_of/1-fun-0-'/1"),
                                        out, re.M)) or int(found.group(1)) != n]
    cases.check(not wrong, f'{what}: stacks of processes that have ended', wrong[:5], out[-1500:])


sys.exit(accounts.each(NAMES or beams.names(), beams.get, look))
