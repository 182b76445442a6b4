package index

import (
	"slices"
	"sync"
	"testing"
)

// A process that announces itself is not disturbed by those that look who is busy.
func TestAnnounceBesideBusy(t *testing.T) {
	x := openTest(t, memoryDir(t), Options{})
	stop := make(chan bool)
	var wait sync.WaitGroup
	for range 2 {
		wait.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := x.Busy(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	failed := 0
	for range 3000 {
		_, done, err := x.Announce(t.Context(), []string{"/a"})
		if err != nil {
			if failed++; failed == 1 {
				t.Error(err)
			}
			continue
		}
		done()
	}
	close(stop)
	wait.Wait()
	if failed > 0 {
		t.Errorf("%d of 3000 failed", failed)
	}
}

// The name of a folder may have line feeds.
func TestBusyLineFeed(t *testing.T) {
	x := openTest(t, memoryDir(t), Options{})
	_, done, err := x.Announce(t.Context(), []string{"/home/me\n/else", "/x"})
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	busy, err := x.Busy()
	if err != nil || len(busy) != 2 || Below("/home/me/file", busy) || !Below("/home/me\n/else/file", busy) {
		t.Errorf("%q, %v", busy, err)
	}
}

// Of many that announce themselves at once, all but the first know of it, and
// each of all before it.
func TestAnnounceAtOnce(t *testing.T) {
	dir := memoryDir(t)
	const processes = 8
	known := make([]int, processes)
	all := make([]*Index, processes)
	for i := range all {
		all[i] = openTest(t, dir, Options{})
	}
	var wait sync.WaitGroup
	for i, x := range all {
		wait.Go(func() {
			busy, done, err := x.Announce(t.Context(), []string{"/a"})
			if err != nil {
				t.Error(err)
				return
			}
			t.Cleanup(done)
			known[i] = len(busy)
		})
	}
	wait.Wait()
	slices.Sort(known)
	if !slices.Equal(known, []int{0, 1, 2, 3, 4, 5, 6, 7}) {
		t.Errorf("they knew of %v others", known)
	}
}
