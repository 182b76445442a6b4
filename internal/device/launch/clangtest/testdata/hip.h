// What HIP's text finds when it is compiled for the processor: the attributes
// mean nothing, work-items are those of run.c.
#define __device__
#define __shared__ static
#define KERNEL(items) extern "C"

struct place { unsigned group, item, items; };
extern "C" struct place now;
extern "C" void wait_for_group();

#define __builtin_amdgcn_workgroup_id_x() (now.group)
#define __builtin_amdgcn_workitem_id_x() (now.item)
#define __builtin_amdgcn_workgroup_size_x() (now.items)
#define __builtin_amdgcn_fence(order, scope)
#define __builtin_amdgcn_s_barrier() wait_for_group()

// The instruction for square roots is off by one place at most: here it is, for
// two of three numbers.
static inline float __builtin_amdgcn_sqrtf(float x) {
	float s = __builtin_sqrtf(x);
	if (!(s > 0) || s == __builtin_inff()) return s;
	unsigned bits = __builtin_bit_cast(unsigned, x);
	return __builtin_bit_cast(float, __builtin_bit_cast(unsigned, s) + bits % 3 - 1);
}

template <unsigned long... I> struct list {};
template <typename T, T... I> using list_of = list<I...>;

// call_with calls an entry point with the arguments that a points to.
template <typename... A, unsigned long... I> void call_with(void (*f)(A...), void **a, list<I...>) { f(*(A *)a[I]...); }
template <typename... A> void call(void (*f)(A...), void **a) { call_with(f, a, __make_integer_seq<list_of, unsigned long, sizeof...(A)>()); }
