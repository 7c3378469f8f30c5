# SPDX-License-Identifier: Apache-2.0
"""absent.py - what a test needs and cannot fetch: the case is skipped, and says why. Where CI
is set in the environment, as .ci/run does, it fails: there all is to be had."""
import os


class Missing(Exception):
    """A program is not to be had here, and why."""


def fails(name, why):
    """For tests of plain text: tells of it; whether that is a failure."""
    print(f'{name} is not to be had: {why}', flush=True)
    return 'CI' in os.environ


def all_fail(why):
    """The same for a test of TAP, instead of its plan."""
    bad = 'CI' in os.environ
    print(f'Bail out! {why}' if bad else f'1..0 # SKIP {why}', flush=True)
    return bad


def tap_fails(n, name, why):
    """The same for a case of TAP."""
    bad = 'CI' in os.environ
    print(f'not ok {n} - {name}\n# {why}' if bad else f'ok {n} - {name} # SKIP {why}', flush=True)
    return bad


def as_root(main):
    """For tests of TAP: main's status; skipped, with the reason, where the user is not root."""
    if os.geteuid():
        print('1..0 # SKIP needs root')
        return 0
    return main()
