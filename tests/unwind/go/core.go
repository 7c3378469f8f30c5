// SPDX-License-Identifier: Apache-2.0

// core.go - built with program.go: prints one of its stacks in full, and then dumps core:
//
//	program CALLS DEEPEST WHICH HOW
//
// HOW: call, a system call; leaf, a function without a frame; copy, the runtime's assembler.
// The language is that of Go 1.19.
package main

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

//go:noinline
func leaf(p *int) int { return *p + 1 }

//go:noinline
func copies(to []byte) int {
	return copy(to, unsafe.Slice((*byte)(unsafe.Pointer(nowhere)), len(to)))
}

var nowhere uintptr = 8192

// Restores the kernel's default action; Go's runtime would handle the signal.
func die(how string) {
	var plain [4]uintptr // struct sigaction: SIG_DFL
	for _, n := range []syscall.Signal{syscall.SIGSEGV, syscall.SIGABRT} {
		syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(n), uintptr(unsafe.Pointer(&plain)), 0, 8, 0, 0)
	}
	switch how {
	case "call":
		syscall.RawSyscall(syscall.SYS_TGKILL, uintptr(syscall.Getpid()), uintptr(syscall.Gettid()),
			uintptr(syscall.SIGABRT))
	case "leaf":
		leaf(nil)
	case "copy":
		copies(make([]byte, 256))
	}
}

func init() {
	which, _ := strconv.Atoi(os.Args[3])
	recorded = func(lines []string) {
		if which--; which == 0 {
			os.Stdout.WriteString(strings.Join(lines, ""))
			die(os.Args[4])
		}
	}
}
