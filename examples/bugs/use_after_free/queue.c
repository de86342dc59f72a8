/* Jobs in a list, worked off from its head. */
#include <stdio.h>
#include <stdlib.h>

struct job {
    int number;
    struct job *next;
};

static struct job *push(struct job *head, int number)
{
    struct job *made = malloc(sizeof *made);
    made->number = number;
    made->next = head;
    return made;
}

static int drop(struct job *head)
{
    int sum = 0;
    for (struct job *each = head; each != NULL; each = each->next) {
        sum += each->number;
        free(each);
    }
    return sum;
}

int main(void)
{
    struct job *head = NULL;
    for (int number = 1; number <= 3; number++)
        head = push(head, number);
    printf("%d\n", drop(head));
    return 0;
}
