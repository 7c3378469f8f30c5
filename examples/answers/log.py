"""Each request waits for the disk."""
import os
import tempfile

file = tempfile.TemporaryFile(dir='.')


def write_log(text):
    file.write(text)
    file.flush()
    os.fsync(file.fileno())


def handle():
    write_log(b'x' * 100)


while True:
    handle()
