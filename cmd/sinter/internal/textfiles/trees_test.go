package textfiles

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// trees are folders with rules of every kind, and the files to find in them.
var trees = []struct {
	name, text string
	walks      []walk
}{
	{"negation", `
		.git/
		.gitignore = "*.log\n!keep.log\n/build\nout/\n*.tmp\n"
		.ignore = "secret*\n!yes.tmp\n"
		.rgignore = "!secret2\n"
		a.log
		keep.log
		yes.tmp
		no.tmp
		secret1
		secret2
		build/keep.log
		out
		sub/out/keep.log
		sub/.gitignore = "!*.log\nkeep.log\n"
		sub/b.log
		sub/keep.log
		sub/deep/.gitignore = "b.log\n!keep.log\n"
		sub/deep/a.log
		sub/deep/b.log
		sub/deep/keep.log
		sub/build/x
		all/.gitignore = "*\n!*/\n!*.c\n"
		all/x.c
		all/x.h
		all/in/y.c
		all/in/y.h
		none/.gitignore = "*\n!x\n"
		none/x
		none/y/x
		other/.ignore = "!a.log\n"
		other/.gitignore = "z\n"
		other/.rgignore = "!z\n"
		other/a.log
		other/z
		`, []walk{
		{want: "all/in/y.c all/x.c keep.log none/x other/a.log other/z out secret2 sub/b.log sub/build/x sub/deep/a.log sub/deep/keep.log yes.tmp"},
		{in: "sub", want: "b.log build/x deep/a.log deep/keep.log"},
		{roots: "sub/deep ./none a.log", want: "sub/deep/a.log sub/deep/keep.log none/x a.log"},
		{roots: "build", want: "build/keep.log"}, // a root is taken whatever the rules
		{globs: "*.log !keep.log", want: "a.log other/a.log sub/b.log sub/deep/a.log sub/deep/b.log"},
		{roots: "sub", options: Options{NoIgnore: true}, want: "sub/b.log sub/build/x sub/deep/a.log sub/deep/b.log sub/deep/keep.log sub/keep.log sub/out/keep.log"},
	}},
	{"anchored", `
		.git/
		.gitignore = "/top\na/b\n/c/d/\n**/e/f\ng/**\nh/**/i\n/*.txt\nj/*/k\nl/\n"
		top
		x/top
		a/b
		x/a/b
		c/d/x
		x/c/d/x
		e/f
		x/y/e/f
		e/g
		g/x
		g/y/z
		x/g/y
		h/i
		h/x/y/i
		h/i2
		r.txt
		x/r.txt
		j/k
		j/x/k
		j/x/y/k
		l
		x/l/y
		x/l2/y
		`, []walk{
		{want: "e/g h/i2 j/k j/x/y/k l x/a/b x/c/d/x x/g/y x/l2/y x/r.txt x/top"},
		{in: "x", want: "a/b c/d/x g/y l2/y r.txt top"},
		{in: "x", roots: "../e ../l ../j ../x", want: "../e/g ../l ../j/k ../j/x/y/k ../x/a/b ../x/c/d/x ../x/g/y ../x/l2/y ../x/r.txt ../x/top", alone: joinsTwice},
		{roots: "x j", globs: "/x/*", want: "x/r.txt x/top"},
		{in: "x", globs: "/r.txt", want: "r.txt"},
		{globs: "!/x !j/**", want: "e/g h/i2 l"},
		{globs: "**/x/* !**/y/**", want: "j/x/k x/r.txt x/top"},
	}},
	{"globs", `
		.git/
		.gitignore = "# a comment\n\\#a\n\\!b\n[c-e]x\n[!f-h]y\nspaces  \nkept\\ \ncr\r\n*.{o,a}\nq?\n\\*s\nt\\[u\n[]v]w\nd*g\n*-*.bak\n"
		.ignore = "mark\nba\\d\n"
		#a
		!b
		ax
		cx
		fy
		iy
		spaces
		cr
		x.o
		x.a
		x.oo
		q
		qq
		*s
		rs
		t[u
		vw
		]w
		xw
		dog
		dig/x
		a-b.bak
		ab.bak
		mark
		bad
		`, []walk{
		{want: "ab.bak ax fy q rs x.oo xw"},
		{globs: "x.* *.{bak,zip}", want: "a-b.bak ab.bak x.a x.o x.oo"},
		{globs: "[!a-z]*", want: "!b #a *s .gitignore .ignore ]w"},
	}},
	{"hidden", `
		.git/config
		.gitignore = "!.shown\n!.shown.d\n.never\n*.md\n"
		.shown
		.shown.d/x
		.shown.d/.y
		.plain
		.never
		.plain.d/x.go
		x.go
		x.py
		x.md
		x_test.go
		.bashrc
		Makefile
		sub/.rgignore = "!.plain\n"
		sub/.plain
		`, []walk{
		{want: ".shown .shown.d/x Makefile sub/.plain x.go x.py x_test.go"},
		{options: Options{Hidden: true}, globs: "!.git", want: ".bashrc .gitignore .plain .plain.d/x.go .shown .shown.d/.y .shown.d/x Makefile sub/.plain sub/.rgignore x.go x.py x_test.go"},
		{options: Options{NoIgnore: true}, want: "Makefile x.go x.md x.py x_test.go"},
		{options: Options{Hidden: true, NoIgnore: true}, want: ".bashrc .git/config .gitignore .never .plain .plain.d/x.go .shown .shown.d/.y .shown.d/x Makefile sub/.plain sub/.rgignore x.go x.md x.py x_test.go"},
		{types: "go", want: "x.go x_test.go"},
		{types: "go py", globs: "!*_test.go", want: "x.go x.py"},
		{noTypes: "go make", want: ".shown .shown.d/x sub/.plain x.py"},
		{types: "go py", noTypes: "go", want: "x.py"},
		{types: "sh", want: ".bashrc"},
		{types: "md", want: ""},
		{globs: ".p*", want: ".plain sub/.plain"},
		{globs: "*.md", want: "x.md"},
		{roots: ".plain .plain.d .git x.md", want: ".plain .plain.d/x.go .git/config x.md"},
		{roots: ".plain x.md", globs: "*.go", types: "go", want: ".plain x.md"},
	}},
	{"repositories", `
		home/.gitconfig = "[core]\n\teditor = vi\n\texcludesFile = $DIR/home/mine\n"
		home/mine = "*.mine\n/desk\n"
		main/.git/info/exclude = "*.out\n"
		main/.git/worktrees/tree/commondir = "../..\n"
		main/.gitignore = "*.tmp\n"
		main/x.out
		main/x.tmp
		main/x.c
		main/x.mine
		main/desk/x
		main/in/.git/
		main/in/x.out
		main/in/x.tmp
		main/in/x.mine
		main/in/y
		tree/.git = "gitdir: $DIR/main/.git/worktrees/tree\n"
		tree/.gitignore = "y\n"
		tree/x.out
		tree/x.mine
		tree/x
		tree/sub/y
		tree/sub/z.out
		near/.git = "gitdir: ../main/.git/worktrees/tree\n"
		near/x.out
		near/y
		module/.git = "gitdir: ../nowhere\n"
		module/.gitignore = "y\n"
		module/x.out
		module/y
		bad/.git = "what is this"
		bad/x.out
		outside/.gitignore = "*\n"
		outside/.ignore = "z\n"
		outside/x.mine
		outside/z
		`, []walk{
		{globs: "!home !near", want: "bad/x.out main/desk/x main/in/x.out main/in/x.tmp main/in/y main/x.c module/x.out outside/x.mine tree/x"},
		{in: "main", want: "in/x.out in/x.tmp in/y x.c"},
		{in: "near", want: "y"},
		{roots: "near", want: "near/y", alone: "ripgrep 13 takes a relative gitdir from the current folder"},
		{in: "tree/sub", want: ""},
		{in: "tree/sub", options: Options{NoIgnore: true}, want: "y z.out"},
	}},
	{"links", `
		real/a.txt
		real/sub/b.txt
		real/loop -> .
		real/sub/up -> ../..
		real/link.txt -> a.txt
		real/broken -> nowhere
		root -> real
		other/dir -> ../real/sub
		other/.ignore = "dir2\n"
		other/dir2 -> ../real
		`, []walk{
		{want: "real/a.txt real/sub/b.txt"},
		{roots: "root", want: "root/a.txt root/sub/b.txt"}, // a root may be a link
		{roots: "real/link.txt", want: "real/link.txt"},
		{roots: "real", options: Options{Follow: true}, want: "real/a.txt real/link.txt real/sub/b.txt real/sub/up/real/a.txt real/sub/up/real/link.txt real/sub/up/real/sub/b.txt"},
		{roots: "other", options: Options{Follow: true}, globs: "!up", want: "other/dir/b.txt"},
	}},
	{"parents", `
		.ignore = "/repo/deep/one\n*.far\n"
		.gitignore = "*.beyond\n"
		repo/.git/info/exclude = "/deep/two\n"
		repo/.gitignore = "/deep/three\nfour\n*.c\n"
		repo/deep/.gitignore = "!x.c\n/five\n"
		repo/deep/one
		repo/deep/two
		repo/deep/three
		repo/deep/four
		repo/deep/five
		repo/deep/six
		repo/deep/a.far
		repo/deep/a.beyond
		repo/deep/a.c
		repo/deep/x.c
		repo/deep/er/five
		repo/deep/er/x.c
		repo/deep/er/y.c
		repo/deep/er/six = "12345678901"
		`, []walk{
		{want: "repo/deep/a.beyond repo/deep/er/five repo/deep/er/six repo/deep/er/x.c repo/deep/six repo/deep/x.c"},
		{in: "repo", want: "deep/a.beyond deep/er/five deep/er/six deep/er/x.c deep/six deep/x.c"},
		{in: "repo/deep", want: "a.beyond er/five er/six er/x.c six x.c"},
		{in: "repo/deep/er", want: "five six x.c"},
		{in: "repo/deep/er", roots: "..", globs: "!*.beyond", want: "../er/five ../er/six ../er/x.c ../six ../x.c", alone: joinsTwice},
		{in: "repo/deep", options: Options{MaxBytes: 10}, want: "a.beyond er/five er/x.c six x.c"},
		{in: "repo/deep", options: Options{MaxBytes: 11}, globs: "six", want: "er/six six"},
	}},
}

func TestTrees(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("some names, and links without a privilege, cannot be on Windows")
	}
	for _, tree := range trees {
		t.Run(tree.name, func(t *testing.T) {
			dir := plant(t, tree.text)
			home := filepath.Join(dir, "home")
			for _, w := range tree.walks {
				t.Chdir(filepath.Join(dir, filepath.FromSlash(w.in)))
				if got, want := w.list(t, home, nil), strings.Fields(w.want); !slices.Equal(got, want) {
					t.Errorf("%+v\nfinds %s", w, strings.Join(got, " "))
				}
			}
			t.Run("ripgrep", func(t *testing.T) {
				needRipgrep(t)
				for _, w := range tree.walks {
					if w.alone != "" {
						t.Logf("not asked about %q: %s", w.roots, w.alone)
						continue
					}
					t.Chdir(filepath.Join(dir, filepath.FromSlash(w.in)))
					if got, want := w.ripgrep(t, home), strings.Fields(w.want); !slices.Equal(got, want) {
						t.Errorf("%+v\nripgrep finds %s", w, strings.Join(got, " "))
					}
				}
			})
		})
	}
}
