// SPDX-License-Identifier: Apache-2.0

// main.go - signals interrupt a goroutine for a second. The language is that of Go 1.19.
package main

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

var sum int

//go:noinline
func spin(n int) {
	for i := 0; i < n; i++ {
		sum += i
	}
}

//go:noinline
func middle(until time.Time) {
	for time.Now().Before(until) {
		spin(1000000)
	}
}

//go:noinline
func outer(until time.Time) { middle(until) }

func main() {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGUSR1)
	go func() {
		for range time.Tick(5 * time.Millisecond) {
			syscall.Kill(syscall.Getpid(), syscall.SIGUSR1)
			<-signals
		}
	}()
	outer(time.Now().Add(time.Second))
}
