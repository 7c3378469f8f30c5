// SPDX-License-Identifier: Apache-2.0

package main

/*
#include <pthread.h>
#include <unistd.h>

extern void goAsks(void);

static void call(void) { getppid(); }
static void callBack(void) { goAsks(); }

static void *run(void *unused)
{
	getppid();
	return unused;
}

static void ownThread(void)
{
	pthread_t t;

	pthread_create(&t, NULL, run, NULL);
	pthread_join(t, NULL);
}
*/
import "C"

import "syscall"

//export goAsks
func goAsks() { syscall.Getppid() }

func init() {
	inC = func() { C.call() }
	throughC = func() { C.callBack() }
	ownThread = func() { C.ownThread() }
}
