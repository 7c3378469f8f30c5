"""A small service to look at: four workers that compute, wait for a database, want one lock, write a log, and forget to
free memory.

    strata offcpu -c 'python3 examples/service.py'

It ends after three seconds, or after the number of seconds that its argument names.
"""
import ctypes
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import zlib

libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
accounts = threading.Lock()
kept = []


def database(listener):
    """Answers each query after 5 ms."""
    while True:
        connection, _ = listener.accept()
        with connection:
            connection.recv(64)
            time.sleep(0.005)
            connection.send(b'42')


def query(address):
    with socket.create_connection(address) as connection:
        connection.send(b'how much?')
        return int(connection.recv(64))


def compress(number):
    return zlib.compress(os.urandom(64) * number * 4)


def remember(number):
    """Python frees what nobody refers to; nobody frees this."""
    kept.append(libc.malloc(1024))


def transfer(log, text):
    """All workers wait here for each other: the log is on the disk before the lock is free."""
    with accounts:
        log.write(text)
        log.flush()
        os.fsync(log.fileno())


def handle(address, log):
    number = query(address)
    text = compress(number * 100)
    remember(number)
    transfer(log, text)


def worker(end, address, log):
    while time.monotonic() < end:
        handle(address, log)


def main():
    end = time.monotonic() + float(sys.argv[1] if len(sys.argv) > 1 else 3)
    listener = socket.create_server(('127.0.0.1', 0))
    threading.Thread(target=database, args=(listener,), name='database', daemon=True).start()
    subprocess.run(['uname', '-r'], stdout=subprocess.DEVNULL)
    with tempfile.NamedTemporaryFile() as log:
        workers = [threading.Thread(target=worker, args=(end, listener.getsockname(), log), name=f'worker-{n}')
                   for n in range(4)]
        for thread in workers:
            thread.start()
        for thread in workers:
            thread.join()


if __name__ == '__main__':
    main()
