// SPDX-License-Identifier: Apache-2.0

// main.go - Go, C and Python call one another, in random order:
//
//	program CALLS DEEPEST
//
// Before each call of getppid, from Go or from C, it prints a line of JSON: the layers, innermost
// first, and Go's and Python's own accounts of their frames. The language is that of Go 1.19.
package main

/*
#cgo pkg-config: python3-embed
#include <Python.h>
#include <stdlib.h>
#include <unistd.h>

extern void goFromC(int);

static __attribute__((noinline)) int by_value(const void *a, const void *b)
{
	int n = *(const int *)a > *(const int *)b ? *(const int *)a : *(const int *)b;

	if (n >= 0)
		goFromC(n);
	return 0;
}

static __attribute__((noinline)) int c_layer(int n)
{
	volatile int room[8] = { n };

	goFromC(n);
	return room[0];
}

static __attribute__((noinline)) int c_sorts(int n)
{
	int x[2] = { n, -1 };

	qsort(x, 2, sizeof(*x), by_value);
	return x[0];
}

static __attribute__((noinline)) int c_bottom(void)
{
	return getppid() + 1;
}

static PyObject *from_python(PyObject *self, PyObject *args)
{
	int n = 0;

	if (!PyArg_ParseTuple(args, "i", &n))
		return NULL;
	goFromC(n);
	Py_RETURN_NONE;
}

static PyMethodDef methods[] = { { "go", from_python, METH_VARARGS, "" }, { NULL } };
static struct PyModuleDef module = { PyModuleDef_HEAD_INIT, "mixed", NULL, -1, methods };
static PyObject *globals;

static PyObject *make_module(void)
{
	return PyModule_Create(&module);
}

static int start_python(const char *code)
{
	PyImport_AppendInittab("mixed", make_module);
	Py_InitializeEx(0);
	globals = PyModule_GetDict(PyImport_AddModule("__main__"));
	return PyRun_SimpleString(code);
}

// Calls a function of the Python program. Returns its result as text, or NULL.
static __attribute__((noinline)) char *py_layer(const char *function, int n)
{
	PyObject *f = PyDict_GetItemString(globals, function), *r = PyObject_CallFunction(f, "i", n);
	char *text;

	if (!r) {
		PyErr_Print();
		abort();
	}
	text = PyUnicode_Check(r) ? strdup(PyUnicode_AsUTF8(r)) : NULL;
	Py_DECREF(r);
	return text;
}
*/
import "C"

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

//go:embed layers.py
var layersPy string

type account struct {
	Layers, Go, Py []string
}

var (
	random = rand.New(rand.NewSource(1))
	layers []string
	out    = bufio.NewWriter(os.Stdout)
	pcs    = make([]uintptr, 65536)
	left   int
)

func python(function string, n int) string {
	name := C.CString(function)
	defer C.free(unsafe.Pointer(name))
	text := C.py_layer(name, C.int(n))
	defer C.free(unsafe.Pointer(text))
	if text == nil {
		return ""
	}
	return C.GoString(text)
}

func tell() {
	a := account{Py: strings.Fields(python("account", 0))}
	for i := len(layers) - 1; i >= 0; i-- {
		a.Layers = append(a.Layers, layers[i])
	}
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	for {
		frame, more := frames.Next()
		a.Go = append(a.Go, fmt.Sprintf("%s %s:%d", frame.Function, frame.File, frame.Line))
		if !more {
			break
		}
	}
	line, _ := json.Marshal(a)
	fmt.Fprintln(out, string(line))
}

//go:noinline
func bottom() {
	tell()
	if left--; random.Intn(2) == 0 {
		C.c_bottom()
	} else {
		syscall.Getppid()
	}
}

//go:noinline
func goLayer(n int) { down(n - 1) }

//export goFromC
func goFromC(n C.int) { down(int(n)) }

func in(layer string, call func()) {
	layers = append(layers, layer)
	call()
	layers = layers[:len(layers)-1]
}

func down(n int) {
	if n <= 0 {
		bottom()
		return
	}
	switch k := random.Intn(7); k {
	case 0, 1:
		in("main.goLayer", func() { goLayer(n) })
	case 2:
		in("c_layer", func() { C.c_layer(C.int(n - 1)) })
	case 3:
		in("c_sorts", func() { C.c_sorts(C.int(n - 1)) })
	default:
		function := []string{"plain", "sorts", "generates"}[k-4]
		in(function, func() { python(function, n-1) })
	}
}

func main() {
	runtime.LockOSThread()
	calls, _ := strconv.Atoi(os.Args[1])
	deepest, _ := strconv.Atoi(os.Args[2])
	code := C.CString(layersPy)
	if C.start_python(code) != 0 {
		os.Exit(1)
	}
	bufio.NewReader(os.Stdin).ReadString('\n')
	for left = calls; left > 0; {
		down(1 + random.Intn(deepest))
	}
	out.Flush()
}
