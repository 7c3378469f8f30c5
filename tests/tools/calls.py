# SPDX-License-Identifier: Apache-2.0
"""calls.py - connects, runs programs, reads and writes; prints its own account, as JSON."""
import errno
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time

account = {}
listener = socket.create_server(('127.0.0.1', 0))
port = listener.getsockname()[1]
six = socket.create_server(('::1', 0), family=socket.AF_INET6) if socket.has_dualstack_ipv6() else None


def connects():
    account['port'] = port
    socket.create_connection(('127.0.0.1', port)).close()
    if six:
        account['port6'] = six.getsockname()[1]
        socket.create_connection(('::1', account['port6'])).close()
    listener.close()
    account['refused'] = socket.socket().connect_ex(('127.0.0.1', port)) == errno.ECONNREFUSED
    name = os.path.join(tempfile.mkdtemp(), 'socket')
    local = socket.socket(socket.AF_UNIX)
    local.bind(name)
    local.listen()
    socket.socket(socket.AF_UNIX).connect(name)
    account['unix'] = name


def runs():
    subprocess._USE_POSIX_SPAWN = False # since 3.13; its child has its own stack
    subprocess.run(['/bin/echo', 'one', 'two three'], stdout=subprocess.DEVNULL)
    try:
        subprocess.run(['/no/such/program'])
    except OSError:
        pass


def moves():
    ends = os.pipe()
    threading.Timer(0.2, os.write, (ends[1], b'x' * 1000)).start()
    begun = time.monotonic()
    account['read'] = len(os.read(ends[0], 4096))
    account['read_us'] = int((time.monotonic() - begun) * 1e6)
    with tempfile.TemporaryFile() as file:
        for _ in range(7):
            file.write(b'y' * 5000)
            file.flush()
            os.fdatasync(file.fileno())


sys.stdin.readline()
{'connects': connects, 'runs': runs, 'moves': moves}[sys.argv[1]]()
print(json.dumps(account))
