// The program of the standard job: a function with a loop and a few locals; prints when it ended if asked to.
package main

import (
	"fmt"
	"os"
	"syscall"
	"unsafe"
)

func tally(words []string) map[string]int {
	seen := map[string]int{} // the first stop
	for _, word := range words {
		seen[word]++
		if seen[word] > 1 {
			fmt.Println("again", word)
		}
	}
	return seen
}

func main() {
	counts := tally([]string{"a", "b", "a", "c", "b"})
	fmt.Println(len(counts))
	if len(os.Args) > 1 && os.Args[1] == "--clock" {
		var now syscall.Timespec
		syscall.Syscall(syscall.SYS_CLOCK_GETTIME, 1, uintptr(unsafe.Pointer(&now)), 0) // the clock that does not jump
		fmt.Printf("%d.%09d\n", now.Sec, now.Nsec)
	}
}
