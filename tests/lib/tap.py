# SPDX-License-Identifier: Apache-2.0
"""tap.py - what a test in Python tells of its cases: a line of TAP each, and what was seen where
that is wrong."""


class Cases:
    def __init__(self):
        self.count = self.failed = 0

    def check(self, ok, what, *details):
        """details: text, of lines; shown where it is not ok."""
        self.count += 1
        self.failed += not ok
        print('ok' if ok else 'not ok', f'{self.count} - {what}', flush=True)
        if not ok:
            lines = [line for text in details for line in str(text).splitlines()]
            print(*('# ' + line[:200] for line in lines[:40]), sep='\n')

    def done(self):
        """The plan, and whether a case has failed."""
        print(f'1..{self.count}')
        return self.failed > 0
