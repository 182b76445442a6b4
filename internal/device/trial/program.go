package trial

import (
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
)

// program says which code sinter writes: its version, where that is one, so that
// the command and all programs that are built with it share what was found. Else it
// is this build of the program: another may write other code.
var program = sync.OnceValue(func() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		if v := versionIn(info); v != "" {
			return v + " " + runtime.GOARCH
		}
	}
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return strconv.FormatInt(info.Size(), 36) + " " + strconv.FormatInt(info.ModTime().UnixNano(), 36)
})

const module = "github.com/sinterml/sinter"

// versionIn is the version of sinter that a program was built with; "" for a
// checkout, which changes without one.
func versionIn(info *debug.BuildInfo) string {
	for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
		if m.Path != module {
			continue
		}
		if m.Replace != nil {
			m = m.Replace // by a fork, or a folder, which has no version
		}
		if m.Version == "" || m.Version == "(devel)" || strings.HasSuffix(m.Version, "+dirty") {
			return ""
		}
		return m.Path + " " + m.Version
	}
	return ""
}
