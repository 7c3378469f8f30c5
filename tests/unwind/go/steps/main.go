// SPDX-License-Identifier: Apache-2.0

// main.go - common work of a Go program, on one goroutine, which step.c steps from main.work
// on.
package main

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
)

type shape interface{ area() float64 }

type square struct{ side float64 }

func (s square) area() float64 { return s.side * s.side }

type circle struct{ radius float64 }

func (c *circle) area() float64 { return 3.14 * c.radius * c.radius }

//go:noinline
func deep(n int) int {
	var room [40]int
	room[n%40] = n
	if n == 0 {
		return 0
	}
	return deep(n-1) + room[(n+1)%40]
}

//go:noinline
func deferred(n int) (r int) {
	defer func() {
		if recover() != nil {
			r = -1
		}
	}()
	if n%7 == 0 {
		panic(n)
	}
	return n
}

//go:noinline
func work(round int) string {
	words := map[string]int{}
	for i := 0; i < 20; i++ {
		words[strconv.Itoa(i*round)] += i
	}
	keys := make([]string, 0, len(words))
	for k := range words {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	sum := 0.0
	for i, s := range []shape{square{2}, &circle{float64(round)}} {
		sum += s.area() + float64(deferred(i+round))
	}
	return fmt.Sprintf("%s %.2f %d", strings.Join(keys, ","), sum, deep(20))
}

func main() {
	total := 0
	for i := 0; i < 1000000; i++ {
		total += len(work(i))
	}
	fmt.Println(total)
}
