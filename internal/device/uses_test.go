package device

import (
	"sync"
	"sync/atomic"
	"testing"
)

func TestUses(t *testing.T) {
	var u Uses
	if u.Closed() || !u.Begin() || u.End() {
		t.Fatal("the owner's use is not counted")
	}
	if !u.Begin() || !u.Close() || u.Close() || !u.Closed() {
		t.Fatal("closed other than once")
	}
	if u.Begin() {
		t.Error("begun after it was closed")
	}
	if u.End() {
		t.Error("the owner ended first and was told to free what is in use")
	}
	if !u.End() {
		t.Error("nobody was the last")
	}
	if u.Begin() {
		t.Error("begun after all were gone")
	}
}

// Whoever began finds it whole, and one of all is the last.
func TestUsesAtOnce(t *testing.T) {
	for range 20 {
		var u Uses
		var freed atomic.Int32
		end := func() {
			if u.End() {
				freed.Add(1)
			}
		}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range 100 {
					if !u.Begin() {
						return
					}
					if freed.Load() != 0 {
						t.Error("begun when it was gone")
					}
					end()
				}
			})
		}
		wg.Go(func() {
			if u.Close() {
				end()
			}
		})
		wg.Wait()
		if freed.Load() != 1 {
			t.Fatalf("freed %d times", freed.Load())
		}
	}
}
