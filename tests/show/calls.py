# SPDX-License-Identifier: Apache-2.0
"""The program that show.py traces: one function with three calls, called in two ways. show.py knows the numbers of
its lines."""
import os


def call():
    os.getppid(); os.getppid()
    os.getppid()


def other():
    call()



call()
other()
