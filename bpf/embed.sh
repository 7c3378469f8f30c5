#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# embed.sh NAME OBJECT OUT.c - writes a C file with the object's bytes, see objects.h.
set -eu
cat >"$3" <<END
/* made by embed.sh */
#include "bpf/objects.h"
__asm__(".section .rodata\n"
	".balign 8\n"
	".globl bpf_obj_$1\n"
	"bpf_obj_$1: .incbin \"$(realpath "$2")\"\n"
	"bpf_obj_$1_end:\n"
	".balign 8\n"
	".globl bpf_obj_$1_size\n"
	"bpf_obj_$1_size: .quad bpf_obj_$1_end - bpf_obj_$1\n"
	".previous\n");
END
