/* What native programs do to their debuggers: one word each. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

struct item {
    const char *name;
    int qty;
    struct item *next;
};

static int twice(int number) {
    int result = number * 2; // @twice
    return result;
}

static void look(void) {
    struct item last = {"plum", 3, NULL};
    struct item first = {"pear", 2, &last};
    struct item *nowhere = (struct item *)16;
    int table[2][3] = {{1, 2, 3}, {4, 5, 6}};
    char word[16] = "hello";
    int later = twice(first.qty); // @look
    printf("%d %d %s %p\n", later, table[0][0], word, (void *)nowhere);
}

static void forever(void) {
    volatile long turns = 0;
    while (1)
        turns++;
}

static void *idle(void *nothing) {
    pause();
    return nothing;
}

static void many(void) {
    pthread_attr_t small;
    pthread_t thread;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    for (int at = 0; at < 200; at++)
        pthread_create(&thread, &small, idle, NULL);
}

static int forked(void) {
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        printf("child %d\n", twice(1));
        fflush(stdout);
        _exit(3);
    }
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

static volatile sig_atomic_t handled;

static void handle(int number) {
    handled = number;
}

static void wait_for_ever(void) {
    printf("up\n");
    for (long turn = 0;; turn++) {
        usleep(5000);
        twice((int)turn); // @turn
    }
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (strcmp(what, "args") == 0) {
        for (int at = 2; at < argc; at++)
            printf("[%s]", argv[at]);
        fprintf(stderr, "to stderr\n");
        return 3;
    }
    if (strcmp(what, "env") == 0)
        for (char **each = environ; *each; each++)
            printf("%s%c", *each, 0);
    if (strcmp(what, "echo") == 0)
        for (int byte; (byte = getchar()) != EOF;)
            putchar(byte);
    if (strcmp(what, "look") == 0)
        look();
    if (strcmp(what, "crash") == 0)
        *(volatile int *)8 = twice(argc); // @crash
    if (strcmp(what, "handled") == 0) {
        signal(SIGUSR1, handle);
        raise(SIGUSR1);
        return handled;
    }
    if (strcmp(what, "forever") == 0)
        forever(); // @forever
    if (strcmp(what, "many") == 0) {
        many();
        return twice(4);
    }
    if (strcmp(what, "fork") == 0)
        return forked() + twice(2); // @forked
    if (strcmp(what, "daemon") == 0 && daemon(1, 0) == 0)
        pause();
    if (strcmp(what, "output") == 0)
        for (int at = 0; at < 50000; at++)
            printf("%099d\n", at);
    if (strcmp(what, "wait") == 0)
        wait_for_ever();
    return 0;
}
