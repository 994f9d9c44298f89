/* Tries one thing and says what the kernel answered: "ok" and 0, or "errno N" and 1.
 * The tests run it with and without a sandbox. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static int say(long result) {
    if (result < 0) {
        printf("errno %d\n", errno);
        return 1;
    }
    printf("ok\n");
    return 0;
}

/* s:TEXT is a pointer to the text, f:PATH a descriptor open for reading, anything else a number. */
static long argument(const char *text) {
    if (text[0] == 's' && text[1] == ':') return (long)strdup(text + 2);
    if (text[0] == 'f' && text[1] == ':') return open(text + 2, O_RDONLY);
    return (long)strtoull(text, NULL, 0);
}

static int raw(int argc, char **argv) {
    long a[7] = {0};
    for (int i = 0; i < 7 && i < argc; i++) a[i] = argument(argv[i]);
    return say(syscall(a[0], a[1], a[2], a[3], a[4], a[5], a[6]));
}

static int inet4(const char *port, int type) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(atoi(port)), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, type, 0);
    if (fd < 0) return say(fd);
    if (type == SOCK_DGRAM) return say(sendto(fd, "x", 1, 0, (struct sockaddr *)&to, sizeof to));
    return say(connect(fd, (struct sockaddr *)&to, sizeof to));
}

static int inet6(const char *port) {
    struct sockaddr_in6 to = {.sin6_family = AF_INET6, .sin6_port = htons(atoi(port))};
    inet_pton(AF_INET6, "::ffff:127.0.0.1", &to.sin6_addr);
    int fd = socket(AF_INET6, SOCK_STREAM, 0);
    if (fd < 0) return say(fd);
    return say(connect(fd, (struct sockaddr *)&to, sizeof to));
}

static int local(const char *path, int type, int pair) {
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    strncpy(to.sun_path, path, sizeof to.sun_path - 1);
    socklen_t len = sizeof to;
    if (path[0] == '@') {
        to.sun_path[0] = 0;
        len = offsetof(struct sockaddr_un, sun_path) + strlen(path);
    }
    int fds[2];
    if (pair) {
        if (socketpair(AF_UNIX, type, 0, fds) < 0) return say(-1);
    } else if ((fds[0] = socket(AF_UNIX, type, 0)) < 0) {
        return say(-1);
    }
    if (type == SOCK_DGRAM) return say(sendto(fds[0], "x", 1, 0, (struct sockaddr *)&to, len));
    return say(connect(fds[0], (struct sockaddr *)&to, len));
}

static int fill(char *memory, size_t size) {
    for (size_t at = 0; at < size; at += 4096) memory[at] = 1;
    return 0;
}

static int memory(const char *kind, size_t size) {
    if (!strcmp(kind, "private")) return fill(mmap(0, size, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), size);
    if (!strcmp(kind, "shared")) return fill(mmap(0, size, 3, MAP_SHARED | MAP_ANONYMOUS, -1, 0), size);
    if (!strcmp(kind, "children")) {
        for (int i = 0; i < 10; i++)
            if (fork() == 0) {
                fill(mmap(0, size / 10, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), size / 10);
                sleep(20);
                _exit(0);
            }
    } else if (!strcmp(kind, "forked")) {
        /* One copy that many share: it is not many copies. */
        char *shared = mmap(0, size, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        fill(shared, size);
        for (int i = 0; i < 8; i++)
            if (fork() == 0) {
                usleep(300000);
                _exit(0);
            }
        while (wait(NULL) > 0) {}
        return 0;
    }
    sleep(20);
    return 0;
}

static int descriptors(void) {
    for (int fd = 0; fd < 1024; fd++)
        if (fcntl(fd, F_GETFD) >= 0) printf("%d ", fd);
    printf("\n");
    return 0;
}

static int daemonize(const char *file) {
    if (fork() == 0) {
        setsid();
        if (fork() == 0) {
            for (int fd = 0; fd < 3; fd++) close(fd);
            for (int i = 0; i < 40; i++) {
                int fd = open(file, O_WRONLY | O_CREAT | O_APPEND, 0600);
                if (write(fd, "x", 1) < 0) _exit(1);
                close(fd);
                usleep(50000);
            }
        }
        _exit(0);
    }
    usleep(150000);
    return 0;
}

static int bomb(void) {
    int made = 0;
    for (int i = 0; i < 3000; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            pause();
            _exit(0);
        }
        if (pid > 0) made++;
    }
    printf("%d\n", made);
    fflush(stdout);
    sleep(20);
    return 0;
}

static int orphans(int count) {
    for (int i = 0; i < count; i++) {
        if (fork() == 0) {
            if (fork() == 0) _exit(0);
            _exit(0);
        }
        wait(NULL);
    }
    printf("done\n");
    return 0;
}

static int foreign(const char *kind) {
#ifdef __x86_64__
    long result = 0;
    if (!strcmp(kind, "i386")) {
        __asm__ volatile("int $0x80" : "=a"(result) : "a"(20) : "memory"); /* getpid */
    } else {
        result = syscall(0x40000000 | SYS_getpid);
    }
    printf("returned %ld\n", result);
#endif
    return 0;
}

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    const char *what = argv[1];
    const char *first = argc > 2 ? argv[2] : "";
    if (!strcmp(what, "sys")) return raw(argc - 2, argv + 2);
    if (!strcmp(what, "read")) {
        int fd = open(first, O_RDONLY);
        char buffer[64] = {0};
        long got = fd < 0 ? -1 : read(fd, buffer, sizeof buffer - 1);
        if (got > 0) printf("%s\n", buffer);
        return say(got);
    }
    if (!strcmp(what, "write")) return say(open(first, O_WRONLY));
    if (!strcmp(what, "create-at")) {
        /* openat2 has its mode behind a pointer. */
        unsigned long long how[3] = {O_WRONLY | O_CREAT, 06755, 0};
        return say(syscall(437, AT_FDCWD, first, how, sizeof how));
    }
    if (!strcmp(what, "create")) return say(open(first, O_WRONLY | O_CREAT, 0644));
    if (!strcmp(what, "tcp")) return inet4(first, SOCK_STREAM);
    if (!strcmp(what, "udp")) return inet4(first, SOCK_DGRAM);
    if (!strcmp(what, "tcp6")) return inet6(first);
    if (!strcmp(what, "unix")) return local(first, SOCK_STREAM, 0);
    if (!strcmp(what, "unix-dgram")) return local(first, SOCK_DGRAM, 0);
    if (!strcmp(what, "unix-pair")) return local(first, SOCK_DGRAM, 1);
    if (!strcmp(what, "memory")) return memory(first, (size_t)atol(argv[3]) << 20);
    if (!strcmp(what, "descriptors")) return descriptors();
    if (!strcmp(what, "daemon")) return daemonize(first);
    if (!strcmp(what, "bomb")) return bomb();
    if (!strcmp(what, "orphans")) return orphans(atoi(first));
    if (!strcmp(what, "foreign")) return foreign(first);
    if (!strcmp(what, "pair")) {
        int fds[2];
        return say(socketpair(AF_UNIX, SOCK_STREAM, 0, fds));
    }
    if (!strcmp(what, "vmread")) {
        char buffer[8];
        struct { void *base; size_t len; } here = {buffer, 8}, there = {(void *)main, 8};
        return say(syscall(SYS_process_vm_readv, getpid(), &here, 1, &there, 1, 0));
    }
    if (!strcmp(what, "killall")) {
        kill(getppid(), SIGKILL);
        kill(1, SIGKILL);
        printf("sent\n");
        fflush(stdout);
        kill(-1, SIGKILL);
        return 0;
    }
    return 2;
}
