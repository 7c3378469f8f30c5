# SPDX-License-Identifier: Apache-2.0
"""gunicorn's workers, and a client."""
import os
import pathlib
import socket
import subprocess
import time
import urllib.error
import urllib.request

with socket.socket() as s:
    s.bind(('127.0.0.1', 0))
    port = s.getsockname()[1]
programs = pathlib.Path(__file__).resolve().parents[1] / 'programs'
server = subprocess.Popen(['gunicorn', '-w', '2', '--threads', '2', '-b', f'127.0.0.1:{port}', '--chdir', programs, 'web:app'],
                          stderr=subprocess.DEVNULL)
while server.poll() is None:
    try:
        urllib.request.urlopen(f'http://127.0.0.1:{port}/').read()
    except (urllib.error.URLError, ConnectionError):
        time.sleep(0.05)
os._exit(1)
