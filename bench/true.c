/* The least program that the kernel can start and that ends well. */
void _start(void);

__attribute__((noreturn)) void
_start(void)
{
#if defined __x86_64__
	__asm__ volatile("syscall" : : "a"(231L), "D"(0L) : "rcx", "r11");
#elif defined __aarch64__
	register long number __asm__("x8") = 94;
	register long status __asm__("x0") = 0;

	__asm__ volatile("svc 0" : : "r"(number), "r"(status));
#else
#error "no system call for this machine"
#endif
	__builtin_unreachable();
}
