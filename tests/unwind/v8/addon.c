// SPDX-License-Identifier: Apache-2.0
/* addon.c - a native addon: call(f) calls f from two functions of C; cpu() is the thread's clock. */
#include <node_api.h>
#include <time.h>

#define KEPT __attribute__((noinline, visibility("default")))

/* Callers use the result, so that no call is a tail call. */
KEPT int addon_below(napi_env env, napi_value f)
{
	napi_value undefined, result;
	int err;

	napi_get_undefined(env, &undefined);
	err = napi_call_function(env, undefined, f, 0, NULL, &result);
	return err + 1;
}

KEPT int addon_above(napi_env env, napi_value f)
{
	return addon_below(env, f) + 1;
}

static napi_value call(napi_env env, napi_callback_info info)
{
	napi_value f, result;
	size_t n = 1;

	napi_get_cb_info(env, info, &n, &f, NULL, NULL);
	napi_create_int32(env, addon_above(env, f), &result);
	return result;
}

/* The CPU time of the thread, in microseconds. */
static napi_value cpu(napi_env env, napi_callback_info info)
{
	struct timespec t;
	napi_value result;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	napi_create_double(env, (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3, &result);
	return result;
}

static void export(napi_env env, napi_value exports, const char *name, napi_callback function)
{
	napi_value f;

	napi_create_function(env, name, NAPI_AUTO_LENGTH, function, NULL, &f);
	napi_set_named_property(env, exports, name, f);
}

napi_value napi_register_module_v1(napi_env env, napi_value exports)
{
	export(env, exports, "call", call);
	export(env, exports, "cpu", cpu);
	return exports;
}
