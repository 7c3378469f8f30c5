/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* php.h - the interface between src/unwinders/php/ and bpf/lang/php.bpf.c.
 *
 * PHP keeps a frame for each call, an execute_data, in its own stack; the frames are a list from
 * executor_globals.current_execute_data to the main script. One execute_ex() in C runs the frames up to the first
 * that has ZEND_CALL_TOP; code that opcache's JIT compiler made runs in the C frame of execute_ex() itself.
 *
 * Layouts: php-src, the same from tag php-7.4.0 to php-8.5.2 except for the members of struct php_layout:
 * Zend/zend_compile.h (zend_execute_data, zend_op_array, zend_internal_function, zend_op, ZEND_CALL_TOP),
 * Zend/zend_types.h (zend_string), Zend/zend.h (zend_class_entry), Zend/zend_globals.h
 * (zend_executor_globals), Zend/zend_vm_opcodes.h. Offsets in bytes. */
#pragma once
#include "bpf/walk/unwind.h"

/* Offsets that differ between versions: rows of src/unwinders/php/php.c. */
struct php_layout {
	__u16 current;  /* executor_globals: current_execute_data */
	__u16 opcodes;  /* zend_op_array: opcodes */
	__u16 filename; /* zend_op_array: filename; line_start and line_end follow */
	__u16 pad;
};

/* One process. Map `php_procs`: HASH, key: u32 tgid. Nothing here changes while the process runs.
 *
 * Map `php_files`: HASH, key: u32 file; the same struct with the file's own addresses, for processes that
 * userspace has not published yet. */
struct php_proc {
	__u64 globals;   /* address of executor_globals; 0: unknown, stacks are marked */
	__u64 frameless; /* address of zend_flf_functions; 0: none */
	__u64 jit_rule;  /* unwind rule of compiled code; 0: unknown */
	struct php_layout at;
};
ABI_SIZE(php_proc, 32);

/* Frames: code id << 20 | line. */
#define PHP_CODE_BITS 40
#define FRAME_PHP(code, line) FRAME_OF(FRAME_LANG_PHP, (__u64)(code) << 20 | ((line) & 0xfffff))

/* The way in which code without a name was entered. ORDER PHP_ENTRY */
enum php_entry {
	PHP_CALLED, /* a function, with a name */
	PHP_MAIN,
	PHP_EVAL,
	PHP_INCLUDE,
	PHP_INCLUDE_ONCE,
	PHP_REQUIRE,
	PHP_REQUIRE_ONCE,
};

/* Record of a function, sent before any stack that shows it. */
#define PHP_NAME_MAX  512
#define PHP_FILE_MAX  1024

enum php_code_flags {
	PHP_UNREADABLE = 1, /* only addr, entry and code are set: userspace reads the process */
};
struct php_code_record {
	struct lang_record head; /* time: 0 */
	__u64 code;  /* id: a hash of all members below, or of pid and addr if unreadable */
	__u64 addr;  /* address of the zend_function */
	__u32 flags; /* enum php_code_flags */
	__u32 entry; /* enum php_entry */
	__u32 name_size, class_size, file_size; /* bytes, cut at the limits */
	__u32 pad;
	__u64 name[PHP_NAME_MAX / 8];  /* the function's name */
	__u64 class[PHP_NAME_MAX / 8]; /* the name of its class */
	__u64 file[PHP_FILE_MAX / 8];  /* size 0: an internal function; only the used part is sent */
};
ABI_SIZE(php_code_record, 64 + 2 * PHP_NAME_MAX + PHP_FILE_MAX);
