package textfiles

import (
	"strings"
	"testing"
)

// FuzzPatterns reads any file of rules. Wrong lines are told of by their number;
// no rule takes a walk down.
func FuzzPatterns(f *testing.F) {
	for _, text := range []string{"*.o\n!keep.o\n/build/\n", "a/**/b\n**/c\n[a-z]?\\ \n", "# note\n\n \n[\n", "{a,b}*[!x]\\", "\xff\x00\r\n"} {
		f.Add(text, "a/b/keep.o")
	}
	f.Fuzz(func(t *testing.T, text, path string) {
		lines := strings.Count(text, "\n") + 1
		p := parsePatterns(text, func(line int, err error) {
			if line < 1 || line > lines || err == nil {
				t.Errorf("line %d of %d: %v", line, lines, err)
			}
		})
		for _, dir := range []bool{false, true} {
			_ = p.judge(path, dir)
		}
	})
}
