package cosine

import "sync"

// forest is disjoint sets of numbers: each is in a tree, whose root is the
// least of its set. Several goroutines may use it.
type forest struct {
	mu     sync.Mutex
	parent []int32
}

func newForest(n int) *forest {
	f := &forest{parent: make([]int32, n)}
	for i := range f.parent {
		f.parent[i] = int32(i)
	}
	return f
}

// root halves the way to the root as it goes. The caller holds mu.
func (f *forest) root(i int32) int32 {
	for f.parent[i] != i {
		f.parent[i] = f.parent[f.parent[i]]
		i = f.parent[i]
	}
	return i
}

func (f *forest) join(i, j int32) {
	f.mu.Lock()
	defer f.mu.Unlock()
	a, b := f.root(i), f.root(j)
	f.parent[max(a, b)] = min(a, b)
}

// apart keeps of js those that are not in the set of i.
func (f *forest) apart(i int32, js []int32) []int32 {
	f.mu.Lock()
	defer f.mu.Unlock()
	root, n := f.root(i), 0
	for _, j := range js {
		if f.root(j) != root {
			js[n] = j
			n++
		}
	}
	return js[:n]
}

// together reports whether all of two ranges of ids are in one set.
func (f *forest) together(a, b []int32) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	root := f.root(a[0])
	for _, ids := range [][]int32{a, b} {
		for _, i := range ids {
			if f.root(i) != root {
				return false
			}
		}
	}
	return true
}

// groups are the sets of two or more, each in rising order, the sets by their
// first.
func (f *forest) groups() [][]int {
	size := make([]int32, len(f.parent))
	for i := range f.parent {
		size[f.root(int32(i))]++
	}
	groups := [][]int{}
	at := make([]int32, len(f.parent)) // of a root: its group
	for i := range f.parent {
		root := f.root(int32(i))
		if size[root] < 2 {
			continue
		}
		if root == int32(i) {
			at[i] = int32(len(groups))
			groups = append(groups, make([]int, 0, size[i]))
		}
		groups[at[root]] = append(groups[at[root]], i)
	}
	return groups
}
