#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# embed.sh NAME FILE OUT.c - a C file that has the file's text, and a NUL, as output_NAME.
set -eu
cat >"$3" <<END
/* made by embed.sh */
__asm__(".section .rodata\n"
	".globl output_$1\n"
	"output_$1: .incbin \"$(realpath "$2")\"\n"
	".byte 0\n"
	".previous\n");
END
