# SPDX-License-Identifier: Apache-2.0
"""absent.py - skips a case whose files cannot be fetched, with the reason. If CI is set in the
environment, as by .ci/run, the case fails instead: everything is available there."""
import os


class Missing(Exception):
    """Something that a test needs is not available; the message says why."""


def fails(name, why):
    """For a test that prints plain text: reports the reason; returns whether that is a failure."""
    print(f'{name} is not available: {why}', flush=True)
    return 'CI' in os.environ


def all_fail(why):
    """For a whole test that prints TAP: prints the reason instead of the plan; returns whether that is a failure."""
    bad = 'CI' in os.environ
    print(f'Bail out! {why}' if bad else f'1..0 # SKIP {why}', flush=True)
    return bad


def tap_fails(n, name, why):
    """For one case of TAP: prints its line; returns whether that is a failure."""
    bad = 'CI' in os.environ
    print(f'not ok {n} - {name}\n# {why}' if bad else f'ok {n} - {name} # SKIP {why}', flush=True)
    return bad


def as_root(main):
    """For a test that prints TAP: runs main and returns its status; skips the test if the user is not root."""
    if os.geteuid():
        print('1..0 # SKIP needs root')
        return 0
    return main()
