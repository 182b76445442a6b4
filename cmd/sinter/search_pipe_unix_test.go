//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/sinterml/sinter/internal/effort"
)

// What a pipe gives, as of <(command), is there once: passages of it are shown
// without reading it again.
func TestSearchPipe(t *testing.T) {
	if _, err := os.Stat("/dev/fd"); err != nil {
		effort.Missing(t, err)
	}
	model := tiny(t, nil)
	for _, extra := range [][]string{nil, {"-C", "1"}, {"--no-index"}} {
		read, write, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := write.WriteString("a word\n"); err != nil {
			t.Fatal(err)
		}
		if err := write.Close(); err != nil {
			t.Fatal(err)
		}
		path := fmt.Sprintf("/dev/fd/%d", read.Fd())
		var r searchResult
		args := append([]string{"search", "--json", "--model", model, "word", path}, extra...)
		if err := json.Unmarshal([]byte(ok(t, "", args...)), &r); err != nil {
			t.Fatal(err)
		}
		_ = read.Close()
		if len(r.Results) != 1 || r.Results[0].Text != "a word" || r.Results[0].Path != path {
			t.Errorf("%v: %+v", extra, r.Results)
		}
	}
}
