// SPDX-License-Identifier: Apache-2.0

// live - a Go program that always runs functions called from main.outer. The language is that of Go 1.19.
package main

import (
	"fmt"
	"sort"
	"strconv"
)

type middle struct{ words map[string]int }

//go:noinline
func (m *middle) fill(round int) int {
	for i := 0; i < 300; i++ {
		m.words[strconv.Itoa(i*round%1000)] += i
	}
	return len(m.words)
}

//go:noinline
func (m *middle) sorted() []string {
	keys := make([]string, 0, len(m.words))
	for k := range m.words {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(i, j int) bool { return keys[i] < keys[j] })
	return keys
}

//go:noinline
func outer(rounds int) (total int) {
	m := &middle{map[string]int{}}
	for i := 0; i < rounds; i++ {
		total += m.fill(i) + len(m.sorted())
	}
	return total
}

func main() {
	for {
		fmt.Println(outer(100))
	}
}
