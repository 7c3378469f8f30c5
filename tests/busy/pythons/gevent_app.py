# SPDX-License-Identifier: Apache-2.0
"""Greenlets that recurse, and switch in the middle of it."""
from gevent import monkey

monkey.patch_all()

import gevent  # noqa: E402
import gevent.pool  # noqa: E402
import gevent.queue  # noqa: E402


def tree(n, queue):
    if n == 0:
        queue.put(1)
        gevent.sleep(0)
        return 1
    return tree(n - 1, queue) + (tree(n - 2, queue) if n > 1 else 0)


def drain(queue):
    for n in queue:
        sorted(str(k * n) for k in range(200))


queue = gevent.queue.Queue(50)
gevent.spawn(drain, queue)
pool = gevent.pool.Pool(8)
while True:
    pool.map(lambda n: tree(n, queue), range(4, 11))
