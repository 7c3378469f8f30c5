// SPDX-License-Identifier: Apache-2.0
/* skb.c - skboutput() writes packets to a file. It only reads the packet's own memory, not its fragments
 * (skb->data_len bytes). */
#include <linux/bpf.h>
#include <string.h>

#include "builtins.h"

#include "bpf/lib/skb.h"
#include "model/request.h"
#include "types/types.h"

/* Offsets in struct sk_buff (include/linux/skbuff.h), in bytes. */
struct skb_layout {
	uint32_t data, len, data_len;
};

static bool find_layout(struct types *types, struct skb_layout *l)
{
	const struct type *skb = types ? types_find(types, TAG_STRUCT, "sk_buff") : NULL;
	struct member data, len, data_len;

	if (!skb || !type_member(skb, "data", &data) || !type_member(skb, "len", &len) ||
		!type_member(skb, "data_len", &data_len))
		return false;
	*l = (struct skb_layout){data.offset, len.offset, data_len.offset};
	return true;
}

static const struct type *check_skboutput(struct check *c, struct expr *call)
{
	struct skb_layout *l = arena_new_obj(check_arena(c), struct skb_layout);
	struct expr *skb = call_arg(call, 1), *len = call_arg(call, 2);
	int64_t n = 1;

	if (skb->type->kind != TYPE_POINTER)
		return check_fail(c, skb->span, DIAG_ARG_TYPE, "skboutput() takes a packet, a struct sk_buff *, not %s",
			type_name(check_arena(c), skb->type));
	if (expr_is_const(len, &n) && (n < 1 || n > SKB_MAX))
		return check_fail(c, len->span, DIAG_RANGE, "skboutput() writes 1 to %d bytes of a packet, not %lld",
			SKB_MAX, (long long)n);
	if (!find_layout(check_request(c)->types, l))
		return check_fail(c, call->span, DIAG_CONTEXT, "this kernel has no type information (BTF), which "
			"skboutput() needs");
	call->call.data = l;
	return type_int64;
}

static struct ir *read_member(struct gen *g, struct ir *skb, const char *name, uint32_t at, uint32_t size)
{
	struct ir *slot = gen_tmp(g, 8);

	ir_store(g->ir, slot, 0, 8, ir_int(g->ir, 0));
	gen_read(g, SPACE_KERNEL, false, slot, ir_int(g->ir, size),
		ir_binary(g->ir, IR_ADD, skb, gen_kernel_offset(g, "struct sk_buff", name, at)));
	return ir_load(g->ir, slot, 0, 8, false);
}

/* Returns max(a - b, 0). */
static struct ir *beyond(struct gen *g, struct ir *a, struct ir *b)
{
	return ir_select(g->ir, ir_compare(g->ir, IR_UGT, a, b), ir_binary(g->ir, IR_SUB, a, b), ir_int(g->ir, 0));
}

static struct ir *least(struct gen *g, struct ir *a, struct ir *b)
{
	return ir_select(g->ir, ir_compare(g->ir, IR_ULT, a, b), a, b);
}

static struct ir *gen_skboutput(struct gen *g, struct expr *call, struct ir *into)
{
	struct image_record *r = gen_record_new(g, "skboutput", call->span);
	const struct skb_layout *l = call->call.data;
	const uint32_t head = offsetof(struct skb_record, data);
	uint32_t id = gen_record_id(g, r);
	struct ir *mem, *skb, *most, *off, *len, *linear, *n;

	r->text = call_arg(call, 0)->string.text;
	r->text_len = call_arg(call, 0)->string.len;
	r->size = head;
	mem = gen_mem(g, sizeof(struct skb_record));
	skb = gen_value(g, call_arg(call, 1));
	most = gen_value(g, call_arg(call, 2));
	off = gen_value(g, call_arg(call, 3));
	len = read_member(g, skb, "len", l->len, 4);
	linear = beyond(g, len, read_member(g, skb, "data_len", l->data_len, 4));
	n = gen_index(g, least(g, most, beyond(g, linear, off)), SKB_MAX + 1);
	gen_record_head(g, mem, id);
	ir_store(g->ir, mem, offsetof(struct skb_record, time), 8, gen_call(g, BPF_FUNC_ktime_get_boot_ns, 0));
	ir_store(g->ir, mem, offsetof(struct skb_record, length), 4, beyond(g, len, off));
	ir_store(g->ir, mem, offsetof(struct skb_record, n), 4, n);
	gen_call(g, BPF_FUNC_probe_read_kernel, 3, ir_offset(g->ir, mem, head), n,
		ir_binary(g->ir, IR_ADD, read_member(g, skb, "data", l->data, 8), off));
	n = ir_binary(g->ir, IR_ADD, gen_index(g, n, SKB_MAX + 1), ir_int(g->ir, head));
	return gen_call(g, BPF_FUNC_ringbuf_output, 4, gen_ring(g), mem, n, ir_int(g->ir, 0));
}

const struct builtin builtins_skb[] = {
	{
		.name = "skboutput",
		.sig = "format any int int -> special",
		.help = "write LENGTH bytes of a struct sk_buff *, from OFFSET, to a pcap file; returns 0 if sent",
		.check = check_skboutput,
		.flags = BUILTIN_RECORD,
		.gen = gen_skboutput,
	},
	BUILTINS_END,
};
