"""A thread that makes reports holds the GIL, and answers are late."""
import threading
import time


def make_report():
    return sum(n * n for n in range(200000))


def reports():
    while True:
        make_report()


def answer():
    while True:
        time.sleep(0.001)


threading.Thread(target=reports, daemon=True).start()
answer()
