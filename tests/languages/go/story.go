// The story's program: every language has one that does the same, with the same names and the same marks.
package main

import (
	"context"
	"fmt"
	"os"
	"runtime/pprof"
)

func price(item string, count int) int {
	cost := len(item) * count // @cost
	return cost               // @return
}

func tally(words []string) map[string]int {
	seen := map[string]int{}     // @empty
	for _, word := range words { // @for
		seen[word] = seen[word] + 1 // @tally
	}
	return seen // @seen
}

func shop() int {
	total := 0 // @total
	for count := 1; count < 7; count++ {
		total += price("fig", count) // @loop
		fmt.Println("so far", total) // @print
	}
	numbers := make([]int, 100)
	for at := range numbers {
		numbers[at] = at
	}
	return total + numbers[0] // @numbers
}

func fail(total int) {
	panic(fmt.Sprintf("too much: %d", total)) // @raise
}

func careful() (answer string) {
	defer func() {
		recover()
		answer = "recovered" // @recovered
	}()
	fail(1)
	return ""
}

func spin() {
	turns := 0
	fmt.Println("spinning")
	for {
		turns++ // @spin
	}
}

func worker(done chan bool) {
	mine := "of the worker"
	fmt.Println(mine) // @worker
	done <- true
}

func run(what string) int {
	switch what {
	case "shop":
		total := shop()
		fmt.Println("done", total) // @done
	case "tally":
		fmt.Println(tally([]string{"a", "b", "a"}))
	case "fail":
		fail(2000)
	case "careful":
		fmt.Println(careful())
	case "spin":
		spin()
	case "thread":
		done := make(chan bool)
		labels := pprof.Labels("name", "helper")
		go pprof.Do(context.Background(), labels, func(context.Context) { worker(done) })
		<-done
	}
	if what == "seven" {
		return 7
	}
	return 0 // @end
}

func main() {
	what := os.Args[1]
	os.Exit(run(what)) // @exit
}
