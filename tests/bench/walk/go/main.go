// SPDX-License-Identifier: Apache-2.0

// main.go - deep.c in Go.
package main

import (
	"os"
	"strconv"
)

var sink int

//go:noinline
func bottom(n int) { sink += n }

//go:noinline
func small(n int) int {
	var room [1]int
	room[n%len(room)] = n
	return down(n-1) + room[sink%len(room)]
}

//go:noinline
func middle(n int) int {
	var room [6]int
	room[n%len(room)] = n
	return down(n-1) + room[sink%len(room)]
}

//go:noinline
func big(n int) int {
	var room [16]int
	room[n%len(room)] = n
	return down(n-1) + room[sink%len(room)]
}

//go:noinline
func down(n int) int {
	if n <= 0 {
		for i := 0; i < 200; i++ {
			bottom(i)
		}
		return n
	}
	switch n % 3 {
	case 0:
		return small(n) + 1
	case 1:
		return middle(n) + 1
	}
	return big(n) + 1
}

func main() {
	depth, _ := strconv.Atoi(os.Args[1])
	for {
		down(depth)
	}
}
