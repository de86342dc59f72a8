/* The program of the standard job: a function with a loop and a few locals; prints when it ended if asked to. */

#include <stdio.h>
#include <string.h>
#include <time.h>

static int tally(const char **words, int length, int *counts) {
  int seen = 0; /* the first stop */
  for (int i = 0; i < length; i++) {
    int j = 0;
    while (strcmp(words[j], words[i]) != 0)
      j++;
    counts[j]++;
    seen += counts[j] == 1;
    if (counts[j] > 1)
      printf("again %s\n", words[i]);
  }
  return seen;
}

int main(int argc, char **argv) {
  const char *words[] = {"a", "b", "a", "c", "b"};
  int counts[5] = {0};
  printf("%d\n", tally(words, 5, counts));
  if (argc > 1 && strcmp(argv[1], "--clock") == 0) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    printf("%ld.%09ld\n", (long)now.tv_sec, now.tv_nsec);
  }
  return 0;
}
