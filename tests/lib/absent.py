# SPDX-License-Identifier: Apache-2.0
"""absent.py - for a test that cannot fetch what it needs: skips the case with the reason. If CI is
set in the environment, as .ci/run does, the case fails: there everything is available."""
import os


class Missing(Exception):
    """Something that a test needs is not available; the message says why."""


def fails(name, why):
    """For tests that print plain text: reports it; returns whether that is a failure."""
    print(f'{name} is not to be had: {why}', flush=True)
    return 'CI' in os.environ


def all_fail(why):
    """The same for a whole test that prints TAP, instead of its plan."""
    bad = 'CI' in os.environ
    print(f'Bail out! {why}' if bad else f'1..0 # SKIP {why}', flush=True)
    return bad


def tap_fails(n, name, why):
    """The same for one case of TAP."""
    bad = 'CI' in os.environ
    print(f'not ok {n} - {name}\n# {why}' if bad else f'ok {n} - {name} # SKIP {why}', flush=True)
    return bad


def as_root(main):
    """For tests that print TAP: returns main's status; skips the test if the user is not root."""
    if os.geteuid():
        print('1..0 # SKIP needs root')
        return 0
    return main()
