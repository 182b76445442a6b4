package cpu
import ("testing";"math/rand/v2";"context";"os";"strconv";"fmt"
"github.com/sinterml/sinter/internal/device"
"github.com/sinterml/sinter/internal/device/interp"
"github.com/sinterml/sinter/internal/ir/irtest")
func TestDbg(t *testing.T){
 seed,_:=strconv.Atoi(os.Getenv("SEED"))
 rng := rand.New(rand.NewPCG(uint64(seed), 11))
 c := irtest.Config{Integers: seed%2 == 0, Smooth: true, Symbolic: seed%3 == 0, MaxElements: 600, MaxNodes: 3 + seed%16}
 if seed%5 == 4 { c.Special = 0.1 }
 g, leaves, env := irtest.Random(rng, c)
 want, bounds, err := interp.Evaluate(context.Background(), g, env, leaves)
 if err!=nil {t.Fatal(err)}
 for _,isa:=range []ISA{AVX512,AVX2,Generic}{
 for _,th:=range []int{1,2}{
 d,_:=New(Options{ISA:isa,Threads:th})
 got,err:=evaluate(d,g,env,leaves,device.Options{Check:true,Trace:func(s,x string){ if isa==Generic&&th==1 {fmt.Println("==",s);fmt.Println(x)}}})
 if err!=nil{t.Log(isa,th,err);continue}
 for i:=range want { t.Log(isa,th,i,compare(g.Outputs[i].DType,got[i],want[i],bounds[i])) }
 }}
}
