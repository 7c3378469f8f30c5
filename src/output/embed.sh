#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# embed.sh NAME FILE OUT.c [PREFIX] - writes a C file with the file's text, and a NUL, as PREFIX_NAME;
# without a prefix as output_NAME.
set -eu
name=${4:-output}_$1
cat >"$3" <<END
/* made by embed.sh */
__asm__(".section .rodata\n"
	".globl $name\n"
	"$name: .incbin \"$(realpath "$2")\"\n"
	".byte 0\n"
	".previous\n");
END
