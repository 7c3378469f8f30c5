"""A program to look at: Python that calls C that calls Python, in three threads.

    ./dev run -e 'profile:hz:99 { @[ustack] = count(); }' -c 'python3 examples/app.py'
"""
import json
import re
import sys
import threading
import time
import zlib


def weight(record):
    return len(json.dumps(record))


def double(match):
    return str(2 * int(match.group()))


def work():
    records = [{'id': i, 'tags': [i] * 5} for i in range(200)]
    records.sort(key=weight)
    text = re.sub(r'\d+', double, json.dumps(records))
    return zlib.compress(text.encode())


def worker(end):
    while time.time() < end:
        work()


if __name__ == '__main__':
    end = time.time() + float(sys.argv[1] if len(sys.argv) > 1 else 3)
    threads = [threading.Thread(target=worker, args=(end,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    worker(end)
    for thread in threads:
        thread.join()
