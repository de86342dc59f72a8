package path

import (
	"strings"
	"testing"
)

func TestOneWay(t *testing.T) {
	got := All(Node{Name: "a", Next: []Node{{Name: "b"}}}, nil)
	if len(got) != 1 {
		t.Errorf("%d ways", len(got))
	}
}

func TestEachLeafHasItsWay(t *testing.T) {
	tree := Node{"a", []Node{{"b", []Node{{"c", []Node{{"x", nil}, {"y", nil}}}}}}}
	ways := All(tree, nil)
	first := strings.Join(ways[0], "/")
	if first != "a/b/c/x" {
		t.Errorf("the first way is %s", first)
	}
}
