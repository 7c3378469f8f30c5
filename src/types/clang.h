/* SPDX-License-Identifier: Apache-2.0 */
/* clang.h - the functions of libclang that strata uses, loaded when a script has a C part. The structs and
 * numbers are those of clang-c/Index.h, CXString.h, CXSourceLocation.h and CXErrorCode.h of LLVM 19
 * (CINDEX_VERSION 0.64), an interface that stays compatible between versions: 18 to 21 have the same. */
#pragma once
#include <stdbool.h>

struct cx_string {
	const void *data;
	unsigned flags;
};

struct cx_cursor {
	unsigned kind;
	int xdata;
	const void *data[3];
};

struct cx_type {
	unsigned kind;
	void *data[2];
};

struct cx_location {
	const void *ptr_data[2];
	unsigned int_data;
};

/* A file that clang finds by this name, whether it exists or not. */
struct cx_unsaved {
	const char *name, *text;
	unsigned long len;
};

enum cx_cursor_kind {
	CX_STRUCT_DECL = 2,
	CX_UNION_DECL = 3,
	CX_ENUM_DECL = 5,
	CX_ENUM_CONSTANT_DECL = 7,
	CX_FUNCTION_DECL = 8,
	CX_VAR_DECL = 9,
	CX_TYPEDEF_DECL = 20,
};

enum cx_type_kind {
	CX_INVALID = 0,
	CX_VOID = 2,
	CX_BOOL = 3,
	CX_CHAR_U = 4,
	CX_UCHAR = 5,
	CX_USHORT = 8,
	CX_UINT = 9,
	CX_ULONG = 10,
	CX_ULONGLONG = 11,
	CX_CHAR_S = 13,
	CX_SCHAR = 14,
	CX_WCHAR = 15,
	CX_SHORT = 16,
	CX_INT = 17,
	CX_LONG = 18,
	CX_LONGLONG = 19,
	CX_POINTER = 101,
	CX_RECORD = 105,
	CX_ENUM = 106,
	CX_FUNCTION_NO_PROTO = 110,
	CX_FUNCTION_PROTO = 111,
	CX_CONSTANT_ARRAY = 112,
	CX_INCOMPLETE_ARRAY = 114,
	CX_ATOMIC = 177,
};

enum { CX_SKIP_FUNCTION_BODIES = 0x40, CX_KEEP_GOING = 0x200 }; /* CXTranslationUnit_Flags */
enum { CX_SEVERITY_ERROR = 3 };                                  /* CXDiagnosticSeverity; 4 is fatal */
enum { CX_EVAL_INT = 1, CX_EVAL_STRING = 4 };                    /* CXEvalResultKind */
enum cx_visit { CX_VISIT_BREAK, CX_VISIT_CONTINUE, CX_VISIT_RECURSE };
enum { CX_FIELD_CONTINUE = 1 };                                  /* CXVisitorResult */
enum { CX_LINKAGE_EXTERNAL = 4 };                                /* CXLinkageKind */

typedef enum cx_visit (*cx_visitor)(struct cx_cursor c, struct cx_cursor parent, void *arg);
typedef int (*cx_field_visitor)(struct cx_cursor c, void *arg);
/* Called with a file and the places where it is included: n positions, the last in the main file. */
typedef void (*cx_inclusion_visitor)(void *file, struct cx_location *stack, unsigned n, void *arg);

/* F(result, name without clang_, parameters) */
#define CLANG_FUNCTIONS(F)                                                               \
	F(void *, createIndex, (int, int))                                               \
	F(void, disposeIndex, (void *))                                                  \
	F(int, parseTranslationUnit2, (void *index, const char *file, const char *const *args, int nargs, \
		struct cx_unsaved *files, unsigned nfiles, unsigned flags, void **ret))  \
	F(void, disposeTranslationUnit, (void *))                                        \
	F(unsigned, getNumDiagnostics, (void *unit))                                     \
	F(void *, getDiagnostic, (void *unit, unsigned))                                 \
	F(void, disposeDiagnostic, (void *))                                             \
	F(int, getDiagnosticSeverity, (void *))                                          \
	F(struct cx_string, getDiagnosticSpelling, (void *))                             \
	F(struct cx_location, getDiagnosticLocation, (void *))                           \
	F(void, getFileLocation, (struct cx_location, void **file, unsigned *line, unsigned *column, \
		unsigned *offset))                                                       \
	F(struct cx_string, getFileName, (void *file))                                   \
	F(void, getInclusions, (void *unit, cx_inclusion_visitor, void *arg))            \
	F(const char *, getCString, (struct cx_string))                                  \
	F(void, disposeString, (struct cx_string))                                       \
	F(struct cx_cursor, getTranslationUnitCursor, (void *unit))                      \
	F(unsigned, visitChildren, (struct cx_cursor, cx_visitor, void *arg))            \
	F(struct cx_string, getCursorSpelling, (struct cx_cursor))                       \
	F(struct cx_type, getCursorType, (struct cx_cursor))                             \
	F(struct cx_cursor, getCursorDefinition, (struct cx_cursor))                     \
	F(unsigned, isCursorDefinition, (struct cx_cursor))                              \
	F(unsigned, equalCursors, (struct cx_cursor, struct cx_cursor))                  \
	F(unsigned, hashCursor, (struct cx_cursor))                                      \
	F(struct cx_cursor, getCursorSemanticParent, (struct cx_cursor))                 \
	F(int, Cursor_isNull, (struct cx_cursor))                                        \
	F(unsigned, Cursor_isAnonymous, (struct cx_cursor))                              \
	F(void *, Cursor_Evaluate, (struct cx_cursor))                                   \
	F(int, EvalResult_getKind, (void *))                                             \
	F(long long, EvalResult_getAsLongLong, (void *))                                 \
	F(const char *, EvalResult_getAsStr, (void *))                                   \
	F(void, EvalResult_dispose, (void *))                                            \
	F(struct cx_type, getCanonicalType, (struct cx_type))                            \
	F(struct cx_cursor, getTypeDeclaration, (struct cx_type))                        \
	F(struct cx_string, getTypeSpelling, (struct cx_type))                           \
	F(struct cx_type, getPointeeType, (struct cx_type))                              \
	F(struct cx_type, getArrayElementType, (struct cx_type))                         \
	F(long long, getArraySize, (struct cx_type))                                     \
	F(long long, Type_getSizeOf, (struct cx_type))                                   \
	F(struct cx_type, Type_getValueType, (struct cx_type))                           \
	F(unsigned, Type_visitFields, (struct cx_type, cx_field_visitor, void *arg))     \
	F(long long, Cursor_getOffsetOfField, (struct cx_cursor))                        \
	F(int, getFieldDeclBitWidth, (struct cx_cursor))                                 \
	F(int, getCursorLinkage, (struct cx_cursor))                                     \
	F(unsigned, Cursor_isFunctionInlined, (struct cx_cursor))                        \
	F(int, Cursor_getNumArguments, (struct cx_cursor))                               \
	F(struct cx_cursor, Cursor_getArgument, (struct cx_cursor, unsigned))            \
	F(struct cx_type, getCursorResultType, (struct cx_cursor))                       \
	F(struct cx_type, getTypedefDeclUnderlyingType, (struct cx_cursor))              \
	F(struct cx_type, getEnumDeclIntegerType, (struct cx_cursor))                    \
	F(long long, getEnumConstantDeclValue, (struct cx_cursor))

struct clang {
	void *library;
#define FIELD(ret, name, params) ret (*name) params;
	CLANG_FUNCTIONS(FIELD)
#undef FIELD
};

enum clang_state { CLANG_OPEN, CLANG_MISSING, CLANG_LEFT_OUT };
/* The library stays loaded, since LLVM cannot be unloaded safely. LEFT_OUT: a static build without it. */
enum clang_state clang_open(struct clang *c);
