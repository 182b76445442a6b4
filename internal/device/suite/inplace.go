package suite

// InPlace has graphs that assign variables, and which of these may be written
// where they lie.
var InPlace = []struct {
	Name, Graph string
	Want        []bool // by output
}{
	{"added to", `
leaf 0 variable "v" f32[300 7]
%0 = variable : f32[300 7]
%1 = mul %0 %0 : f32[300 7]
%2 = assign %0 %1 : f32[300 7]
return %2`, []bool{true}},
	{"backwards", `
leaf 0 variable "v" f32[300 7]
%0 = variable : f32[300 7]
%1 = flip %0 axes=[0] : f32[300 7]
%2 = add %0 %1 : f32[300 7]
%3 = assign %0 %2 : f32[300 7]
return %3`, []bool{false}},
	{"turned", `
leaf 0 variable "v" f32[64 64]
%0 = variable : f32[64 64]
%1 = permute %0 axes=[1 0] : f32[64 64]
%2 = assign %0 %1 : f32[64 64]
return %2`, []bool{false}},
	{"less its sum", `
leaf 0 variable "v" f32[4096]
%0 = variable : f32[4096]
%1 = sum %0 axes=[0] : f32[1]
%2 = expand %1 : f32[4096]
%3 = sub %0 %2 : f32[4096]
%4 = assign %0 %3 : f32[4096]
return %4`, []bool{false}},
	{"less the sum of each row", `
leaf 0 variable "v" f32[64 64]
%0 = variable : f32[64 64]
%1 = sum %0 axes=[1] : f32[64 1]
%2 = expand %1 : f32[64 64]
%3 = sub %0 %2 : f32[64 64]
%4 = assign %0 %3 : f32[64 64]
return %4`, []bool{false}},
	{"less the sums of rows, which are multiplied by it", `
leaf 0 variable "v" f32[30 1]
leaf 1 input "x" f32[30 200]
%0 = variable : f32[30 1]
%1 = input leaf=1 : f32[30 200]
%2 = sum %1 axes=[1] : f32[30 1]
%3 = sub %0 %2 : f32[30 1]
%4 = expand %3 : f32[30 200]
%5 = mul %1 %4 : f32[30 200]
%6 = assign %0 %3 : f32[30 1]
return %6 %5`, []bool{true, false}}, // all work-items need the old value, and one writes the new
	{"read elsewhere", `
leaf 0 variable "v" f32[40 40]
%0 = variable : f32[40 40]
%1 = mul %0 %0 : f32[40 40]
%2 = assign %0 %1 : f32[40 40]
%3 = matmul %0 %0 : f32[40 40]
return %2 %3`, []bool{true, false}},
	{"exchanged", `
leaf 0 variable "v" f32[5000]
leaf 1 variable "w" f32[5000]
%0 = variable : f32[5000]
%1 = variable leaf=1 : f32[5000]
%2 = assign %0 %1 : f32[5000]
%3 = assign %1 %0 leaf=1 : f32[5000]
return %2 %3`, []bool{true, false}},
	{"round about", `
leaf 0 variable "u" f32[5000]
leaf 1 variable "v" f32[5000]
leaf 2 variable "w" f32[5000]
%0 = variable : f32[5000]
%1 = variable leaf=1 : f32[5000]
%2 = variable leaf=2 : f32[5000]
%3 = add %0 %1 : f32[5000]
%4 = mul %1 %2 : f32[5000]
%5 = assign %0 %3 : f32[5000]
%6 = assign %1 %4 leaf=1 : f32[5000]
%7 = mul %4 %2 : f32[5000]
%8 = assign %2 %7 leaf=2 : f32[5000]
return %8 %6 %5`, []bool{true, false, true}}, // two need the old values of one another
	{"by an index that may be wrong", `
leaf 0 variable "v" f32[30 4]
leaf 1 input "i" i32[30 4]
%0 = variable : f32[30 4]
%1 = input leaf=1 : i32[30 4]
%2 = gather %0 %1 axes=[0] : f32[30 4]
%3 = assign %0 %2 : f32[30 4]
return %3`, []bool{false}},
	{"less a product, after an index that may be wrong", `
leaf 0 variable "v" f32[30 40]
leaf 1 input "i" i32[30 40]
leaf 2 input "w" f32[40 40]
%0 = variable : f32[30 40]
%1 = input leaf=1 : i32[30 40]
%2 = input leaf=2 : f32[40 40]
%3 = gather %0 %1 axes=[0] : f32[30 40]
%4 = contiguous %3 : f32[30 40]
%5 = matmul %4 %2 : f32[30 40]
%6 = sub %0 %5 : f32[30 40]
%7 = assign %0 %6 : f32[30 40]
return %7`, []bool{true}},
	{"less a long product", `
leaf 0 variable "v" f32[37 71]
leaf 1 input "x" f32[37 1100]
leaf 2 input "y" f32[1100 71]
%0 = variable : f32[37 71]
%1 = input leaf=1 : f32[37 1100]
%2 = input leaf=2 : f32[1100 71]
%3 = matmul %1 %2 : f32[37 71]
%4 = sub %0 %3 : f32[37 71]
%5 = assign %0 %4 : f32[37 71]
return %5`, []bool{true}},
	{"less a product of many rows and columns", `
leaf 0 variable "v" f32[65 100]
leaf 1 input "x" f32[65 160]
leaf 2 input "y" f32[160 100]
%0 = variable : f32[65 100]
%1 = input leaf=1 : f32[65 160]
%2 = input leaf=2 : f32[160 100]
%3 = matmul %1 %2 : f32[65 100]
%4 = sub %0 %3 : f32[65 100]
%5 = assign %0 %4 : f32[65 100]
return %5`, []bool{true}},
	{"less products of halves, whose columns lie side by side", `
leaf 0 variable "m" bf16[70 132]
leaf 1 variable "v" f32[70 132]
leaf 2 input "x" bf16[70 16]
leaf 3 input "y" bf16[16 132]
%0 = variable : bf16[70 132]
%1 = variable leaf=1 : f32[70 132]
%2 = input leaf=2 : bf16[70 16]
%3 = input leaf=3 : bf16[16 132]
%4 = cast %2 : f32[70 16]
%5 = cast %3 : f32[16 132]
%6 = matmul %4 %5 : f32[70 132]
%7 = sub %1 %6 : f32[70 132]
%8 = flip %4 axes=[0] : f32[70 16]
%9 = matmul %8 %5 : f32[70 132]
%10 = cast %0 : f32[70 132]
%11 = sub %10 %9 : f32[70 132]
%12 = cast %11 : bf16[70 132]
%13 = assign %0 %12 : bf16[70 132]
%14 = assign %1 %7 leaf=1 : f32[70 132]
return %13 %14`, []bool{true, true}},
	{"less a product of a row", `
leaf 0 variable "v" f32[1 71]
leaf 1 input "x" f32[1 1100]
leaf 2 input "y" f32[1100 71]
%0 = variable : f32[1 71]
%1 = input leaf=1 : f32[1 1100]
%2 = input leaf=2 : f32[1100 71]
%3 = matmul %1 %2 : f32[1 71]
%4 = sub %0 %3 : f32[1 71]
%5 = assign %0 %4 : f32[1 71]
return %5`, []bool{true}},
	{"two that a step changes together", `
leaf 0 variable "m" bf16[331 7]
leaf 1 variable "v" f32[331 7]
leaf 2 input "g" f32[331 7]
%0 = variable : bf16[331 7]
%1 = variable leaf=1 : f32[331 7]
%2 = input leaf=2 : f32[331 7]
%3 = cast %0 : f32[331 7]
%4 = add %3 %2 : f32[331 7]
%5 = cast %4 : bf16[331 7]
%6 = sub %1 %4 : f32[331 7]
%7 = assign %0 %5 : bf16[331 7]
%8 = assign %1 %6 leaf=1 : f32[331 7]
return %7 %8`, []bool{true, true}},
	{"less a product of its own", `
leaf 0 variable "v" f32[40 40]
leaf 1 input "w" f32[40 40]
%0 = variable : f32[40 40]
%1 = input leaf=1 : f32[40 40]
%2 = matmul %0 %1 : f32[40 40]
%3 = sub %0 %2 : f32[40 40]
%4 = assign %0 %3 : f32[40 40]
return %4`, []bool{false}},
	{"sums of rows, and rows without both", `
leaf 0 input "x" f32[70 112]
leaf 1 variable "v" f32[70 1]
%0 = input : f32[70 112]
%1 = variable leaf=1 : f32[70 1]
%2 = sum %0 axes=[1] : f32[70 1]
%3 = add %1 %2 : f32[70 1]
%4 = expand %3 : f32[70 112]
%5 = sub %0 %4 : f32[70 112]
%6 = assign %1 %2 leaf=1 : f32[70 1]
return %5 %6`, []bool{false, true}},
	{"rows that a second pass reads again", `
leaf 0 variable "v" f32[70 112]
%0 = variable : f32[70 112]
%1 = sum %0 axes=[1] : f32[70 1]
%2 = expand %1 : f32[70 112]
%3 = div %0 %2 : f32[70 112]
%4 = assign %0 %3 : f32[70 112]
return %4`, []bool{false}},
}
