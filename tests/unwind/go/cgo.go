// SPDX-License-Identifier: Apache-2.0

package main

/*
extern void goDown(int);

static int down_and_back(int n)
{
	volatile int room[16] = {n};

	goDown(n - 1);
	return room[0];
}
*/
import "C"

import "sync"

var (
	inC     []*walker
	inCLock sync.Mutex
)

//export goDown
func goDown(n C.int) {
	inCLock.Lock()
	w := inC[len(inC)-1]
	inC = inC[:len(inC)-1]
	inCLock.Unlock()
	w.down(int(n))
}

func init() {
	throughC = func(w *walker, n int) {
		inCLock.Lock()
		inC = append(inC, w)
		inCLock.Unlock()
		C.down_and_back(C.int(n))
	}
}
