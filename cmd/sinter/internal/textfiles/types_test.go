package textfiles

import (
	"os/exec"
	"strings"
	"testing"
)

func TestTypes(t *testing.T) {
	if _, err := ParseTypes(nil, []string{"golang"}); err == nil || !strings.Contains(err.Error(), `"golang": there are asciidoc`) {
		t.Errorf("%v", err)
	}
	needRipgrep(t)
	version, err := exec.Command("rg", "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(version), "ripgrep 13.") {
		t.Skipf("the table is of ripgrep 13, this is %.20q", version)
	}
	list, err := exec.Command("rg", "--type-list").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(strings.TrimSpace(typeTable)) {
		if want := strings.Replace(line, ":", ": ", 1); !strings.Contains("\n"+strings.ReplaceAll(string(list), ",", ""), "\n"+strings.TrimSpace(strings.Replace(want, ":  ", ": ", 1))+"\n") {
			t.Errorf("ripgrep has not: %s", line)
		}
	}
}
