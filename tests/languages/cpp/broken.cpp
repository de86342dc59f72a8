// Values that are not what their types say, endless ones and very long ones.
#include <cstdio>
#include <cstring>
#include <list>
#include <map>
#include <string>
#include <unistd.h>
#include <vector>

struct Node {
  Node *next;
  int value;
};

static void look(const std::vector<int> &numbers, const std::string &text) {
  std::vector<int> vast; // claims more items than there is memory
  long end = (long)&numbers + (1L << 45);
  long bounds[3] = {(long)&numbers, end, end};
  memcpy((void *)&vast, bounds, sizeof bounds);

  std::string torn; // a length that no text has
  long length = 1L << 45;
  memcpy((char *)&torn + sizeof(char *), &length, sizeof length);

  struct Link {
    Link *next, *previous;
    int value;
  } first = {nullptr, nullptr, 1}, second = {&second, &first, 2};
  first.next = &second;
  std::list<int> ring; // never comes back to its head
  memcpy((void *)&ring, &first, 2 * sizeof(Link *));

  Node one = {nullptr, 1}, two = {&one, 2}, *wild = (Node *)0x1234;
  one.next = &two;
  char bytes[] = "ok\xff\x1b[31m";
  write(1, bytes, sizeof bytes - 1); // look here
  _exit(wild == nullptr || numbers.size() == text.size());
}

int main() {
  std::vector<int> numbers(1000000, 7);
  numbers.back() = 8;
  std::string text(30u << 20, 'x');
  look(numbers, text);
}
