// The story's program: every language has one that does the same, with the same names and the same marks.
#include <iostream>
#include <map>
#include <numeric>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static int price(const std::string &item, int count) {
    int cost = static_cast<int>(item.size()) * count; // @cost
    return cost;                                      // @return
}

static std::map<std::string, int> tally(const std::vector<std::string> &words) {
    std::map<std::string, int> seen; // @empty
    for (const auto &word : words) { // @for
        seen[word] += 1;             // @tally
    }
    return seen; // @seen
}

static int shop() {
    int total = 0; // @total
    for (int count = 1; count < 7; count++) {
        total += price("fig", count);               // @loop
        std::cout << "so far " << total << std::endl; // @print
    }
    std::vector<int> numbers(100);
    std::iota(numbers.begin(), numbers.end(), 0);
    return total + numbers[0]; // @numbers
}

static void fail(int total) {
    throw std::runtime_error("too much: " + std::to_string(total)); // @raise
}

static std::string careful() {
    try {
        fail(1);
    } catch (const std::exception &) {
        return "recovered"; // @recovered
    }
    return "";
}

static void spin() {
    volatile long turns = 0;
    std::cout << "spinning" << std::endl;
    while (true) {
        turns = turns + 1; // @spin
    }
}

static void worker() {
    pthread_setname_np(pthread_self(), "helper");
    std::string mine = "of the worker";
    std::cout << mine << std::endl; // @worker
}

static int run(const std::string &what) {
    if (what == "shop") {
        int total = shop();
        std::cout << "done " << total << std::endl; // @done
    } else if (what == "tally") {
        std::cout << tally({"a", "b", "a"}).size() << std::endl;
    } else if (what == "fail") {
        fail(2000);
    } else if (what == "careful") {
        std::cout << careful() << std::endl;
    } else if (what == "spin") {
        spin();
    } else if (what == "thread") {
        std::thread(worker).join();
    }
    return what == "seven" ? 7 : 0; // @exit
}

int main(int argc, char **argv) {
    return argc > 1 ? run(argv[1]) : 2;
}
