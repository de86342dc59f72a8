// Package path lists the ways through a tree.
package path

// Node is a place with what lies behind it.
type Node struct {
	Name string
	Next []Node
}

// All gives every way from the root to a leaf.
func All(node Node, before []string) [][]string {
	way := append(before, node.Name)
	if len(node.Next) == 0 {
		return [][]string{way}
	}
	var out [][]string
	for _, next := range node.Next {
		out = append(out, All(next, way)...)
	}
	return out
}
