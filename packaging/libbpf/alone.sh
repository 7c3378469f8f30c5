#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# alone.sh ARCHIVE OUTPUT WORK - links libbpf's archive to one object with only its interface visible
set -eu
mkdir -p "$3"
${LD:-ld} -r -o "$3/libbpf.o" --whole-archive "$1"
${OBJCOPY:-objcopy} -w -G 'bpf_*' -G 'btf_*' -G 'libbpf_*' -G 'ring_buffer_*' -G 'ring__*' -G 'user_ring_buffer_*' \
    -G 'perf_buffer_*' "$3/libbpf.o"
rm -f "$2"
${AR:-ar} rcs "$2" "$3/libbpf.o"
