// Threads that wait for each other: two by mutexes crosswise, one for a mutex that its holder took with it, main for the end of one.
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;

static void transfer(pthread_mutex_t *from, pthread_mutex_t *to) {
    pthread_mutex_lock(from);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(to); // @crossed
}

static void *one(void *_) { transfer(&left, &right); return _; }
static void *two(void *_) { transfer(&right, &left); return _; }
static void *takes(void *lost) { pthread_mutex_lock(lost); return lost; }

static void *misses(void *argument) {
    pthread_mutex_t *lost = argument;
    pthread_mutex_lock(lost); // @missed
    return lost;
}

// The first word of a mutex of glibc is 2 as soon as somebody waits for it.
static int is_wanted(pthread_mutex_t *mutex) { return *(volatile int *)mutex == 2; }

int main(void) {
    pthread_t threads[4];
    pthread_mutex_t *lost = malloc(sizeof *lost);
    pthread_mutex_init(lost, NULL);
    pthread_barrier_init(&both, NULL, 2);
    pthread_create(&threads[0], NULL, takes, lost);
    pthread_join(threads[0], NULL);
    pthread_create(&threads[1], NULL, one, NULL);
    pthread_create(&threads[2], NULL, two, NULL);
    pthread_create(&threads[3], NULL, misses, lost);
    while (!is_wanted(&left) || !is_wanted(&right) || !is_wanted(lost)) sched_yield();
    puts("up");
    fflush(stdout);
    pthread_join(threads[1], NULL); // @joined
    return 0;
}
