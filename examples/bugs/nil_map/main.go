// Words counted by their first letter.
package main

import (
	"fmt"
	"strings"
)

type index struct {
	words map[string][]string
	count int
}

func newIndex(text string) *index {
	made := &index{}
	if strings.Contains(text, " ") {
		made.words = map[string][]string{}
	}
	return made
}

func (i *index) add(word string) {
	letter := word[:1]
	i.count++
	i.words[letter] = append(i.words[letter], word)
}

func main() {
	for _, text := range []string{"red green blue", "white"} {
		made := newIndex(text)
		for _, word := range strings.Fields(text) {
			made.add(word)
		}
		fmt.Println(text, made.count)
	}
}
