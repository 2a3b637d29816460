/*
 * System calls without libc, for processes that share the caller's memory
 * (CLONE_VM): libc's wrappers write errno, which is the calling thread's.
 * Each returns what the kernel returns, which is -errno on failure.
 */
#ifndef SBX_RAW_H
#define SBX_RAW_H

#include <stdint.h>

#define RAW __attribute__((always_inline)) static inline

#if defined(__x86_64__)

RAW long
raw6(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10),
			 "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

#elif defined(__aarch64__)

RAW long
raw6(long number, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
}

#else
#error "libsbx is for x86_64 and aarch64"
#endif

RAW long
raw1(long number, long a)
{
	return raw6(number, a, 0, 0, 0, 0, 0);
}

RAW long
raw3(long number, long a, long b, long c)
{
	return raw6(number, a, b, c, 0, 0, 0);
}

/* prctl(2) wants zeros in what it does not use. */
RAW long
raw5(long number, long a, long b, long c, long d, long e)
{
	return raw6(number, a, b, c, d, e, 0);
}

/*
 * clone(2) or clone3(2), by their numbers and arguments, for a child with a
 * stack of its own: it calls function(argument), which does not return, and
 * never touches the frame that it was made in.
 */
#if defined(__x86_64__)

RAW long
raw_clone(const long call[6], void (*function)(void *), void *argument)
{
	/* cppcheck-suppress constStatement ; it knows no registers */
	register long r10 __asm__("r10") = call[4];
	/* cppcheck-suppress constStatement ; it knows no registers */
	register long r8 __asm__("r8") = call[5];
	register void (*r12)(void *) __asm__("r12") = function;
	register void *r13 __asm__("r13") = argument;
	long result;

	__asm__ volatile("syscall\n\t"
			 "test %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "xor %%ebp, %%ebp\n\t"
			 "and $-16, %%rsp\n\t"
			 "mov %%r13, %%rdi\n\t"
			 "call *%%r12\n\t"
			 "ud2\n"
			 "1:"
			 : "=a"(result)
			 : "a"(call[0]), "D"(call[1]), "S"(call[2]),
			 "d"(call[3]), "r"(r10), "r"(r8), "r"(r12), "r"(r13)
			 : "rcx", "r11", "memory");
	return result;
}

#elif defined(__aarch64__)

RAW long
raw_clone(const long call[6], void (*function)(void *), void *argument)
{
	register long x8 __asm__("x8") = call[0];
	register long x0 __asm__("x0") = call[1];
	register long x1 __asm__("x1") = call[2];
	register long x2 __asm__("x2") = call[3];
	register long x3 __asm__("x3") = call[4];
	register long x4 __asm__("x4") = call[5];
	register void (*x19)(void *) __asm__("x19") = function;
	register void *x20 __asm__("x20") = argument;

	__asm__ volatile("svc 0\n\t"
			 "cbnz x0, 1f\n\t"
			 "mov x29, xzr\n\t"
			 "mov x0, x20\n\t"
			 "blr x19\n\t"
			 "brk 0\n"
			 "1:"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4),
			 "r"(x19), "r"(x20)
			 : "x30", "memory");
	return x0;
}

#endif

#endif
