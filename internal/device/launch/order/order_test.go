package order

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// script runs calls in a line each and gives the first error. r and w start
// something that reads or writes memory 1 on a stream, e records an event of the
// same number, f has the first stream follow the event of the second, h has the
// host wait for a stream, H for an event, d frees the memory.
func script(calls string) (err error) {
	c := &Checker{}
	for call := range strings.FieldsSeq(calls) {
		n := int(call[1] - '0')
		var now error
		switch call[0] {
		case 'r':
			now = c.Start(Stream(n), call).Reads(1)
		case 'w':
			now = c.Start(Stream(n), call).Writes(1)
		case 'e':
			c.Record(Event(n), Stream(n))
		case 'f':
			c.Follow(Stream(n), Event(call[2]-'0'))
		case 'h':
			c.Wait(Stream(n))
		case 'H':
			c.WaitEvent(Event(n))
		case 'd':
			now = c.Free(1)
		}
		if err == nil {
			err = now
		}
	}
	return err
}

func TestChecker(t *testing.T) {
	for _, c := range []struct {
		calls string
		right bool
	}{
		{"w1 w1 r1", true},
		{"r1 r2 r3", true},
		{"w1 r2", false},
		{"r1 w2", false},
		{"w1 w2", false},
		{"w1 h1 r2", true},
		{"w1 h2 r2", false},
		{"w1 e1 f21 r2", true},
		{"e1 w1 f21 r2", false}, // recorded too early
		{"w1 e1 r2", false},     // nobody waits
		{"w1 e1 f31 e3 f23 w2", true},
		{"w1 e1 f31 r3 e3 f23 w2", true},
		{"w1 e1 f31 r3 f21 w2", false}, // the reader was not waited for
		{"w1 e1 w1 H1 r2", false},      // the host waited for the first alone
		{"w1 e1 H1 r2", true},
		{"w1 e1 f21 h2 w3", true}, // what stream 2 waits for has ended with it
		{"w1 f21 h2 w3", false},
		{"w1 d0", false},
		{"w1 h1 d0 w2", true},
		{"r1 r2 h1 d0", false},
		{"r1 r2 h1 h2 d0", true},
		{"d0 w1", true},
	} {
		if err := script(c.calls); (err == nil) != c.right {
			t.Errorf("%s: %v", c.calls, err)
		}
	}
}

// Random calls: whatever is found or not is so by reachability, too.
func TestCheckerAgainstReachability(t *testing.T) {
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var calls []string
		for range 12 {
			n, o := string(rune('1'+rng.IntN(3))), string(rune('1'+rng.IntN(3)))
			calls = append(calls, []string{"r" + n, "w" + n, "e" + n, "f" + n + o, "h" + n, "H" + n}[rng.IntN(6)])
		}
		text := strings.Join(calls, " ")
		if got, want := script(text) == nil, ordered(calls); got != want {
			t.Fatalf("%s: right: %v, by reachability %v", text, got, want)
		}
	}
}

// ordered tells by paths in the graph of calls whether all uses are ordered.
func ordered(calls []string) bool {
	before := make([][]int, len(calls))           // of each call those right before
	last, event := map[byte]int{}, map[byte]int{} // of a stream, of an event
	var host []int                                // calls whose end the host has waited for
	for i, c := range calls {
		n := c[1]
		follow := func(m map[byte]int, k byte) {
			if at, ok := m[k]; ok {
				before[i] = append(before[i], at)
			}
		}
		switch c[0] {
		case 'r', 'w', 'e':
			follow(last, n)
			if c[0] != 'e' {
				before[i] = append(before[i], host...)
				last[n] = i
			} else {
				event[n] = i
			}
		case 'f':
			follow(last, n)
			follow(event, c[2])
			last[n] = i
		case 'h':
			follow(last, n)
			host = append(host, i)
		case 'H':
			follow(event, n)
			host = append(host, i)
		}
	}
	for i, a := range calls {
		for j := range i {
			b := calls[j]
			uses := func(c string) bool { return c[0] == 'r' || c[0] == 'w' }
			if uses(a) && uses(b) && (a[0] == 'w' || b[0] == 'w') && !reaches(before, i, j) {
				return false
			}
		}
	}
	return true
}

func reaches(before [][]int, from, to int) bool {
	for _, b := range before[from] {
		if b == to || reaches(before, b, to) {
			return true
		}
	}
	return false
}
