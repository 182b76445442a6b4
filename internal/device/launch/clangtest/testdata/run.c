// Work-groups on the processor, one after another. The work-items of a group are
// coroutines: each runs up to a barrier, then it is the next one's turn.
#include <math.h>
#include <stdlib.h>
#include <ucontext.h>

enum { stack = 256 << 10, most = 1024 };

struct place { unsigned group, item, items; } now;

static ucontext_t turns, work[most];
static unsigned char done[most];
static void (*entry)(void **);
static void **arguments;
static unsigned thread_at, group_at, item_at;

static void start(void) {
	entry(arguments);
	done[now.item] = 1;
}

void wait_for_group(void) {
	if (now.items > 1) swapcontext(&work[now.item], &turns);
}

static void go_to(unsigned group, unsigned item) {
	now.group = group_at = group;
	now.item = item_at = item;
	thread_at = group * now.items + item;
}

// run_groups runs an entry point. Its arguments are followed by room for three:
// where the work-item is among all, its group, and its place in it. Without
// barriers work-items run one after another. It returns 0, or 1 where there is
// no memory, 2 where not all work-items came to a barrier.
int run_groups(void (*f)(void **), void **args, long n, unsigned groups, unsigned items, int barriers) {
	entry = f, arguments = args, now.items = items;
	args[n] = &thread_at, args[n + 1] = &group_at, args[n + 2] = &item_at;
	if (!barriers || items == 1) {
		for (unsigned g = 0; g < groups; g++)
			for (unsigned i = 0; i < items; i++) {
				go_to(g, i);
				f(args);
			}
		return 0;
	}
	char *stacks = items <= most ? malloc((size_t)items * stack) : 0;
	if (!stacks) return 1;
	int wrong = 0;
	for (unsigned g = 0; g < groups && !wrong; g++) {
		for (unsigned i = 0; i < items; i++) {
			getcontext(&work[i]);
			work[i].uc_stack.ss_sp = stacks + (size_t)i * stack;
			work[i].uc_stack.ss_size = stack;
			work[i].uc_link = &turns;
			makecontext(&work[i], start, 0);
			done[i] = 0;
		}
		for (unsigned ended = 0; ended == 0 && !wrong;) {
			for (unsigned i = 0; i < items; i++) {
				go_to(g, i);
				swapcontext(&turns, &work[i]);
				ended += done[i];
			}
			wrong = ended != 0 && ended != items ? 2 : 0;
		}
	}
	free(stacks);
	return wrong;
}

// The functions of AMD's device library.
double __ocml_sqrt_f64(double x) { return sqrt(x); }
