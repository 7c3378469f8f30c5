# SPDX-License-Identifier: Apache-2.0
"""turn.py - a part of the cases of a long test. ./dev test --all sets TEST_TURN to a number that its commit gives: each run
takes one part of these tests, and successive commits take them all. Without it, a test runs all of its cases."""
import os

TURN = os.environ.get('TEST_TURN')


def part(cases, parts):
    """Returns every parts-th of these cases; all of them without TEST_TURN."""
    cases = list(cases)
    if TURN is None or len(cases) < parts:
        return cases
    first = int(TURN) // 5 % parts  # a test that runs in every fifth commit takes all parts, too
    print(f'# turn {TURN}: part {first + 1} of {parts}', flush=True)
    return cases[first::parts]
