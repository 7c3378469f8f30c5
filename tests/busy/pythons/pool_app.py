# SPDX-License-Identifier: Apache-2.0
"""Processes of both kinds, and threads next to them."""
import concurrent.futures
import json
import multiprocessing
import re
import threading


def primes(n):
    return [k for k in range(2, n) if all(k % d for d in range(2, int(k ** 0.5) + 1))]


class Words:
    def __init__(self, text):
        self.text = text

    def __iter__(self):
        for match in re.finditer(r'\w+', self.text):
            yield re.sub('[aeiou]', lambda m: m.group().upper(), match.group())

    @property
    def most(self):
        return max(self, key=len)


def threads():
    text = 'the quick brown fox jumps over the lazy dog ' * 40
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        while True:
            list(pool.map(lambda n: json.loads(json.dumps({'n': n, 'most': Words(text).most})), range(20)))


if __name__ == '__main__':
    threading.Thread(target=threads, daemon=True).start()
    with multiprocessing.get_context('fork').Pool(2) as forked, multiprocessing.get_context('spawn').Pool(1) as spawned:
        while True:
            forked.map(primes, [2000] * 6)
            spawned.map(primes, [2000] * 3)
