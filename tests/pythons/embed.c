// SPDX-License-Identifier: Apache-2.0
/* embed.c - a program that embeds CPython: it takes python's arguments (SCRIPT ARGS.. or
 * -c CODE ARGS..), but runs the code in the last of several sub-interpreters. Each has its
 * own thread; the others sleep and count. */
#include <Python.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define IDLE 3

static PyThreadState *new_interpreter(void)
{
#if PY_VERSION_HEX >= 0x030c0000
	PyInterpreterConfig own = {
		.use_main_obmalloc = 0, .allow_fork = 1, .allow_exec = 1, .allow_threads = 1,
		.allow_daemon_threads = 1, .check_multi_interp_extensions = 1,
		.gil = PyInterpreterConfig_OWN_GIL,
	};
	/* Configured like the main interpreter, which allows single-interpreter extensions such as ctypes. */
	PyInterpreterConfig shared = {
		.use_main_obmalloc = 1, .allow_fork = 1, .allow_exec = 1, .allow_threads = 1,
		.allow_daemon_threads = 1, .check_multi_interp_extensions = 0,
		.gil = PyInterpreterConfig_SHARED_GIL,
	};
	PyThreadState *ts = NULL;
	PyStatus status = Py_NewInterpreterFromConfig(&ts, getenv("EMBED_OWN_GIL") ? &own : &shared);

	return PyStatus_Exception(status) ? NULL : ts;
#else
	return Py_NewInterpreter();
#endif
}

static void *idle(void *arg)
{
	PyGILState_STATE gil = PyGILState_Ensure();
	PyThreadState *main_state = PyThreadState_Get(), *mine = new_interpreter();

	if (mine)
		PyRun_SimpleString("import time\n"
				   "def counts():\n"
				   "    n = 0\n"
				   "    while True:\n"
				   "        n += sum(range(100))\n"
				   "        time.sleep(0.01)\n"
				   "counts()\n");
	PyThreadState_Swap(main_state);
	PyGILState_Release(gil);
	return arg;
}

static wchar_t **wide_args(int argc, char **argv)
{
	wchar_t **all = calloc(argc + 1, sizeof(*all));

	for (int i = 0; i < argc; i++)
		all[i] = Py_DecodeLocale(argv[i], NULL);
	return all;
}

static int run(int argc, char **argv)
{
	bool code = argc > 2 && !strcmp(argv[1], "-c");
	PyObject *args = PyList_New(0);
	FILE *f;

	for (int i = code ? 2 : 1; i < argc; i++)
		PyList_Append(args, PyUnicode_DecodeFSDefault(code && i == 2 ? "-c" : argv[i]));
	PySys_SetObject("argv", args);
	if (code)
		return PyRun_SimpleString(argv[2]);
	f = argc > 1 ? fopen(argv[1], "r") : stdin;
	if (!f) {
		perror(argv[1]);
		return 1;
	}
	return PyRun_SimpleFile(f, argc > 1 ? argv[1] : "<stdin>");
}

int main(int argc, char **argv)
{
	PyThreadState *mine;
	PyConfig config;
	pthread_t thread;
	int err;

	PyConfig_InitPythonConfig(&config);
	config.parse_argv = 0;
	PyConfig_SetArgv(&config, argc, wide_args(argc, argv));
	if (PyStatus_Exception(Py_InitializeFromConfig(&config)))
		return 1;
	Py_BEGIN_ALLOW_THREADS
	for (int i = 0; i < IDLE; i++)
		pthread_create(&thread, NULL, idle, NULL);
	Py_END_ALLOW_THREADS
	mine = new_interpreter();
	if (!mine)
		return 1;
	err = run(argc, argv);
	fflush(stdout);
	_exit(err ? 1 : 0); /* does not wait for the others */
}
