package passage

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sinterml/sinter/internal/timetest"
)

// structures are texts with a mark before each line: H begins a section or a
// declaration, M a declaration in one.
var structures = map[string]string{
	"a.go": `
 |package a
 |
H|// F is f.
 |func F() {
 |	type T int
 |}
 |
H|/*
 |func in a comment
 |*/
 |var x = 1
H|const y = 2`,
	"a.py": `
 |import os
 |
H|# how long
 |@decorated
 |class A(B):
 |    """Text."""
 |
 |    x = 1
M|    # why
 |    @property
 |    def f(self):
 |        def g(): pass
 |
M|    async def h(self):
 |        return 1
 |
H|def k(): pass`,
	"lib.rs": `
 |use std::io;
H|/// Doc.
 |#[derive(Debug)]
 |pub struct S {
 |    x: i32,
 |}
 |
H|impl S {
M|    /// New.
 |    pub(crate) fn new() -> Self {
 |        let f = || fn_call();
 |    }
 |}
H|pub unsafe extern "C" fn f() {}
H|macro_rules! m {
 |}`,
	"a.c": `
 |#include <stdio.h>
 |int declared(int);
 |
H|/* Doc
 |   of it */
 |static int
 |main(int argc,
 |     char **argv)
 |{
 |	if (x) {
 |	}
 |out:
 |	return 0;
 |}
H|struct s {
 |	int x;
 |};`,
	"A.java": `
 |package a;
 |
H|/**
 | * Doc.
 | */
 |@Deprecated
 |public final class A {
 |    private int x = f(1);
 |
M|    /** Doc. */
 |    @Override
 |    public <T> List<T> f(int a) throws E {
 |        if (a > 0) {
 |        }
 |    }
M|    A(int a) {
 |    }
 |}`,
	"a.ts": `
 |import x from "y";
 |
H|// Doc.
 |export default async function f() {
 |  if (x) {
 |  }
 |}
H|export class A {
M|  async f(a: number): Promise<void> {
 |    for (;;) {
 |    }
 |  }
M|  constructor() {
 |  }
 |}
H|const f = () => {};
H|describe("a", () => {
M|  it("works", () => {
 |  });
 |});`,
	"a.sh": `
 |set -e
H|# Doc.
 |build() {
 |  x
 |}
H|function clean {
 |}`,
	"a.rb": `
H|module A
M|  # Doc.
 |  def f
 |  end
 |end`,
	"a.sql": `
H|-- all
 |SELECT *
 |  FROM x;
H|create table y (
 |);`,
	"a.css": `
H|/* Doc. */
 |a,
 |b {
 |  color: red;
 |}
H|@media print {
 |}`,
	"a.yaml": `
H|# Doc.
 |name: x
H|jobs:
 |  build: y`,
	"a.toml": `
 |x = 1
H|# Doc.
 |[a]
 |y = 2`,
	"Makefile": `
 |X = 1
H|# Doc.
 |all: x
 |	echo`,
	"a.hs": `
H|-- | Doc.
 |f :: Int -> Int
 |f x = x
H|data A = B`,
	"a.proto": `
 |syntax = "proto3";
H|// Doc.
 |message M {
 |}`,
	"a.rst": `
H|=====
 |Title
 |=====
 |
 |Text.
 |
H|Part
 |----
 |
 |- item
 |
 |=== ===
 |a   b
 |=== ===`,
	"a.adoc": `
H|= Title
 |
H|[[anchor]]
 |== Part
 |
 |----
 |== code
 |----
H|=== Deeper`,
	"a.org": `
H|* Title
 |- item
 | * item
H|** Part`,
	"a.html": `
 |<body>
H|  <h1>Title</h1>
 |  <p>Text
H|<!-- Doc -->
 |<h2>Part</h2>`,
	"a.tex": `
H|\section{A}
 |text
H|  \subsection*{B}`,
	"a.1": `
H|.TH A 1
 |.B x
H|.SH NAME`,
	"a.md": `
H|# A
 |~~~
 |# no
 |~~~
 |
H|B
 |---`,
}

func TestStructure(t *testing.T) {
	for name, marked := range structures {
		var lines []string
		var want strings.Builder
		for line := range strings.SplitSeq(strings.TrimPrefix(marked, "\n"), "\n") {
			mark, text, _ := strings.Cut(line, "|")
			lines = append(lines, text)
			want.WriteString(mark)
		}
		for _, end := range []string{"", "\r"} {
			var got strings.Builder
			ended := make([]string, len(lines))
			for i, l := range lines {
				ended[i] = l + end
			}
			for _, b := range bordersOf(name, ended) {
				switch b {
				case heading:
					got.WriteByte('H')
				case member:
					got.WriteByte('M')
				default:
					got.WriteByte(' ')
				}
			}
			if got.String() != want.String() {
				t.Errorf("%s, lines end with %q:\n%q, want\n%q", name, end, got.String(), want.String())
			}
		}
	}
}

// Every row of the table is of some text, and no name is in two.
func TestLanguages(t *testing.T) {
	seen := map[string]bool{}
	for _, l := range languages {
		for _, name := range strings.Fields(l.names) {
			if seen[name] {
				t.Errorf("%s is in two rows", name)
			}
			seen[name] = true
			if languageOf("folder/x."+strings.ToUpper(name)) == nil && languageOf("folder/"+name) == nil {
				t.Errorf("%s has no language", name)
			}
		}
	}
	if languageOf("x.txt") != nil || languageOf("go") == nil || languageOf("Dockerfile") == nil {
		t.Error("names")
	}
}

// Marking takes time in proportion to a text, whatever it says.
func TestMarkTime(t *testing.T) {
	for _, line := range []string{"// comment", "/* open", "*/ end", "int x", "[x", "a,", "== x", "----"} {
		text := strings.Repeat(line+"\n", 50_000)
		lines := strings.Split(text, "\n")
		for _, name := range []string{"a.c", "a.go", "a.css", "a.adoc", "a.rst"} {
			timetest.Within(t, 5*time.Second, fmt.Sprintf("%q in %s", line, name), func() { bordersOf(name, lines) })
		}
	}
}
