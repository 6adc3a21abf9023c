// What memory alone costs: the arrays of a kernel read and written once in order, with no arithmetic to speak of, by
// vectors of 128 bits. A kernel limited to such vectors can't be faster than this on the same arrays.
//
//   cc -O2 -fno-tree-vectorize -march=native -shared -fPIC stream.c
//
// Sums run in eight chains, so that no chain's latency shows. Counts are in floats; the last count % 32 are left out,
// as every array that is timed is a multiple of that or so short that the start of the loop is all there is.

#include <stddef.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

typedef float vector __attribute__((vector_size(16), aligned(4), may_alias));

enum { lanes = 4, chains = 8, step = lanes * chains };

// A result somebody could look at, so that the reads happen.
static volatile float seen;

static void look(const vector *sums) {
    vector total = sums[0];
    for (int i = 1; i < chains; i++)
        total += sums[i];
    seen = total[0] + total[1] + total[2] + total[3];
}

#define AT(base, i) (*(const vector *)((base) + (i) * lanes))
#define TO(base, i) (*(vector *)((base) + (i) * lanes))
#define EACH(f) f(0) f(1) f(2) f(3) f(4) f(5) f(6) f(7)

void read_one(const float *a, size_t count) {
    vector sums[chains] = {{0}};
    for (; count >= step; count -= step, a += step) {
#define ADD(i) sums[i] += AT(a, i);
        EACH(ADD)
#undef ADD
    }
    look(sums);
}

void read_two(const float *a, const float *b, size_t count) {
    vector sums[chains] = {{0}};
    for (; count >= step; count -= step, a += step, b += step) {
#define ADD(i) sums[i] += AT(a, i) + AT(b, i);
        EACH(ADD)
#undef ADD
    }
    look(sums);
}

void write_one(float *to, size_t count) {
    const vector one = {1, 1, 1, 1};
    for (; count >= step; count -= step, to += step) {
#define PUT(i) TO(to, i) = one;
        EACH(PUT)
#undef PUT
    }
}

void copy(const float *a, float *to, size_t count) {
    for (; count >= step; count -= step, a += step, to += step) {
#define PUT(i) TO(to, i) = AT(a, i);
        EACH(PUT)
#undef PUT
    }
}

void add(const float *a, const float *b, float *to, size_t count) {
    for (; count >= step; count -= step, a += step, b += step, to += step) {
#define PUT(i) TO(to, i) = AT(a, i) + AT(b, i);
        EACH(PUT)
#undef PUT
    }
}

// The same with stores that pass the caches by. What they write must be aligned to 16 bytes.
#ifdef __SSE2__
void copy_past_caches(const float *a, float *to, size_t count) {
    for (; count >= step; count -= step, a += step, to += step) {
#define PUT(i) _mm_stream_ps(to + (i) * lanes, _mm_loadu_ps(a + (i) * lanes));
        EACH(PUT)
#undef PUT
    }
    _mm_sfence();
}

void add_past_caches(const float *a, const float *b, float *to, size_t count) {
    for (; count >= step; count -= step, a += step, b += step, to += step) {
#define PUT(i)                                                                                                          \
    _mm_stream_ps(to + (i) * lanes, _mm_add_ps(_mm_loadu_ps(a + (i) * lanes), _mm_loadu_ps(b + (i) * lanes)));
        EACH(PUT)
#undef PUT
    }
    _mm_sfence();
}
#endif
