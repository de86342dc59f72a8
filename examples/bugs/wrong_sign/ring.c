/* The last few readings, in a ring. */
#include <assert.h>
#include <stdio.h>

#define SIZE 4

struct ring {
    int values[SIZE];
    int written;
};

static void put(struct ring *ring, int value)
{
    ring->values[ring->written % SIZE] = value;
    ring->written++;
}

static int back(const struct ring *ring, int steps)
{
    int at = (ring->written - 1 - steps) % SIZE;
    assert(at >= 0 && at < SIZE);
    return ring->values[at];
}

int main(void)
{
    struct ring ring = {{0}, 0};
    for (int reading = 1; reading <= 2; reading++) {
        put(&ring, reading * 10);
        printf("%d, before that %d\n", back(&ring, 0), back(&ring, 1));
    }
    return 0;
}
