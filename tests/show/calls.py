# SPDX-License-Identifier: Apache-2.0
"""The program that show.py traces: one function with three calls, called in two ways."""
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
