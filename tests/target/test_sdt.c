// SPDX-License-Identifier: Apache-2.0
/* test_sdt.c - tests how the arguments of USDT probes are read. */
#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/owner.h"
#include "target/sdt.h"

static int failed;

/* "i4 reg 0", "u8 mem 7 + 3 * 8 + -16", "u8 sym mp_ + 16"; nowhere is "-". */
static void show(const struct sdt_arg *a, char text[128])
{
	int n = snprintf(text, 128, "%c%u ", a->is_signed ? 'i' : 'u', a->size);

	switch (a->where) {
	case SDT_CONSTANT:
		snprintf(text + n, 128 - n, "is %" PRId64, a->disp);
		break;
	case SDT_REGISTER:
		snprintf(text + n, 128 - n, a->shift ? "reg %u >> %u" : "reg %u", a->reg, a->shift);
		break;
	case SDT_MEMORY:
		if (a->scale)
			snprintf(text + n, 128 - n, "mem %u + %u * %u + %" PRId64, a->reg, a->index, a->scale, a->disp);
		else
			snprintf(text + n, 128 - n, "mem %u + %" PRId64, a->reg, a->disp);
		break;
	case SDT_SYMBOL:
	case SDT_ADDRESS:
		snprintf(text + n, 128 - n, "%s %.*s + %" PRId64, a->where == SDT_SYMBOL ? "at" : "address",
			(int)a->symbol_len, a->symbol, a->disp);
		break;
	case SDT_NOWHERE:
		snprintf(text, 128, "-");
		break;
	}
}

static const struct {
	uint16_t machine;
	const char *text, *wanted; /* the text of each operand, with ", " between them */
} cases[] = {
	{EM_X86_64, "", ""},
	{EM_X86_64, "-4@%eax", "i4 reg 0"},
	{EM_X86_64, "8@%rdi 8@%rsi", "u8 reg 5, u8 reg 4"},
	{EM_X86_64, "  2@%dx\t-1@%cl ", "u2 reg 1, i1 reg 2"},
	{EM_X86_64, "1@%sil 1@%ah 1@%bh", "u1 reg 4, u1 reg 0 >> 8, u1 reg 3 >> 8"},
	{EM_X86_64, "8@%r8 -4@%r9d 2@%r10w 1@%r15b", "u8 reg 8, i4 reg 9, u2 reg 10, u1 reg 15"},
	{EM_X86_64, "8@%r16 8@%r7 8@%r8q 8@%r", "-, -, -, -"},
	{EM_X86_64, "8@%eax", "u4 reg 0"}, /* the other half has no meaning */
	{EM_X86_64, "8@-8(%rbp) -4@112(%rsp) 8@(%rax)", "u8 mem 6 + -8, i4 mem 7 + 112, u8 mem 0 + 0"},
	{EM_X86_64, "8@(%rax,%rbx,8) 4@-0x10(%rcx, %r9, 2)", "u8 mem 0 + 3 * 8 + 0, u4 mem 2 + 9 * 2 + -16"},
	{EM_X86_64, "8@(%rax,%rbx)", "u8 mem 0 + 3 * 1 + 0"},
	{EM_X86_64, "8@(%rax,%rbx,3) 8@(%rax,%rbx,0) 8@(%eax) 8@(,%rbx,8)", "-, -, -, -"},
	{EM_X86_64, "-4@$5 -4@$-5 8@$0x7fffffffffffffff", "i4 is 5, i4 is -5, u8 is 9223372036854775807"},
	{EM_X86_64, "-8@$-9223372036854775808", "i8 is -9223372036854775808"},
	{EM_X86_64, "8@mp_(%rip) 8@16+mp_(%rip) -4@mp_+72(%rip) 8@mp_-8(%rip)",
		"u8 at mp_ + 0, u8 at mp_ + 16, i4 at mp_ + 72, u8 at mp_ + -8"},
	{EM_X86_64, "8@counter 8@$.LC0 8@$name+4", "u8 at counter + 0, u8 address .LC0 + 0, u8 address name + 4"},
	{EM_X86_64, "8@a+b(%rip) 8@-a(%rip) 8@20(%rip) 8@a(%rax) 8@a(%rip,%rax,8)", "-, -, -, -, -"},
	{EM_X86_64, "8@foo@GOTPCREL(%rip) 8@%fs:16 4f@%xmm0 8@%xmm1 8@%st 8@16", "-, -, -, -, -, -"},
	{EM_X86_64, "16@%rax 3@%rax @%rax 8@ 8@$ 8@% 8@) 8", "-, -, -, -, -, -, -, -"},
	{EM_X86_64, "8@(", "-"},
	{EM_X86_64, "%rax $3 8(%rsp)", "i8 reg 0, i8 is 3, i8 mem 7 + 8"}, /* without sizes */
	{EM_X86_64, "8@(%rax, 4@$1", "-"}, /* an unclosed bracket takes the rest */
	{EM_AARCH64, "-4@w0 8@x30 8@sp 8@x31 8@x 4@w99", "i4 reg 0, u8 reg 30, u8 reg 31, -, -, -"},
	{EM_AARCH64, "8@w1", "u4 reg 1"},
	{EM_AARCH64, "8@[sp, 12] -4@[x0] 8@[x29, #-16] 8@[sp,8]",
		"u8 mem 31 + 12, i4 mem 0 + 0, u8 mem 29 + -16, u8 mem 31 + 8"},
	{EM_AARCH64, "8@[x0, x1] 8@[x0, x1, lsl 3] 8@[x0, x1, lsl #2]",
		"u8 mem 0 + 1 * 1 + 0, u8 mem 0 + 1 * 8 + 0, u8 mem 0 + 1 * 4 + 0"},
	{EM_AARCH64, "8@[x0, w1, sxtw 3] 8@[x0, x1, lsl 4] 8@[x0, #:lo12:a] 8@[x0 8@[w0]", "-, -, -, -"},
	{EM_AARCH64, "4@5 -4@-5 4@#7 8@xzr 4@wzr", "u4 is 5, i4 is -5, u4 is 7, u8 is 0, u4 is 0"},
	{EM_AARCH64, "8f@d0 4@s1 8@v2 8@name 8@[d0]", "-, -, -, -, -"},
	{EM_RISCV, "8@a0", "-"},
};

static void check(uint16_t machine, const char *text, const char *wanted)
{
	struct sdt_arg args[SDT_ARGS_MAX];
	unsigned n = sdt_args(text, machine, args);
	char all[2048] = "", one[128];

	for (unsigned i = 0; i < n; i++) {
		show(&args[i], one);
		if (i)
			strcat(all, ", ");
		strcat(all, one);
		if (args[i].where == SDT_NOWHERE && !args[i].why)
			strcat(all, "!");
	}
	if (strcmp(all, wanted) != 0) {
		fprintf(stderr, "'%s' is\n    %s, not\n    %s\n", text, all, wanted);
		failed = 1;
	}
}

int main(void)
{
	struct sdt_arg args[SDT_ARGS_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		check(cases[i].machine, cases[i].text, cases[i].wanted);
	if (sdt_args("1@%al 1@%al 1@%al 1@%al 1@%al 1@%al 1@%al 1@%al 1@%al 1@%al 1@%al 1@%al 1@%al", EM_X86_64,
		    args) != SDT_ARGS_MAX) {
		fprintf(stderr, "too many arguments\n");
		failed = 1;
	}
	return failed;
}
