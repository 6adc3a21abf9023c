/* RMSNorm as a C programmer writes it, timed by the protocol of benches/src/protocol.rs; built with -ffast-math.
 *
 * usage: rmsnorm ROWS COLS WARM_UP_MS SAMPLES SAMPLE_MS
 * Prints one line a sample, nanoseconds per call, then the largest error against double precision. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

__attribute__((noinline)) void rmsnorm(const float *restrict x, const float *restrict w, float *restrict y, float eps,
                                       long rows, long cols) {
    for (long r = 0; r < rows; r++) {
        const float *row = x + r * cols;
        float *out = y + r * cols;
        float sum = 0;
        for (long c = 0; c < cols; c++)
            sum += row[c] * row[c];
        float rms = sqrtf(sum / cols + eps);
        for (long c = 0; c < cols; c++)
            out[c] = row[c] / rms * w[c];
    }
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

static float next(unsigned long long *s) {
    *s = *s * 6364136223846793005ULL + 1442695040888963407ULL;
    return 2.0f * (float)((*s >> 40) / 16777216.0) - 1.0f;
}

static float *floats(long n) {
    void *p = NULL;
    if (posix_memalign(&p, 64, (n > 0 ? n : 1) * sizeof(float)) != 0) {
        fprintf(stderr, "rmsnorm: out of memory\n");
        exit(1);
    }
    return p;
}

int main(int argc, char **argv) {
    if (argc != 6) {
        fprintf(stderr, "usage: rmsnorm ROWS COLS WARM_UP_MS SAMPLES SAMPLE_MS\n");
        return 2;
    }
    long rows = atol(argv[1]), cols = atol(argv[2]), samples = atol(argv[4]);
    double warm_up = atof(argv[3]) * 1e6, sample = atof(argv[5]) * 1e6;
    float *x = floats(rows * cols), *w = floats(cols), *y = floats(rows * cols);
    unsigned long long seed = 1;
    for (long i = 0; i < rows * cols; i++)
        x[i] = next(&seed);
    for (long i = 0; i < cols; i++)
        w[i] = next(&seed);
    float eps = 1e-6f;

    double start = now();
    while (now() - start < warm_up)
        rmsnorm(x, w, y, eps, rows, cols);
    long calls = 1;
    for (;;) {
        start = now();
        for (long i = 0; i < calls; i++)
            rmsnorm(x, w, y, eps, rows, cols);
        if (now() - start >= sample || calls >= 1L << 20)
            break;
        calls *= 2;
    }
    for (long s = 0; s < samples; s++) {
        start = now();
        for (long i = 0; i < calls; i++)
            rmsnorm(x, w, y, eps, rows, cols);
        printf("%.3f\n", (now() - start) / calls);
    }

    double worst = 0;
    for (long r = 0; r < rows; r++) {
        double sum = 0;
        for (long c = 0; c < cols; c++)
            sum += (double)x[r * cols + c] * x[r * cols + c];
        double rms = sqrt(sum / cols + eps);
        for (long c = 0; c < cols; c++) {
            double error = fabs(y[r * cols + c] - x[r * cols + c] / rms * w[c]);
            worst = error > worst ? error : worst;
        }
    }
    printf("error %.3g\n", worst);
    return 0;
}
