# SPDX-License-Identifier: Apache-2.0
"""web.py - a Flask application with a slow query. After the requests of /work it prints the time of the queries, in
microseconds by its own clock."""
import sqlite3
import sys
import threading
import time
import urllib.request

import flask
import werkzeug.serving

app = flask.Flask(__name__)
account = []


def far_away():  # a database on another machine
    time.sleep(0.15)
    return 1


def slow_query():
    database = sqlite3.connect(':memory:')
    database.create_function('far_away', 0, far_away)
    begun = time.perf_counter_ns()
    database.execute('select far_away()').fetchall()  # waits here
    account.append((time.perf_counter_ns() - begun) // 1000)


@app.route('/work')
def work():
    slow_query()
    return 'done'


server = werkzeug.serving.make_server('127.0.0.1', 0, app, threaded=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.readline()
for _ in range(5):
    urllib.request.urlopen(f'http://127.0.0.1:{server.server_port}/work').read()
print(sum(account))
