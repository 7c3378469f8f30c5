#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""depth.py - adds up the BPF stack of the kernel half's calls, like the verifier.

    depth.py FUNCTION BYTES CALLS OBJECT...

No chain of calls from FUNCTION down may use more than BYTES of stack or be longer than
CALLS: the verifier allows 512 bytes and 8 calls, including the script's program and its
functions. Linux 6.1 rounds each function up to 32 bytes, later versions to 16: the result
holds for all. -v prints each function's own bytes and the deepest chain below it."""
import sys

from bpf import Object

ROUND = 32


def deepest(functions, name, known):
    """Returns the bytes and names of the deepest chain, and the longest chain."""
    if name not in known:
        own, calls = functions.get(name, (0, ()))
        below = [deepest(functions, c, known) for c in sorted(calls)]
        bytes_, chain = max([b[:2] for b in below], default=(0, ()))
        longest = max([b[2] for b in below], key=len, default=())
        own = -(-max(own, 1) // ROUND) * ROUND
        known[name] = (bytes_ + own, (name, *chain), (name, *longest))
    return known[name]


def main():
    words = [w for w in sys.argv[1:] if w != '-v']
    functions, known = {}, {}
    for path in words[3:]:
        functions.update(Object(path).functions)
    if '-v' in sys.argv:
        for name in functions:
            print(f'# {name}: {functions[name][0]}, {deepest(functions, name, known)[0]}')
    bytes_, chain, longest = deepest(functions, words[0], known)
    print('1..2')
    print('ok' if bytes_ <= int(words[1]) else 'not ok', f'1 - {bytes_} of {words[1]} bytes:',
          ' '.join(f'{n}={functions[n][0]}' for n in chain))
    print('ok' if len(longest) <= int(words[2]) else 'not ok', f'2 - {len(longest)} of {words[2]} calls:',
          ' '.join(longest))


if __name__ == "__main__":
    main()
