// SPDX-License-Identifier: Apache-2.0

// main.go - goroutines with labels of runtime/pprof. Each calls getpriority(5, WHO); go.py computes the labels from WHO.
// The language is that of Go 1.19.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"strconv"
	"sync"
	"syscall"
)

var sizes = []int{1, 8, 27, 53}

func call(who int) {
	syscall.Syscall(syscall.SYS_GETPRIORITY, 5, uintptr(who), 0)
}

func labels(who int) pprof.LabelSet {
	pairs := []string{"tenant", "t" + strconv.Itoa(who%7)}
	if who%3 == 0 {
		pairs = append(pairs, "trace_id", fmt.Sprintf("%032x", who*7919), "span_id", fmt.Sprintf("%016x", who*31))
	}
	for i := 0; len(pairs) < 2*sizes[who%len(sizes)]; i++ {
		pairs = append(pairs, "key"+strconv.Itoa(i), "value"+strconv.Itoa(i+who))
	}
	return pprof.Labels(pairs...)
}

func work(first, calls int) {
	call(first)
	for who := first + 1; who < first+calls; who++ {
		if who%10 == 3 {
			pprof.SetGoroutineLabels(context.Background())
			call(who)
			continue
		}
		pprof.Do(context.Background(), labels(who), func(context.Context) {
			if who%5 == 0 {
				runtime.Gosched()
			}
			call(who)
		})
	}
}

func main() {
	calls, _ := strconv.Atoi(os.Args[1])
	bufio.NewReader(os.Stdin).ReadString('\n')
	var done sync.WaitGroup
	for i := 0; i < 4; i++ {
		done.Add(1)
		go func(first int) {
			defer done.Done()
			work(first, calls)
		}(i * 100000)
	}
	done.Wait()
}
