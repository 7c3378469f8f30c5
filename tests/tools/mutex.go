// SPDX-License-Identifier: Apache-2.0
// mutex.go - a service whose workers want one mutex: prints the time that they waited for it, by its own clock.
package main

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

var account sync.Mutex
var waited atomic.Int64

//go:noinline
func hold() { // sleeps, like for a slow disk
	time.Sleep(20 * time.Millisecond)
}

//go:noinline
func transfer() {
	begun := time.Now()
	account.Lock()
	waited.Add(time.Since(begun).Microseconds())
	hold()
	account.Unlock()
}

func main() {
	if len(os.Args) > 1 { // waits for a tracer
		bufio := make([]byte, 1)
		os.Stdin.Read(bufio)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Add(1)
		go func() {
			defer all.Done()
			for range 10 {
				transfer()
			}
		}()
	}
	all.Wait()
	fmt.Println(waited.Load())
}
