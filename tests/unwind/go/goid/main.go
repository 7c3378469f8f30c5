// SPDX-License-Identifier: Apache-2.0

// main.go - each goroutine prints its number in the runtime just before it calls getppid: from
// Go and, with cgo, from C called by Go, from Go called by that C, and from a thread that C
// made, which runs no goroutine. The language is that of Go 1.19.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"syscall"
)

var (
	told sync.Mutex // one at a time, so that both accounts are in the same order
	out  = bufio.NewWriter(os.Stdout)
)

func own() int {
	text := make([]byte, 64)
	text = text[:runtime.Stack(text, false)]
	n, _ := strconv.Atoi(string(bytes.Fields(text)[1]))
	return n
}

//go:noinline
func ask(call func()) {
	told.Lock()
	defer told.Unlock()
	fmt.Fprintln(out, own())
	call()
}

// Set if the program is built with cgo.
var inC, throughC, ownThread func()

func main() {
	bufio.NewReader(os.Stdin).ReadString('\n')
	var done sync.WaitGroup
	for i := 0; i < 300; i++ {
		done.Add(1)
		go func(i int) {
			defer done.Done()
			for k := 0; k < 3; k++ {
				ask(func() { syscall.Getppid() })
				runtime.Gosched()
				if inC != nil {
					ask(inC)
					ask(throughC)
				}
			}
		}(i)
	}
	done.Wait()
	if ownThread != nil {
		fmt.Fprintln(out, 0)
		ownThread()
	}
	ask(func() { syscall.Getppid() })
	out.Flush()
}
