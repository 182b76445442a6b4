package index

import (
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
		done, err := x.Announce([]string{"/a"})
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
	done, err := x.Announce([]string{"/home/me\n/else", "/x"})
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	busy, err := x.Busy()
	if err != nil || len(busy) != 2 || Below("/home/me/file", busy) || !Below("/home/me\n/else/file", busy) {
		t.Errorf("%q, %v", busy, err)
	}
}
