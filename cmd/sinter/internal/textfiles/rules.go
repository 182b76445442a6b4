package textfiles

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// source is where rules come from, those that go before others first.
type source int

const (
	fromRipgrep source = iota // .rgignore
	fromIgnore                // .ignore
	fromGit                   // .gitignore
	fromExclude               // info/exclude of the repository
	sources
)

// ruleFiles are the files of ignore rules a folder may have.
var ruleFiles = [...]string{fromRipgrep: ".rgignore", fromIgnore: ".ignore", fromGit: ".gitignore"}

// maxRules bounds what is read of a file of rules. A short pattern may take a
// thousand times its size, and the file may be a stranger's.
const maxRules = 1 << 20

var errRulesTooLong = fmt.Errorf("more than %d MiB of ignore rules: left aside", maxRules>>20)

// rules are those that hold in a folder: its own and, behind them, those of the
// folders above. Folders that add none share the rules of their parent. The
// rules of nil are none.
type rules struct {
	parent *rules
	prefix string // absolute path of the folder with slashes, one at its end
	own    [sources]patterns
	root   bool // of a repository: git's rules from above do not reach here
	inGit  bool // in some repository: else git's rules hold nowhere
}

// judge asks rules about a file or folder by its absolute path with slashes.
// global are the user's own excludes, with the path they are about.
func (r *rules) judge(path string, folder bool, global patterns, globalPath string) verdict {
	for from := range sources {
		git := from == fromGit || from == fromExclude
		if git && (r == nil || !r.inGit) {
			break
		}
		for at := r; at != nil; at = at.parent {
			if own := at.own[from]; len(own) > 0 {
				if v := own.judge(path[len(at.prefix):], folder); v != silent {
					return v
				}
			}
			if git && at.root {
				break
			}
		}
	}
	if r != nil && r.inGit {
		return global.judge(globalPath, folder)
	}
	return silent
}

// ruleReader reads rules.
type ruleReader struct {
	skip func(path string, err error)
}

// above reads the rules of all folders above one, by its absolute path.
func (rr ruleReader) above(folder string) *rules {
	var folders []string
	for up := filepath.Dir(folder); up != folder; up = filepath.Dir(up) {
		folders = append(folders, up)
		folder = up
	}
	var r *rules
	for i := len(folders) - 1; i >= 0; i-- {
		r = rr.enter(r, folders[i], func(name string) bool {
			_, err := os.Lstat(filepath.Join(folders[i], name))
			return err == nil
		})
	}
	return r
}

// enter reads the rules of a folder, by its absolute path, below one whose
// rules are parent. has tells what the folder holds.
func (rr ruleReader) enter(parent *rules, folder string, has func(name string) bool) *rules {
	r := rules{parent: parent, prefix: slashed(folder), inGit: parent != nil && parent.inGit}
	added := false
	add := func(from source, file string) {
		r.own[from] = rr.file(file)
		added = added || len(r.own[from]) > 0
	}
	for from, name := range ruleFiles {
		if has(name) {
			add(source(from), filepath.Join(folder, name))
		}
	}
	if has(".git") {
		git := filepath.Join(folder, ".git")
		if info, err := os.Stat(git); err == nil {
			added, r.root, r.inGit = true, true, true
			if !info.IsDir() {
				git = commonDir(git)
			}
			if git != "" {
				add(fromExclude, filepath.Join(git, "info", "exclude"))
			}
		}
	}
	if !added {
		return parent
	}
	return &r
}

func slashed(folder string) string {
	return strings.TrimSuffix(filepath.ToSlash(folder), "/") + "/"
}

// openRegular opens a file, and reports one of another kind, such as a pipe
// that would be waited for, as if it were not there.
func openRegular(name string) (*os.File, error) {
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %w: it is no regular file", name, fs.ErrNotExist)
	}
	if err != nil {
		return nil, err
	}
	return os.Open(name)
}

// readRegular reads what openRegular opens.
func readRegular(name string) ([]byte, error) {
	f, err := openRegular(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// file reads a file of rules. That there is none is no error.
func (rr ruleReader) file(name string) patterns {
	f, err := openRegular(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	if err != nil {
		rr.skip(name, err)
		return nil
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxRules+1))
	if err == nil && len(text) > maxRules {
		err = fmt.Errorf("%s: %w", name, errRulesTooLong)
	}
	if err != nil {
		rr.skip(name, err)
		return nil
	}
	return parsePatterns(string(text), func(line int, err error) {
		rr.skip(name, fmt.Errorf("%s:%d: %w", name, line, err))
	})
}

// commonDir finds the folder that all worktrees of a repository share, from
// the .git file of one; "" if there is none. See gitrepository-layout(5).
func commonDir(gitFile string) string {
	dir, ok := strings.CutPrefix(firstLine(gitFile), "gitdir: ")
	if !ok {
		return ""
	}
	dir = from(filepath.Dir(gitFile), dir)
	common := firstLine(filepath.Join(dir, "commondir"))
	if common == "" {
		return ""
	}
	return from(dir, common)
}

// from is a path that may be relative to a folder.
func from(folder, path string) string {
	path = filepath.FromSlash(path)
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(folder, path)
}

// firstLine is that of a small file, "" if it cannot be read.
func firstLine(name string) string {
	f, err := openRegular(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	s := bufio.NewScanner(io.LimitReader(f, 64<<10))
	s.Scan()
	return s.Text()
}
