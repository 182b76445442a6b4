package passage

import (
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// language says where the parts of a kind of text begin. It looks at lines, not
// at grammar: what it takes for a declaration and is none, say in a quoted
// text, only moves a cut.
type language struct {
	// names are extensions, and names of files without one, in lower case.
	names string
	// declares matches the first line of a declaration at the outermost level,
	// or of a section.
	declares string
	// above matches lines that belong to a declaration right below: comments,
	// decorators. Comments that begin and end like block do so too.
	above string
	block [2]string
	// members matches the first line of a declaration one level in. Where it has
	// a group, that is not control flow.
	members string
	// marks does it by itself, where a line is not enough.
	marks func(lines []string, b []border)
}

const (
	slashes = `^(//|@)`
	hashes  = `^#`
	dashes  = `^--`
	inner   = `^(\t| {2,4})` // one level in
)

var stars = [2]string{"/*", "*/"}

// languages are the kinds of text whose structure is known.
var languages = []language{
	{names: "md markdown mdx qmd rmd", marks: markdown},
	{names: "rst rest", marks: restructuredText},
	{names: "adoc asciidoc", marks: asciiDoc},
	{names: "org", declares: `^\*+ `},
	{names: "tex ltx", declares: `^\s*\\(part|chapter|(sub)*section|begin\{(abstract|document|theorem|proof)\})`},
	{names: "html htm xhtml", declares: `(?i)^\s*<(h[1-6]|section|article|main|script|style)\b`, block: [2]string{"<!--", "-->"}},
	{names: "man mdoc roff 1 3 5 7 8", declares: `^\.(TH|SH|SS|Dd|Sh|Ss)\b`},

	{names: "go", declares: `^(func|type|var|const)\b`, above: slashes, block: stars},
	{names: "py pyi pyx", declares: `^(async def|def|class)\b`, above: `^[@#]`, members: inner + `(async def|def|class)\b`},
	{
		names:    "rs",
		declares: `^(pub(\([^)]*\))? )?((unsafe|async|const|extern|default)( "\w+")? )*(fn|struct|enum|union|trait|impl|mod|type|const|static)\b|^macro_rules!`,
		above:    `^(//|#!?\[)`, block: stars,
		members: inner + `(pub(\([^)]*\))? )?((unsafe|async|const) )*fn\b`,
	},
	{
		// What is not indented and does not end on its line; the return type of a
		// function may stand on a line of its own.
		names:    "c h cc cpp cxx hh hpp hxx m mm cu cuh",
		declares: `^([-+@A-Za-z_~][^;]*[^;:\s]|(class|struct|enum|union|namespace|template|typedef)\b.*)\s*$`,
		above:    `^(//|#\[|\[\[|[A-Za-z_][^;{}()]*$)`, block: stars,
	},
	{
		names:    "java kt kts cs scala swift dart groovy php",
		declares: `^(<\?php|((public|private|protected|internal|open|abstract|final|static|sealed|data|case|partial|export|override|inline|suspend|async|default) )*(class|interface|@interface|enum|record|struct|object|namespace|trait|protocol|extension|actor|mixin|func|fun|def|function|typealias)\b)`,
		above:    `^(//|@|#?\[)`, block: stars,
		members: inner + `(?:[A-Za-z@_<][^;=]*[\s>\]])?(\w+)\s*\([^;]*$`,
	},
	{
		names:    "js jsx mjs cjs ts tsx mts cts vue svelte",
		declares: `^(<(script|template|style)\b|((export|default|declare|abstract|async) )*(function|class|interface|enum|namespace|module|type|const|let|var)\b|export\b|module\.exports|exports\.|(describe|test|it)\()`,
		above:    slashes, block: stars,
		members: inner + `(?:(?:async|static|get|set|public|private|protected|readonly|override) )*[*#]?([\w$]+)\([^;]*\{\s*$`,
	},
	{names: "sh bash zsh ksh", declares: `^(function\s+[\w:.-]+|[\w:.-]+\s*\(\))`, above: hashes},
	{names: "rb rake", declares: `^(class|module|def|describe)\b`, above: hashes, members: inner + `(def|class|module|describe|context|it)\b`},
	{names: "pl pm", declares: `^(sub|package)\b`, above: hashes},
	{names: "lua", declares: `^(local\s+)?function\b|^\w[\w.]*\s*=\s*function\b`, above: dashes},
	{names: "r", declares: `^[\w.]+\s*(<-|=)\s*function\b`, above: hashes},
	{names: "ex exs", declares: `^(defmodule|defprotocol|defimpl)\b`, above: hashes, members: inner + `(def\w*|@doc|test|describe)\b`},
	{names: "hs", declares: `^([a-z_][\w']*\s*::|(data|newtype|type|class|instance|module)\b)`, above: dashes, block: [2]string{"{-", "-}"}},
	{names: "ml mli fs fsi", declares: `^(let|module|type|open|val|exception|class)\b`, above: `^\[[@<]`, block: [2]string{"(*", "*)"}},
	{names: "clj cljs cljc el lisp scm", declares: `^\(`, above: `^;`},
	{names: "zig", declares: `^(pub |export |inline |extern )*(fn|const|var|test)\b`, above: slashes},
	{names: "sql", declares: `(?i)^(create|alter|drop|insert|update|delete|select|with|grant)\b`, above: dashes, block: stars},
	{names: "proto graphql gql thrift", declares: `^(message|service|enum|extend|type|interface|input|union|scalar|directive|schema|struct|exception)\b`, above: `^(//|#|@)`, block: stars},
	{names: "css scss less", declares: `^[^\s}/][^;]*[{,]\s*$`, above: `^(//|[^\s}/][^;{}]*,\s*$)`, block: stars},
	{names: "tf hcl nix", declares: `^[a-z]\w* .*\{\s*$`, above: `^(#|//)`, block: stars},
	{names: "yaml yml", declares: `^([A-Za-z_"'][^#]*:(\s|$)|---)`, above: hashes},
	{names: "toml ini cfg conf", declares: `^\[`, above: `^[#;]`},
	{names: "makefile gnumakefile mk", declares: `^[\w.%$(/][^=#]*:([^=]|$)|^define\b`, above: `^(#|\.PHONY)`},
	{names: "dockerfile containerfile", declares: `(?i)^FROM\b`, above: hashes},
	{names: "cmake cmakelists.txt", declares: `(?i)^(function|macro|add_\w+|project|if)\s*\(`, above: hashes},
}

// patterns are a language's, compiled.
type patterns struct {
	language
	declares, above, members *regexp.Regexp // nil: none
}

// byName finds the language of an extension or a name. It is made when the
// first text is split: most commands split none.
var byName = sync.OnceValue(func() map[string]*patterns {
	compile := func(pattern string) *regexp.Regexp {
		if pattern == "" {
			return nil
		}
		return regexp.MustCompile(pattern)
	}
	all := map[string]*patterns{}
	for _, l := range languages {
		p := &patterns{l, compile(l.declares), compile(l.above), compile(l.members)}
		for _, name := range strings.Fields(l.names) {
			all[name] = p
		}
	}
	return all
})

func languageOf(name string) *patterns {
	base := strings.ToLower(filepath.Base(name))
	if l := byName()[base]; l != nil {
		return l
	}
	return byName()[strings.TrimPrefix(filepath.Ext(base), ".")]
}

// mark marks the lines where declarations begin, with what belongs to them
// above.
func (p *patterns) mark(lines []string, b []border) {
	if p.marks != nil {
		p.marks(lines, b)
		return
	}
	lead, indent := -1, "" // the first of the lines right above that belong to what follows, and its indentation
	inside := false        // a comment of several lines
	for i, l := range lines {
		l = strings.TrimRight(l, " \t\r")
		bare := strings.TrimLeft(l, " \t")
		if inside {
			inside = !strings.Contains(bare, p.block[1])
			continue
		}
		if this := l[:len(l)-len(bare)]; lead < 0 || this != indent {
			lead, indent = i, this
		}
		switch {
		case p.declares.MatchString(l):
			b[lead] = heading
		case p.members != nil && p.isMember(l):
			b[lead] = max(b[lead], member)
		}
		opens := p.block[0] != "" && strings.HasPrefix(bare, p.block[0])
		inside = opens && !strings.Contains(bare[len(p.block[0]):], p.block[1])
		if !opens && (bare == "" || p.above == nil || !p.above.MatchString(bare)) {
			lead = -1
		}
	}
}

// controlWords begin statements that look like declarations of functions.
var controlWords = map[string]bool{
	"if": true, "else": true, "for": true, "foreach": true, "while": true, "switch": true, "when": true, "catch": true, "do": true, "try": true,
	"return": true, "throw": true, "new": true, "using": true, "lock": true, "synchronized": true, "guard": true, "super": true, "this": true,
}

func (p *patterns) isMember(line string) bool {
	m := p.members.FindStringSubmatch(line)
	if m == nil {
		return false
	}
	first, _, _ := strings.Cut(strings.TrimSpace(line), " ")
	first, _, _ = strings.Cut(first, "(")
	return !controlWords[first] && !controlWords[m[len(m)-1]]
}
