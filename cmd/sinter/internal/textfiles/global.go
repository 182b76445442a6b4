package textfiles

import (
	"path/filepath"
	"regexp"
	"strings"
)

// excludesFile finds the setting in git's configuration. Like ripgrep's, it
// looks for the key alone: no other section has one of that name.
var excludesFile = regexp.MustCompile(`(?im)^[ \t]*excludesfile[ \t]*=[ \t]*"?[ \t]*(.+?)[ \t]*"?[ \t\r]*$`)

// GlobalExcludes is the path of the file with the user's own ignore rules:
// core.excludesFile of git's configuration, else git/ignore in the folder for
// configuration. It need not exist. Without a home folder it is "". env gives
// variables of the environment, "" for those that are not set.
func GlobalExcludes(env func(string) string) string {
	home := env("HOME")
	if home == "" {
		home = env("USERPROFILE")
	}
	config := env("XDG_CONFIG_HOME")
	if config == "" && home != "" {
		config = filepath.Join(home, ".config")
	}
	var files []string
	if home != "" {
		files = append(files, filepath.Join(home, ".gitconfig"))
	}
	if config != "" {
		files = append(files, filepath.Join(config, "git", "config"))
	}
	for _, file := range files {
		text, err := readRegular(file)
		if err != nil {
			continue
		}
		if m := excludesFile.FindSubmatch(text); m != nil {
			path := string(m[1])
			if rest, ok := strings.CutPrefix(path, "~/"); ok && home != "" {
				path = filepath.Join(home, rest)
			}
			return filepath.FromSlash(path)
		}
	}
	if config == "" {
		return ""
	}
	return filepath.Join(config, "git", "ignore")
}
