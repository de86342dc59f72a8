/* The story's program: every language has one that does the same, with the same names and the same marks. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tally {
    int a, b;
};

static const char *WORDS[] = {"a", "b", "a", NULL};

static const char *following(void) {
    static int at;
    return WORDS[at++];
}

static int price(const char *item, int count) {
    int cost = (int)strlen(item) * count; // @cost
    return cost;                          // @return
}

static struct tally tally(void) {
    struct tally seen = {0, 0};                      // @empty
    for (const char *word; (word = following());) {  // @for
        *(word[0] == 'a' ? &seen.a : &seen.b) += 1;  // @tally
    }
    return seen; // @seen
}

static int shop(void) {
    int total = 0; // @total
    for (int count = 1; count < 7; count++) {
        total += price("fig", count);  // @loop
        printf("so far %d\n", total);  // @print
    }
    int numbers[100];
    for (int at = 0; at < 100; at++)
        numbers[at] = at;
    return total + numbers[0]; // @numbers
}

static void fail(int total) {
    fprintf(stderr, "too much: %d\n", total), abort(); // @raise
}

static const char *careful(void) {
    return "recovered"; // @recovered
}

static void spin(void) {
    volatile long turns = 0;
    printf("spinning\n");
    while (1) {
        turns++; // @spin
    }
}

static void *worker(void *nothing) {
    pthread_setname_np(pthread_self(), "helper");
    const char *mine = "of the worker";
    printf("%s\n", mine); // @worker
    return nothing;
}

static int run(const char *what) {
    if (strcmp(what, "shop") == 0) {
        int total = shop();
        printf("done %d\n", total); // @done
    } else if (strcmp(what, "tally") == 0) {
        printf("%d\n", tally().a);
    } else if (strcmp(what, "fail") == 0) {
        fail(2000);
    } else if (strcmp(what, "careful") == 0) {
        printf("%s\n", careful());
    } else if (strcmp(what, "spin") == 0) {
        spin();
    } else if (strcmp(what, "thread") == 0) {
        pthread_t thread;
        pthread_create(&thread, NULL, worker, NULL);
        pthread_join(thread, NULL);
    }
    return strcmp(what, "seven") == 0 ? 7 : 0; // @exit
}

int main(int argc, char **argv) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    return argc > 1 ? run(argv[1]) : 2;
}
