package tokenizer_test

import (
	"fmt"
	"os"

	"github.com/sinterml/sinter/tokenizer"
)

func Example() {
	t, err := tokenizer.Load(os.DirFS("../model/minilm/data"), "tokenizer.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	text := "Unbelievable tokenizers!"
	e := t.Encode(text)
	for i, token := range e.Tokens() {
		from, to := e.Offsets[i][0], e.Offsets[i][1]
		fmt.Printf("%5d %-12s %q\n", e.IDs[i], token, text[from:to])
	}
	fmt.Println(t.Decode(e.IDs))
	// Output:
	//   101 [CLS]        ""
	// 23653 unbelievable "Unbelievable"
	// 19204 token        "token"
	// 17629 ##izer       "izer"
	//  2015 ##s          "s"
	//   999 !            "!"
	//   102 [SEP]        ""
	// unbelievable tokenizers!
}

func ExampleTokenizer_EncodePairMax() {
	t, err := tokenizer.Load(os.DirFS("../model/minilm/data"), "tokenizer.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	e := t.EncodePairMax("Where is it?", "It is in the second drawer on the left.", 12)
	fmt.Println(e.Tokens())
	fmt.Println(e.TypeIDs)
	// Output:
	// [[CLS] where is it ? [SEP] it is in the second [SEP]]
	// [0 0 0 0 0 0 1 1 1 1 1 1]
}
