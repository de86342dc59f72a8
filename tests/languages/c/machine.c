/* What lies below the source: data that changes, a call whose data goes, memory of every shape. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct item {
    char name[8];
    int price;
    struct item *next;
};

static int calls = 0;

static int add(int a, int b) {
    int sum = a + b; // @sum
    calls++;         // @calls
    return sum;      // @return
}

int main(int argc, char **argv) {
    struct item last = {"pear", 5, NULL};
    struct item first = {"fig", 3, &last};
    const char *word = "hello";
    int numbers[4] = {1, 2, 3, 4};
    int total = 0;
    for (int at = 0; at < 4; at++)
        total = add(total, numbers[at]); // @loop
    printf("%s %s %d\n", word, first.next->name, total); // @print
    if (argc > 1 && strcmp(argv[1], "eleven") == 0)
        return 11;
    if (argc > 1 && strcmp(argv[1], "crash") == 0)
        *(volatile int *)NULL = total; // @crash
    return 0;
}
