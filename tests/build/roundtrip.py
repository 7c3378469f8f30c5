#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""roundtrip - makes images of the cases of a folder, and reads and writes each.

    roundtrip.py STRATA ROUNDTRIP-TEST FOLDER"""
import pathlib
import subprocess
import sys
import tempfile

RUN = pathlib.Path(__file__).resolve().parents[1] / 'runner' / 'run'

with tempfile.TemporaryDirectory() as dir:
    subprocess.run([RUN, '--command', sys.argv[1], '--build', dir, sys.argv[3]], check=True, stdout=subprocess.DEVNULL)
    images = sorted(map(str, pathlib.Path(dir).glob('*.image')))
    done = subprocess.run([sys.argv[2], *images], stderr=subprocess.DEVNULL)
sys.exit(done.returncode if len(images) > 20 else 1)
