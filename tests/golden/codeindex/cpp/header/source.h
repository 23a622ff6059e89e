#ifndef SHOP_H
#define SHOP_H
#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct order { int count; } order_t;

extern int order_count;
order_t *order_new(int count);
static inline int order_size(const order_t *order) { return order->count; }
int order_size(const order_t *order);
void order_free(order_t *order);

#ifdef __cplusplus
}
#endif
#endif
