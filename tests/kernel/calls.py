# SPDX-License-Identifier: Apache-2.0
"""What show.py looks at: one function, three lines of it, called in two ways."""
import os
import time


def call():
    os.getppid(); os.getppid()
    os.getppid()


def other():
    call()


time.sleep(0.3)
call()
other()
