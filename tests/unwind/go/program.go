// SPDX-License-Identifier: Apache-2.0

// program.go - makes stacks of every shape, and prints Go's own account of each just before it calls
// marker(). The account is that of runtime.Callers, with inlined functions:
//
//	program CALLS DEEPEST
//
// It prints one line per stack: the number of frames, and the checksum of "name file:line\n" of
// each, from probe's caller outwards. The language is that of Go 1.19.
package main

import (
	"bufio"
	"fmt"
	"hash/crc32"
	"math"
	"math/rand"
	"os"
	"os/signal"
	"reflect"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

var (
	told sync.Mutex // one at a time, so that both accounts are in the same order
	out  *bufio.Writer
	left int
	pcs  = make([]uintptr, 65536)
	mark int

	// Set to record a core; it gets the lines of each account.
	recorded func(lines []string)
)

// Functions between Go's and C's frames: Go's own account has a stand-in for them.
var glue = map[string]bool{"crosscall2": true, "runtime.asmcgocall": true,
	"runtime.systemstack_switch": true}

//go:noinline
func marker() { mark = syscall.Getppid() }

//go:noinline
func probe() {
	told.Lock()
	defer told.Unlock()
	if left--; left < 0 {
		return
	}
	n, depth, crc := runtime.Callers(2, pcs), 0, uint32(0)
	var lines []string
	for frames := runtime.CallersFrames(pcs[:n]); ; {
		frame, more := frames.Next()
		if frame.Function != "" && !glue[frame.Function] {
			line := fmt.Sprintf("%s %s:%d\n", frame.Function, frame.File, frame.Line)
			crc = crc32.Update(crc, crc32.IEEETable, []byte(line))
			depth++
			if recorded != nil {
				lines = append(lines, line)
			}
		}
		if !more {
			break
		}
	}
	fmt.Fprintln(out, depth, crc)
	if recorded != nil {
		recorded(lines)
	}
	marker()
}

// ---- shapes ----------------------------------------------------------------

type walker struct {
	random *rand.Rand
	deep   bool
	pad    [64]byte
}

type stepper interface{ step(n int) }

func (w *walker) step(n int) { w.down(n - 1) }

type byValue struct{ w *walker }

func (b byValue) step(n int) { b.w.down(n - 1) }

type embedded struct{ *walker }

func inlined(w *walker, n int) { alsoInlined(w, n) }

func alsoInlined(w *walker, n int) { w.down(n - 1) }

//go:noinline
func outOfLine(w *walker, n int) { inlined(w, n) }

//go:noinline
func large(w *walker, n int) int {
	var room [900]byte
	room[n%900] = 1
	w.down(n - 1)
	return int(room[(n+1)%900])
}

func generic[T any](w *walker, n int, x T) T {
	w.down(n - 1)
	return x
}

type pair[K comparable, V any] struct {
	key   K
	value V
}

//go:noinline
func (p *pair[K, V]) step(w *walker, n int) { w.down(n - 1) }

func deferred(w *walker, n int) {
	defer func() { w.down(n - 1) }()
}

func panics(w *walker, n int) {
	defer func() {
		if recover() != nil {
			w.down(n - 2)
		}
	}()
	panic("x")
}

func whilePanicking(w *walker, n int) {
	defer func() { recover() }()
	defer func() { w.down(n - 2) }()
	panic("x")
}

func faults(w *walker, n int) {
	defer func() { recover() }()
	defer func() { w.down(n - 2) }()
	var p *int
	*p = 1
}

func sorts(w *walker, n int) {
	once := false
	x := []int{2, 1}
	sort.Slice(x, func(i, j int) bool {
		if !once {
			once = true
			w.down(n - 1)
		}
		return x[i] < x[j]
	})
}

func reflects(w *walker, n int) {
	reflect.ValueOf(w.down).Call([]reflect.Value{reflect.ValueOf(n - 1)})
}

func maps(w *walker, n int) {
	strings.Map(func(r rune) rune {
		w.down(n - 1)
		return r
	}, "x")
}

// Set if the program is built with cgo.
var throughC func(w *walker, n int)

func (w *walker) down(n int) {
	if n <= 0 {
		probe()
		return
	}
	kinds := 15
	if w.deep {
		kinds = 8 // the cheap ones
	}
	switch w.random.Intn(kinds) {
	case 0:
		w.step(n)
	case 1:
		outOfLine(w, n)
	case 2:
		func() { w.down(n - 1) }()
	case 3:
		generic(w, n, "text")
	case 4:
		large(w, n)
	case 5:
		var s stepper = w
		s.step(n)
	case 6:
		deferred(w, n)
	case 7:
		(&pair[int, string]{1, "x"}).step(w, n)
	case 8:
		panics(w, n)
	case 9:
		whilePanicking(w, n)
	case 10:
		faults(w, n)
	case 11:
		sorts(w, n)
	case 12:
		reflects(w, n)
	case 13:
		maps(w, n)
	case 14:
		if throughC != nil {
			throughC(w, n)
		} else {
			byValue{w}.step(n)
		}
	}
}

// ---- the program -----------------------------------------------------------

func worker(seed int64, calls int, deepest float64) {
	random := rand.New(rand.NewSource(seed))
	for i := 0; i < calls; i++ {
		depth := int(math.Pow(deepest, random.Float64()))
		w := &walker{random: random, deep: depth > 100}
		w.down(depth)
	}
}

func main() {
	calls, _ := strconv.Atoi(os.Args[1])
	deepest, _ := strconv.ParseFloat(os.Args[2], 64)
	out = bufio.NewWriter(os.Stdout)
	left = calls
	bufio.NewReader(os.Stdin).ReadString('\n')

	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1)
	go func() {
		for range signals {
			(&walker{random: rand.New(rand.NewSource(1))}).down(5)
		}
	}()
	syscall.Kill(os.Getpid(), syscall.SIGUSR1)
	timer := make(chan bool)
	time.AfterFunc(time.Millisecond, func() {
		(&walker{random: rand.New(rand.NewSource(2))}).down(5)
		timer <- true
	})
	<-timer

	var done sync.WaitGroup
	for i := 0; i < 1000; i++ { // small stacks that grow
		done.Add(1)
		go func(seed int64) {
			worker(seed, calls/2000, deepest/4)
			done.Done()
		}(int64(i))
	}
	for i := 0; i < 4; i++ {
		done.Add(1)
		go func(seed int64) {
			worker(seed, calls/6, deepest)
			done.Done()
		}(int64(1000 + i))
	}
	done.Wait()
	told.Lock()
	out.Flush()
}
