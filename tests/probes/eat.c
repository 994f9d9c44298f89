/* Touches as many MiB of memory as its argument says, then says so. */
#include <stdio.h>
#include <stdlib.h>

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
    return 0;
}
