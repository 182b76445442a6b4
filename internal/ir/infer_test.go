package ir

import (
	"strings"
	"testing"
)

// operands are what the lines of the tables below may use.
const operands = `graph
symbol N 1 64
symbol Z 0 8
symbol H 1 5000000000000
leaf 0 input "f" f32[2 3]
leaf 1 input "g" f32[2 4]
leaf 2 input "i" i32[2 3]
leaf 3 input "b" bool[2 3]
leaf 4 input "s" f32[N 3]
leaf 5 input "z" f32[Z 3]
leaf 6 input "h" f16[2 3]
leaf 7 input "o" i32[5]
leaf 8 input "x" f32[2 4 9 8]
leaf 9 input "r" f32[N 4 8]
leaf 10 input "e" f32[0 3]
leaf 11 variable "v" f32[2 3]
leaf 12 input "k" u32[4]
leaf 13 input "j" i64[2 7]
leaf 14 input "p" f32[H H]
%f = input leaf=0 : f32[2 3]
%g = input leaf=1 : f32[2 4]
%i = input leaf=2 : i32[2 3]
%b = input leaf=3 : bool[2 3]
%s = input leaf=4 : f32[N 3]
%z = input leaf=5 : f32[Z 3]
%h = input leaf=6 : f16[2 3]
%o = input leaf=7 : i32[5]
%x = input leaf=8 : f32[2 4 9 8]
%r = input leaf=9 : f32[N 4 8]
%e = input leaf=10 : f32[0 3]
%v = variable leaf=11 : f32[2 3]
%k = input leaf=12 : u32[4]
%j = input leaf=13 : i64[2 7]
`

func TestInferAccepts(t *testing.T) {
	lines := []string{
		"iota axes=[1] : i64[N 4]",
		"rand %k leaf=3 : u32[N 2]",
		"const value=0xff : u8[]",
		"neg %f : f32[2 3]",
		"cast %f : bf16[2 3]",
		"bitcast %f : i32[2 3]",
		"add %f %f : f32[2 3]",
		"xor %b %b : bool[2 3]",
		"less %h %h : bool[2 3]",
		"where %b %i %i : i32[2 3]",
		"fma %f %f %f : f32[2 3]",
		"sum %s axes=[0] : f32[1 3]",
		"sum %s axes=[0 1] : f32[1 1]",
		"sum %e axes=[0] : f32[1 3]",
		"reducemax %z axes=[0] : f32[1 3]",
		"argmax %s axes=[0] : i64[1 3]",
		"reshape %s : f32[3 N 1]",
		"reshape %r : f32[4*N 8]",
		"permute %r axes=[2 0 1] : f32[8 N 4]",
		"pad %s before=[N 0] after=[1 2] value=0x3f800000 : f32[2*N+1 5]",
		"slice %s starts=[0 1] steps=[1 1] : f32[N 2]",
		"slice %s starts=[0 0] steps=[1 2] : f32[1 2]",
		"slice %f starts=[0 9] steps=[1 1] : f32[2 0]",
		"flip %f axes=[0 1] : f32[2 3]",
		"window %x axes=[2] size=3 stride=2 dilation=2 : f32[2 4 3 8 3]",
		"window %s axes=[0] size=1 stride=1 dilation=1 : f32[N 3 1]",
		"concat %f %g axes=[1] : f32[2 7]",
		"concat %s %f axes=[0] : f32[N+2 3]",
		"gather %f %j axes=[1] : f32[2 7]",
		"conv %x %x strides=[1 1] dilations=[1 1] padbefore=[0 0] padafter=[0 0] groups=1 : f32[2 2 1 1]",
		"attention %r %r %r %o %o scale=0.5 causal ragged : f32[N 4 8], f32[N 4]",
		"attention %x %x %x scale=0.5 softcap=3 window=4 : f32[2 4 9 8], f32[2 4 9]",
		"sort %s axes=[0] descending : f32[N 3], i64[N 3]",
		"scan %s axes=[0] mode=\"prod\" : f32[N 3]",
		"segmentids %o : i32[N]",
		"segmentreduce %s %o mode=\"max\" : f32[4 3]",
		"assign %v %f leaf=11 : f32[2 3]",
	}
	for _, line := range lines {
		ret := "return %1\n"
		if strings.Contains(line, "], ") {
			typ, _, _ := strings.Cut(line[strings.LastIndex(line, " : ")+3:], ", ")
			ret = "%2 = get %1 : " + typ + "\nreturn %2\n"
		}
		g, err := Parse(operands + "%1 = " + line + "\n" + ret)
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if err := Check(g); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		if again, err := Parse(g.String()); err != nil || again.String() != g.String() {
			t.Errorf("%s: read back %v, %v", line, again, err)
		}
	}
}

func TestInferRefuses(t *testing.T) {
	tests := []struct{ line, want string }{
		{"const : f32[1]", "gives f32[]"},
		{"input leaf=14 : f32[H H]", "the limit is"},
		{"const value=0x100 : u8[]", "no value of type u8"},
		{"const value=0x2 : bool[]", "no value of type bool"},
		{"iota axes=[2] : i64[2 2]", "axis 2 is outside rank 2"},
		{"iota : i64[2 2]", "outside rank"},
		{"iota axes=[0] : bool[2]", "takes numbers"},
		{"rand %i : u32[2]", "the key is u32[4]"},
		{"input leaf=99 : f32[2]", "no leaf 99"},
		{"input leaf=-1 : f32[2]", "no leaf -1"},
		{"input leaf=1 : f32[2 3]", "does not fit leaf 1"},
		{"bound leaf=1 : f32[2 4]", "does not fit leaf 1"},

		{"neg %b : bool[2 3]", "takes numbers"},
		{"neg : f32[2]", "takes 1 operands"},
		{"add %f : f32[2 3]", "takes 2 operands"},
		{"exp %i : i32[2 3]", "takes floats"},
		{"idiv %f %f : f32[2 3]", "takes integers"},
		{"and %f %f : f32[2 3]", "takes integers or bool"},
		{"add %f %g : f32[2 3]", "differ"},
		{"add %f %i : f32[2 3]", "use Cast"},
		{"add %f %s : f32[2 3]", "differ"},
		{"where %f %f %f : f32[2 3]", "condition is bool"},
		{"where %b %f %i : f32[2 3]", "use Cast"},
		{"bitcast %f : f64[2 3]", "differ in size"},
		{"bitcast %b : u8[2 3]", ""},
		{"bitcast %i : bool[2 3]", "use Cast"},

		{"sum %f axes=[1 0] : f32[1 1]", "not sorted"},
		{"sum %f axes=[0 0] : f32[1 3]", "not sorted"},
		{"sum %f axes=[2] : f32[2 3]", "outside rank"},
		{"sum %b axes=[0] : bool[1 3]", "takes numbers"},
		{"reducemax %e axes=[0] : f32[1 3]", "has no value"},
		{"argmin %f axes=[0 1] : i64[1 1]", "takes one axis"},

		{"reshape %f : f32[5]", "elements"},
		{"reshape %s : f32[N N]", "elements"},
		{"reshape %f : f32[-2 -3]", "negative"},
		{"permute %f axes=[0] : f32[2 3]", "does not fit rank"},
		{"permute %f axes=[0 0] : f32[2 2]", "comes twice"},
		{"permute %f axes=[0 2] : f32[2 3]", "outside rank"},
		{"expand %f : f32[2 3 1]", "ranks differ"},
		{"expand %f : f32[4 3]", "is not 1"},
		{"pad %f before=[0] after=[0 0] : f32[2 3]", "does not fit rank"},
		{"pad %f before=[0 -1] after=[0 0] : f32[2 2]", "use Slice"},
		{"pad %h before=[0 0] after=[0 0] value=0x10000 : f16[2 3]", "no value"},
		{"slice %f starts=[0 0] steps=[1 0] : f32[2 3]", "use Flip"},
		{"slice %f starts=[0 -1] steps=[1 1] : f32[2 3]", "may be negative"},
		{"slice %f starts=[0 1] steps=[1 1] : f32[2 3]", "may reach index 3"},
		{"slice %f starts=[0 0] steps=[1 9223372036854775807] : f32[2 3]", "may reach"},
		{"slice %s starts=[1 0] steps=[1 1] : f32[N 3]", "may reach"},
		{"slice %s starts=[0] steps=[1 1] : f32[N 3]", "does not fit rank"},
		{"flip %f axes=[0 0] : f32[2 3]", "not sorted"},
		{"flip %f axes=[5] : f32[2 3]", "outside rank"},
		{"window %f axes=[1] size=4 stride=1 dilation=1 : f32[2 1 4]", "does not fit"},
		{"window %f axes=[1] size=2 stride=1 : f32[2 1 2]", "at least 1"},
		{"window %f axes=[1] size=9000000000000000000 stride=1 dilation=9 : f32[2 1 2]", "is above"},
		{"window %s axes=[0] size=1 stride=2 dilation=1 : f32[N 3 1]", "not supported"},
		{"concat axes=[0] : f32[0]", "nothing to put together"},
		{"concat %f %g axes=[0] : f32[4 3]", "differ at axis 1"},
		{"concat %f %i axes=[0] : f32[4 3]", "use Cast"},
		{"concat %f %r axes=[0] : f32[7 3]", "differ in rank"},

		{"gather %f %h axes=[1] : f32[2 3]", "index is i32 or i64"},
		{"gather %f %o axes=[0] : f32[5]", "differ in rank"},
		{"gather %g %j axes=[0] : f32[2 7]", "differ at axis 1"},
		{"scatter %f %j %f axes=[1] mode=\"add\" : f32[2 3]", "updates"},
		{"scatter %f %i %f axes=[1] mode=\"min\" : f32[2 3]", "unknown mode"},
		{"scatter %b %i %b axes=[1] mode=\"add\" : bool[2 3]", "adds numbers"},

		{"matmul %f %f : f32[2 3]", "inner sizes"},
		{"matmul %f %x : f32[2 3]", "ranks"},
		{"matmul %o %o : i32[5]", "at least 2"},
		{"matmul %b %b : bool[2 2]", "takes numbers"},
		{"conv %x %f strides=[1 1] dilations=[1 1] padbefore=[0 0] padafter=[0 0] groups=1 : f32[2 2 1 1]", "want [N, C"},
		{"conv %x %x strides=[1] dilations=[1 1] padbefore=[0 0] padafter=[0 0] groups=1 : f32[2 2 1 1]", "does not fit 2 spatial"},
		{"conv %x %x strides=[1 1] dilations=[1 1] padbefore=[0 0] padafter=[0 0] groups=2 : f32[2 2 1 1]", "channels"},
		{"conv %x %x strides=[1 1] dilations=[1 1] padbefore=[0 0] padafter=[0 0] : f32[2 2 1 1]", "channels"},
		{"conv %x %x strides=[1 1] dilations=[1 1] padbefore=[-1 0] padafter=[0 0] groups=1 : f32[2 2 1 1]", "padding"},
		{"conv %x %x strides=[0 1] dilations=[1 1] padbefore=[0 0] padafter=[0 0] groups=1 : f32[2 2 1 1]", "at least 1"},
		{"conv %x %x strides=[1 1] dilations=[1 1] padbefore=[0 0] padafter=[9223372036854775807 0] groups=1 : f32[2 2 1 1]", "padding"},
		{"attention %x %x %x : f32[2 4 9 8], f32[2 4 9]", "scale 0"},
		{"attention %x %x %x scale=NaN : f32[2 4 9 8], f32[2 4 9]", "scale NaN"},
		{"attention %x %x %x scale=1 softcap=-1 : f32[2 4 9 8], f32[2 4 9]", "soft cap"},
		{"attention %x %x scale=1 : f32[2 4 9 8], f32[2 4 9]", "takes 3 operands"},
		{"attention %x %x %x scale=1 mask : f32[2 4 9 8], f32[2 4 9]", "takes 4 operands"},
		{"attention %x %x %x %x scale=1 mask : f32[2 4 9 8], f32[2 4 9]", "does not broadcast"},
		{"attention %r %r %r scale=1 : f32[N 4 8], f32[N 4]", "want rank 4"},
		{"attention %r %r %r %o %i scale=1 ragged : f32[N 4 8], f32[N 4]", "offsets are i32 of rank 1"},
		{"attention %i %i %i scale=1 : i32[2 3], f32[2]", "takes floats"},
		{"sort %f axes=[2] : f32[2 3], i64[2 3]", "outside rank"},
		{"scan %f axes=[0] mode=\"min\" : f32[2 3]", "unknown mode"},
		{"segmentids %f : i32[N]", "takes integers"},
		{"segmentids %o : i32[N 2]", "number of rows"},
		{"segmentreduce %f %i mode=\"sum\" : f32[2 3]", "offsets are"},
		{"segmentreduce %b %o mode=\"max\" : bool[4 3]", "takes numbers"},
		{"segmentreduce %f %o : f32[4 3]", "unknown mode"},

		{"get %f : f32[2 3]", "has one output"},
		{"assign %v %g leaf=11 : f32[2 3]", "the new value"},
		{"assign %f %f leaf=11 : f32[2 3]", "not the variable of leaf 11"},
		{"assign %v %f : f32[2 3]", "not the variable of leaf 0"},
	}
	for _, tt := range tests {
		g, err := Parse(operands + "%1 = " + tt.line + "\nreturn %1\n")
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v (%v), want %q", tt.line, err, g, tt.want)
		}
	}
}

// A node with several outputs is read by Get, and Get reads nothing else.
func TestSeveralOutputs(t *testing.T) {
	text := operands + "%1 = sort %f axes=[0] : f32[2 3], i64[2 3]\n"
	for line, want := range map[string]string{
		"%2 = neg %1 : f32[2 3]":        "select one by Get",
		"%2 = get %1 out=2 : f32[2 3]":  "no output 2",
		"%2 = get %1 out=-1 : f32[2 3]": "no output -1",
		"%2 = get %1 out=1 : f32[2 3]":  "gives i64[2 3]",
		"%2 = get %1 out=1 : i64[2 3]":  "",
	} {
		_, err := Parse(text + line + "\nreturn %2\n")
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
	g, err := Parse(text + "return %1\n")
	if err != nil {
		t.Fatal(err)
	}
	if err := Check(g); err == nil || !strings.Contains(err.Error(), "several outputs") {
		t.Errorf("a sort as an output: %v", err)
	}
}

// Leaves other than inputs have static shapes.
func TestSymbolicLeaves(t *testing.T) {
	for _, kind := range []string{"bound", "weight", "variable"} {
		_, err := Parse("graph\nsymbol N 1 4\nleaf 0 " + kind + " \"x\" f32[N]\n%0 = " + kind + " : f32[N]\nreturn %0\n")
		if err == nil || !strings.Contains(err.Error(), "only an Input") {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// Every operation has a name that reads back, a class, a meaning, and operands
// that fit its class.
func TestOpTable(t *testing.T) {
	for _, op := range Ops() {
		info := op.info()
		if info.name == "" || info.class == NoClass || info.meaning == "" {
			t.Errorf("operation %d has no name, class or meaning: %+v", op, *info)
		}
		if ParseOp(op.String()) != op {
			t.Errorf("%v reads back as %v", op, ParseOp(op.String()))
		}
		want := map[Class]int{ClassUnary: 1, ClassBinary: 2, ClassTernary: 3, ClassReduce: 1}
		if n, ok := want[info.class]; ok && info.arity != n {
			t.Errorf("%v takes %d operands", op, info.arity)
		}
		if info.commute && info.arity != 2 {
			t.Errorf("%v commutes with %d operands", op, info.arity)
		}
	}
	if ParseOp("") != NoOp || ParseOp("none") != NoOp || Op(255).String() != "" {
		t.Error("what is no operation has a name")
	}
}
