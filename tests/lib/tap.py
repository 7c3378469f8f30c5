# SPDX-License-Identifier: Apache-2.0
"""tap.py - prints the cases of a test in Python: a line of TAP for each, and the details of those
that fail."""


class Cases:
    def __init__(self):
        self.count = self.failed = 0

    def check(self, ok, what, *details):
        """details: texts or values; printed if the case fails."""
        self.count += 1
        self.failed += not ok
        print('ok' if ok else 'not ok', f'{self.count} - {what}', flush=True)
        if not ok:
            lines = [line for text in details for line in str(text).splitlines()]
            print(*('# ' + line[:4000] for line in lines[:40]), sep='\n')

    def skip(self, what, why):
        """Reports a case that this machine cannot run."""
        self.count += 1
        print(f'ok {self.count} - {what} # SKIP {why}', flush=True)

    def done(self):
        """Prints the plan; returns whether a case has failed."""
        print(f'1..{self.count}')
        return self.failed > 0
