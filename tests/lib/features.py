# SPDX-License-Identifier: Apache-2.0
"""features.py - the features of this kernel, by strata --info."""
import functools
import re
import subprocess


@functools.cache
def features(strata):
    """Returns the features of src/target/features.def that this machine has."""
    info = subprocess.run([strata, '--info'], capture_output=True, text=True).stdout
    return re.findall(r'^  (\w+) +yes ', info, re.M)
