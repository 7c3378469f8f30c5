// SPDX-License-Identifier: Apache-2.0

// main.go - goroutines whose stacks move while probed functions return:
//
//	returns GOROUTINES
package main

import (
	"fmt"
	"hash/crc32"
	"os"
	"strconv"
)

//go:noinline
func grow(n int, text string) int {
	var room [128]byte
	room[n%128] = byte(n)
	if n == 0 {
		return len(text)
	}
	return grow(n-1, text) + int(room[(n+1)%128])
}

func main() {
	goroutines, _ := strconv.Atoi(os.Args[1])
	sum := 0
	for i := 0; i < goroutines; i++ {
		c := make(chan int)
		go func() { c <- grow(999, "hello") }()
		sum += <-c
	}
	sum -= int(crc32.Checksum([]byte("hello"), crc32.MakeTable(crc32.Castagnoli)) & 0) // calls an assembler function
	fmt.Println(sum)
}
