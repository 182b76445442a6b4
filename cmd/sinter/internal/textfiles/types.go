package textfiles

import (
	"fmt"
	"slices"
	"strings"
)

// typeTable names kinds of files, as ripgrep 13 does, by globs about names.
const typeTable = `
asciidoc: *.adoc *.asc *.asciidoc
asm: *.S *.asm *.s
awk: *.awk
bazel: *.BUILD *.bazel *.bazelrc *.bzl BUILD WORKSPACE
c: *.[chH] *.[chH].in *.cats
clojure: *.clj *.cljc *.cljs *.cljx
cmake: *.cmake CMakeLists.txt
coffeescript: *.coffee
config: *.cfg *.conf *.config *.ini
cpp: *.[ChH] *.[ChH].in *.[ch]pp *.[ch]pp.in *.[ch]xx *.[ch]xx.in *.cc *.cc.in *.hh *.hh.in *.inl
cs: *.cs
csharp: *.cs
css: *.css *.scss
csv: *.csv
cython: *.pxd *.pxi *.pyx
d: *.d
dart: *.dart
diff: *.diff *.patch
docker: *Dockerfile*
elisp: *.el
elixir: *.eex *.ex *.exs
elm: *.elm
erlang: *.erl *.hrl
fish: *.fish
fortran: *.F *.F77 *.F90 *.F95 *.f *.f77 *.f90 *.f95 *.pfo
fsharp: *.fs *.fsi *.fsx
go: *.go
gradle: *.gradle
groovy: *.gradle *.groovy
h: *.h *.hpp
haskell: *.c2hs *.cpphs *.hs *.hsc *.lhs
hs: *.hs *.lhs
html: *.ejs *.htm *.html
java: *.java *.jsp *.jspx *.properties
jl: *.jl
js: *.js *.jsx *.vue
json: *.json composer.lock
jsonl: *.jsonl
julia: *.jl
jupyter: *.ipynb *.jpynb
kotlin: *.kt *.kts
less: *.less
license: *[.-]LICEN[CS]E* AGPL-*[0-9]* APACHE-*[0-9]* BSD-*[0-9]* CC-BY-* COPYING COPYING[.-]* COPYRIGHT COPYRIGHT[.-]* EULA EULA[.-]* GFDL-*[0-9]* GNU-*[0-9]* GPL-*[0-9]* LGPL-*[0-9]* LICEN[CS]E LICEN[CS]E[.-]* MIT-*[0-9]* MPL-*[0-9]* NOTICE NOTICE[.-]* OFL-*[0-9]* PATENTS PATENTS[.-]* UNLICEN[CS]E UNLICEN[CS]E[.-]* agpl[.-]* gpl[.-]* lgpl[.-]* licen[cs]e licen[cs]e.*
lisp: *.el *.jl *.lisp *.lsp *.sc *.scm
log: *.log
lua: *.lua
m4: *.ac *.m4
make: *.mak *.mk [Gg][Nn][Uu]makefile [Gg][Nn][Uu]makefile.am [Gg][Nn][Uu]makefile.in [Mm]akefile [Mm]akefile.am [Mm]akefile.in
man: *.[0-9][cEFMmpSx] *.[0-9lnpx]
markdown: *.markdown *.md *.mdown *.mkdn
matlab: *.m
md: *.markdown *.md *.mdown *.mkdn
meson: meson.build meson_options.txt
nim: *.nim *.nimble *.nimf *.nims
nix: *.nix
objc: *.h *.m
objcpp: *.h *.mm
ocaml: *.ml *.mli *.mll *.mly
org: *.org *.org_archive
pascal: *.dpr *.inc *.lpr *.pas *.pp
perl: *.PL *.perl *.pl *.plh *.plx *.pm *.t
php: *.php *.php3 *.php4 *.php5 *.phtml
po: *.po
protobuf: *.proto
ps: *.cdxml *.ps1 *.ps1xml *.psd1 *.psm1
py: *.py
r: *.R *.Rmd *.Rnw *.r
rdoc: *.rdoc
readme: *README README*
rst: *.rst
ruby: *.gemspec *.rb *.rbw .irbrc Gemfile Rakefile config.ru
rust: *.rs
sass: *.sass *.scss
scala: *.sbt *.scala
sh: *.bash *.bashrc *.csh *.cshrc *.ksh *.kshrc *.sh *.tcsh *.zsh .bash_login .bash_logout .bash_profile .bashrc .cshrc .kshrc .login .logout .profile .tcshrc .zlogin .zlogout .zprofile .zshenv .zshrc bash_login bash_logout bash_profile bashrc profile zlogin zlogout zprofile zshenv zshrc
sql: *.psql *.sql
svg: *.svg
swift: *.swift
systemd: *.automount *.conf *.device *.link *.mount *.path *.scope *.service *.slice *.socket *.swap *.target *.timer
tcl: *.tcl
tex: *.bib *.cls *.dtx *.ins *.ltx *.sty *.tex
tf: *.tf
thrift: *.thrift
toml: *.toml Cargo.lock
ts: *.ts *.tsx
txt: *.txt
verilog: *.sv *.svh *.v *.vh
vhdl: *.vhd *.vhdl
vim: *.vim
webidl: *.idl *.webidl *.widl
xml: *.dtd *.rng *.sch *.xhtml *.xjb *.xml *.xml.dist *.xsd *.xsl *.xslt
yacc: *.y
yaml: *.yaml *.yml
zig: *.zig
zsh: *.zsh .zlogin .zlogout .zprofile .zshenv .zshrc zlogin zlogout zprofile zshenv zshrc
`

// TypeNames are the kinds of files, sorted.
func TypeNames() []string {
	var names []string
	for line := range strings.Lines(strings.TrimSpace(typeTable)) {
		name, _, _ := strings.Cut(line, ":")
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Types choose files by kind. The zero value chooses all.
type Types struct {
	wanted, unwanted []glob
}

// ParseTypes chooses the files of any of the wanted kinds, of all kinds if none
// is named, but for those of an unwanted one.
func ParseTypes(wanted, unwanted []string) (Types, error) {
	globs := map[string]string{}
	var names []string
	for line := range strings.Lines(strings.TrimSpace(typeTable)) {
		name, text, _ := strings.Cut(line, ":")
		globs[name] = text
		names = append(names, name)
	}
	var err error
	parse := func(kinds []string) (all []glob) {
		for _, kind := range kinds {
			if !slices.Contains(names, kind) {
				err = fmt.Errorf("no type %q: there are %s", kind, strings.Join(names, ", "))
				return nil
			}
			for text := range strings.FieldsSeq(globs[kind]) {
				g, bad := newGlob(text, true)
				if bad != nil {
					err = bad
				}
				all = append(all, g)
			}
		}
		return all
	}
	t := Types{wanted: parse(wanted)}
	if err == nil {
		t.unwanted = parse(unwanted)
	}
	return t, err
}

func (t Types) judge(name string, folder bool) verdict {
	matches := func(g glob) bool { return g.match(name) }
	switch {
	case folder:
		return silent
	case slices.ContainsFunc(t.unwanted, matches):
		return ignore
	case slices.ContainsFunc(t.wanted, matches):
		return include
	case len(t.wanted) > 0:
		return ignore
	}
	return silent
}
