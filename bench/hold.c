/* A process that a command leaves in its session, for others to find its
 * namespaces by. */
#include <fcntl.h>
#include <unistd.h>

int
main(void)
{
	pid_t pid = fork();
	int null = open("/dev/null", O_RDWR);

	if (pid != 0)
		return pid < 0;
	for (int fd = 0; fd <= 2; fd++) {
		if (null < 0 || dup2(null, fd) < 0)
			close(fd);
	}
	for (;;)
		pause();
}
