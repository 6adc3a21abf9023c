// The kernels that are compared, as a C programmer writes them: plain loops, shapes known to the compiler, pointers that
// promise not to overlap. Whatever makes them fast is the C compiler's doing.
//
//   cc -O3 -march=native -ffast-math -DROWS=64 -DCOLS=256 -shared -fPIC kernels.c -lm
//
// Every function takes its inputs in order, then its output. With -DPOLYNOMIAL the exponential is a polynomial that the
// compiler can inline and vectorise; without it, it is whatever the C library offers.

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#ifndef ROWS
#define ROWS 64
#endif
#ifndef COLS
#define COLS 256
#endif

// Sizes as constants of a signed type, so that index arithmetic is plain.
enum { rows = ROWS, cols = COLS, half = COLS / 2 };

static const long elements = (long)ROWS * COLS;
static const float eps = 1e-6f;

typedef const float *restrict in;
typedef float *restrict out;

#ifdef POLYNOMIAL

// exp by Cephes' polynomial of degree five over two-part reduction by ln 2, clamped to where the result is a normal number.
static inline float exponential(float x) {
#ifdef __clang__
#pragma clang fp reassociate(off)
#endif
    const float clamped = x < -87.0f ? -87.0f : (x > 88.0f ? 88.0f : x);
    const float n = __builtin_rintf(clamped * 1.44269504088896341f);
    const float r = (clamped - n * 0.693359375f) + n * 2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * (r * r) + r + 1.0f;
    const int32_t bits = ((int32_t)n + 127) << 23;
    float scale;
    memcpy(&scale, &bits, sizeof scale);
    return p * scale;
}

static inline float hyperbolic_tangent(float x) {
    return 1.0f - 2.0f / (exponential(2.0f * x) + 1.0f);
}

// erf by Abramowitz and Stegun 7.1.26: an absolute error of 1.5e-7, no relative accuracy near zero.
static inline float error_function(float x) {
    const float magnitude = __builtin_fabsf(x);
    const float t = 1.0f / (1.0f + 0.3275911f * magnitude);
    float p = 1.061405429f;
    p = p * t - 1.453152027f;
    p = p * t + 1.421413741f;
    p = p * t - 0.284496736f;
    p = p * t + 0.254829592f;
    return __builtin_copysignf(1.0f - p * t * exponential(-magnitude * magnitude), x);
}

#else

static inline float exponential(float x) { return expf(x); }
static inline float hyperbolic_tangent(float x) { return tanhf(x); }
static inline float error_function(float x) { return erff(x); }

#endif

void rms_norm(in x, in w, out y) {
    for (long r = 0; r < rows; r++) {
        in row = x + r * cols;
        float sum = 0;
        for (long c = 0; c < cols; c++)
            sum += row[c] * row[c];
        const float rms = sqrtf(sum / cols + eps);
        for (long c = 0; c < cols; c++)
            y[r * cols + c] = row[c] / rms * w[c];
    }
}

void rms_norm_rsqrt(in x, in w, out y) {
    for (long r = 0; r < rows; r++) {
        in row = x + r * cols;
        float sum = 0;
        for (long c = 0; c < cols; c++)
            sum += row[c] * row[c];
        const float scale = 1.0f / sqrtf(sum / cols + eps);
        for (long c = 0; c < cols; c++)
            y[r * cols + c] = row[c] * scale * w[c];
    }
}

void layer_norm(in x, in w, in b, out y) {
    for (long r = 0; r < rows; r++) {
        in row = x + r * cols;
        float sum = 0, squares = 0;
        for (long c = 0; c < cols; c++)
            sum += row[c];
        const float mean = sum / cols;
        for (long c = 0; c < cols; c++)
            squares += (row[c] - mean) * (row[c] - mean);
        const float scale = 1.0f / sqrtf(squares / cols + eps);
        for (long c = 0; c < cols; c++)
            y[r * cols + c] = (row[c] - mean) * scale * w[c] + b[c];
    }
}

void softmax_additive_mask(in x, in mask, out y) {
    for (long r = 0; r < rows; r++) {
        in row = x + r * cols, added = mask + r * cols;
        out result = y + r * cols;
        float peak = row[0] + added[0], sum = 0;
        for (long c = 1; c < cols; c++) {
            const float value = row[c] + added[c];
            peak = value > peak ? value : peak;
        }
        for (long c = 0; c < cols; c++) {
            result[c] = exponential(row[c] + added[c] - peak);
            sum += result[c];
        }
        const float scale = 1.0f / sum;
        for (long c = 0; c < cols; c++)
            result[c] *= scale;
    }
}

void softmax_masked(in x, const uint8_t *restrict live, out y) {
    for (long r = 0; r < rows; r++) {
        in row = x + r * cols;
        const uint8_t *restrict keep = live + r * cols;
        out result = y + r * cols;
        float peak = -FLT_MAX, sum = 0;
        for (long c = 0; c < cols; c++) {
            const float value = keep[c] ? row[c] : -FLT_MAX;
            peak = value > peak ? value : peak;
        }
        for (long c = 0; c < cols; c++) {
            result[c] = keep[c] ? exponential(row[c] - peak) : 0.0f;
            sum += result[c];
        }
        const float scale = 1.0f / sum;
        for (long c = 0; c < cols; c++)
            result[c] *= scale;
    }
}

void swiglu(in g, in u, out y) {
    for (long i = 0; i < elements; i++)
        y[i] = g[i] / (1.0f + exponential(-g[i])) * u[i];
}

void gelu_tanh_residual(in x, in residual, out y) {
    for (long i = 0; i < elements; i++) {
        const float v = x[i];
        const float u = 0.7978845608f * (v + 0.044715f * v * v * v);
        y[i] = 0.5f * v * (1.0f + hyperbolic_tangent(u)) + residual[i];
    }
}

void gelu_erf_residual(in x, in residual, out y) {
    for (long i = 0; i < elements; i++) {
        const float v = x[i];
        y[i] = 0.5f * v * (1.0f + error_function(v * 0.7071067812f)) + residual[i];
    }
}

// The tables have half a row each: both halves of a row turn by the same angles.
void rope_half(in x, in cosine, in sine, out y) {
    for (long r = 0; r < rows; r++) {
        in first = x + r * cols, second = first + half;
        for (long c = 0; c < half; c++) {
            const float cs = cosine[r * half + c], sn = sine[r * half + c];
            y[r * cols + c] = first[c] * cs - second[c] * sn;
            y[r * cols + half + c] = second[c] * cs + first[c] * sn;
        }
    }
}

void dot(in x, in y, out total) {
    float sum = 0;
    for (long i = 0; i < elements; i++)
        sum += x[i] * y[i];
    total[0] = sum;
}

void sum_of_squares(in x, out total) {
    float sum = 0;
    for (long i = 0; i < elements; i++)
        sum += x[i] * x[i];
    total[0] = sum;
}

void mean_squared_error(in x, in y, out total) {
    float sum = 0;
    for (long i = 0; i < elements; i++)
        sum += (x[i] - y[i]) * (x[i] - y[i]);
    total[0] = sum / elements;
}

// The mean over rows of log(sum(exp(x))) - x[target].
void cross_entropy(in x, const int32_t *restrict target, out loss) {
    float total = 0;
    for (long r = 0; r < rows; r++) {
        in row = x + r * cols;
        float peak = row[0], sum = 0;
        for (long c = 1; c < cols; c++)
            peak = row[c] > peak ? row[c] : peak;
        for (long c = 0; c < cols; c++)
            sum += exponential(row[c] - peak);
        total += logf(sum) + peak - row[target[r]];
    }
    loss[0] = total / rows;
}
