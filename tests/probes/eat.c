/* Touches as many MiB of memory as its first argument says, says so, and holds them for as many milliseconds as the
   second says. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
    long mib = argc > 1 ? atol(argv[1]) : 1;
    for (long i = 0; i < mib; i++) {
        volatile char *block = malloc(1 << 20);
        if (!block) {
            fputs("malloc failed\n", stderr);
            return 9;
        }
        for (long at = 0; at < 1 << 20; at += 4096) block[at] = 1;
    }
    printf("touched %ld MiB\n", mib);
    fflush(stdout);
    if (argc > 2) usleep((useconds_t)atol(argv[2]) * 1000);
    return 0;
}
