#include <stdio.h>

#define GUARD
#define LIMIT 10
#define MAX(a, b) ((a) > (b) ? (a) : (b)) /* greater */

struct point {
    int x;
    struct inner { int deep; } in;
};
typedef struct { int b; } plain_t;
typedef struct node { struct node *next; } node_t;
typedef int (*callback)(int);
typedef unsigned long size;
enum color { RED, GREEN = 2 };
union either { int a; char b; };

static const int limit = 3, other = 4;
static struct point origin;
int numbers[] = {1, 2};
char *names[2][3] = {0};
static int (*hook)(int) = 0;

static int forward(int a);
extern int elsewhere(void);

#ifdef WIDE
static int forward(int a) { return a * 2; }
#else
static int forward(int a) { return a; }
#endif

char **pointers(const char *text, int n[], ...) { return 0; }
int (*returns_function(int x))(int) { return 0; }
__attribute__((noreturn)) void die(void) { for (;;) ; }
int old_style(a, b) int a; char b; { return a; }
static int __init kernel_start(void) { return 0; }
