// SPDX-License-Identifier: Apache-2.0
/* net.c - network addresses and byte order. */
#include "builtins.h"

#include "model/request.h"
#include "types/types.h"

#include <linux/bpf.h>
#include <sys/socket.h>

static bool is_bytes(const struct type *t, uint32_t size)
{
	return (t->kind == TYPE_ARRAY && t->size == size && t->array.of->size == 1) ||
		(t->kind == TYPE_STRING && t->string.bytes == size);
}

/* ---- ntop --------------------------------------------------------------- */

static struct expr *address_of(const struct expr *call)
{
	struct expr *second = call_arg(call, 1);

	return second ? second : call_arg(call, 0);
}

/* in6_addr has its bytes as numbers of 1, 2 and 4 bytes. */
static bool is_address(const struct type *t)
{
	return t->kind == TYPE_INT || is_bytes(t, 4) || is_bytes(t, 16) ||
	       (t->kind == TYPE_ARRAY && t->array.of->kind == TYPE_INT && (t->size == 4 || t->size == 16));
}

static const struct type *check_ntop(struct check *c, struct expr *call)
{
	struct expr *family = call_arg(call, 1) ? call_arg(call, 0) : NULL, *addr = address_of(call);
	const struct type *t = addr->type;

	if (family && family->type->kind != TYPE_INT)
		return check_fail(c, family->span, DIAG_ARG_TYPE, "an address family is a number, not %s",
			type_name(check_arena(c), family->type));
	if (is_address(t))
		return type_inet;
	check_fail(c, addr->span, DIAG_ARG_TYPE, "an address is a number, or an array of 4 or 16 bytes, "
		"not %s", type_name(check_arena(c), t));
	return type_bad;
}

static struct ir *gen_ntop(struct gen *g, struct expr *call, struct ir *into)
{
	struct expr *addr = address_of(call);
	const struct type *t = addr->type;
	uint32_t size = type_text_bytes(t);
	struct ir *dst = into ? into : gen_mem(g, type_inet->size), *family;

	family = call_arg(call, 1) ? gen_value(g, call_arg(call, 0)) :
				     ir_int(g->ir, size == 16 ? AF_INET6 : AF_INET);
	gen_zero(g, dst, type_inet->size);
	ir_store(g->ir, dst, 0, 4, family);
	if (t->kind == TYPE_INT)
		ir_store(g->ir, dst, 4, 4, gen_value(g, addr));
	else
		gen_call(g, BPF_FUNC_probe_read_kernel, 3, ir_offset(g->ir, dst, 4),
			ir_int(g->ir, size), gen_bytes(g, addr));
	return dst;
}

/* ---- macaddr ------------------------------------------------------------ */

static const struct type *check_macaddr(struct check *c, struct expr *call)
{
	struct expr *addr = call_arg(call, 0);

	if (is_bytes(addr->type, 6))
		return type_shown(check_arena(c), SHOWN_MAC, NULL);
	return check_fail(c, addr->span, DIAG_ARG_TYPE, "macaddr() takes an array of 6 bytes, not %s",
		type_name(check_arena(c), addr->type));
}

static struct ir *gen_macaddr(struct gen *g, struct expr *call, struct ir *into)
{
	struct ir *p = gen_bytes(g, call_arg(call, 0)), *high;

	high = ir_binary(g->ir, IR_SHL, ir_load(g->ir, p, 4, 2, false), ir_int(g->ir, 32));
	return ir_binary(g->ir, IR_OR, ir_load(g->ir, p, 0, 4, false), high);
}

/* ---- bswap -------------------------------------------------------------- */

static const struct type *check_bswap(struct check *c, struct expr *call)
{
	const struct expr *n = call_arg(call, 0);

	if (n->type->kind == TYPE_INT)
		return type_int(n->type->size, false);
	return check_fail(c, n->span, DIAG_ARG_TYPE, "bswap() takes an integer, not %s",
		type_name(check_arena(c), n->type));
}

static struct ir *gen_bswap(struct gen *g, struct expr *call, struct ir *into)
{
	uint32_t size = call->type->size;
	struct ir *v = gen_value(g, call_arg(call, 0)), *all = ir_int(g->ir, 0);

	for (uint32_t i = 0; i < size; i++) {
		struct ir *byte = ir_binary(g->ir, IR_LSHR, v, ir_int(g->ir, 8 * i));

		byte = ir_binary(g->ir, IR_AND, byte, ir_int(g->ir, 0xff));
		all = ir_binary(g->ir, IR_OR, all,
			ir_binary(g->ir, IR_SHL, byte, ir_int(g->ir, 8 * (size - 1 - i))));
	}
	return all;
}

/* ---- socket_cookie ------------------------------------------------------ */

/* Keeps the offset of sk->__sk_common.skc_cookie (include/net/sock.h) for .gen. An existing cookie is read.
 * None is made, since the helper that makes one does not take pointers computed by a script. */
static const struct type *check_socket_cookie(struct check *c, struct expr *call)
{
	struct types *types = check_request(c)->types;
	const struct type *sock = types ? types_find(types, TAG_STRUCT, "sock_common") : NULL;
	struct member *m = arena_new_obj(check_arena(c), struct member);

	if (!sock || !type_member(sock, "skc_cookie", m))
		return check_fail(c, call->span, DIAG_CONTEXT, "this kernel has no type information (BTF), which "
			"socket_cookie() needs");
	if (call_arg(call, 0)->type->kind != TYPE_POINTER)
		return check_fail(c, call_arg(call, 0)->span, DIAG_ARG_TYPE, "socket_cookie() takes a socket, a struct "
			"sock *, not %s", type_name(check_arena(c), call_arg(call, 0)->type));
	call->call.data = m;
	return type_uint64;
}

static struct ir *gen_socket_cookie(struct gen *g, struct expr *call, struct ir *into)
{
	const struct member *m = call->call.data;
	struct ir *slot = gen_tmp(g, 8), *sock = gen_value(g, call_arg(call, 0));

	gen_read(g, SPACE_KERNEL, false, slot, ir_int(g->ir, 8),
		ir_binary(g->ir, IR_ADD, sock, gen_kernel_offset(g, "struct sock_common", "skc_cookie", m->offset)));
	return ir_load(g->ir, slot, 0, 8, false);
}

const struct builtin builtins_net[] = {
	{
		.name = "bswap",
		.sig = "int -> special",
		.help = "the integer with its bytes in reverse order",
		.check = check_bswap,
		.gen = gen_bswap,
	},
	{
		.name = "macaddr",
		.sig = "any -> special",
		.help = "a hardware address, from an array of 6 bytes",
		.check = check_macaddr,
		.gen = gen_macaddr,
	},
	{
		.name = "ntop",
		.sig = "any [any] -> special",
		.help = "an IP address: ntop([FAMILY,] ADDRESS), from a number or from 4 or 16 bytes",
		.check = check_ntop,
		.gen = gen_ntop,
	},
	{
		.name = "socket_cookie",
		.sig = "int -> special",
		.help = "the unique number of a socket (struct sock *), or 0 before it gets one",
		.check = check_socket_cookie,
		.gen = gen_socket_cookie,
	},
	BUILTINS_END,
};
