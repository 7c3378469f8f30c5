# SPDX-License-Identifier: Apache-2.0
import gc
import sys
sys.stdin.read()
for i in range(int(sys.argv[1])):
    name, space = f'f{i:06}', {}
    exec(compile(f'def {name}(n):\n s = 0\n for k in range(n): s += k % 7\n return s\n', name + '.py', 'exec'), space)
    space[name](15000)
    if i % 5 == 0:
        gc.collect()
