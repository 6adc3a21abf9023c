/* Two libraries of different prefixes in one program, held against plain C. */
#include <math.h>
#include <stdio.h>
#include "one.h"
#include "two.h"

enum { ROWS = 5, COLS = 65 };

static float x[ROWS * COLS], w[COLS], y[ROWS * COLS], z[ROWS * COLS];

static int near(float a, double b) { return fabs((double)a - b) <= 1e-5 * (1.0 + fabs(b)); }

int main(void)
{
    int r, c;
    if (!one_supported() || !two_supported()) {
        fprintf(stderr, "this CPU lacks %s\n", one_target);
        return 2;
    }
    for (c = 0; c < ROWS * COLS; c++) {
        x[c] = (float)((c * 37) % 101 - 50) / 25.0f;
    }
    for (c = 0; c < COLS; c++) {
        w[c] = 1.0f + (float)c / 64.0f;
    }
    if (one_rms_norm_workspace(ROWS) != 0 || two_rms_norm_workspace(ROWS) != 0) {
        return 3;
    }
    if (one_rms_norm(x, w, y, 1e-6f, ROWS, NULL, 0) != one_ok) {
        return 4;
    }
    if (two_rms_norm(x, w, z, 1e-6f, ROWS, NULL, 0) != two_ok || memcmp(y, z, sizeof y) != 0) {
        return 5;
    }
    for (r = 0; r < ROWS; r++) {
        double sum = 0.0;
        for (c = 0; c < COLS; c++) {
            sum += (double)x[r * COLS + c] * x[r * COLS + c];
        }
        for (c = 0; c < COLS; c++) {
            if (!near(y[r * COLS + c], x[r * COLS + c] / sqrt(sum / COLS + 1e-6) * w[c])) {
                return 6;
            }
        }
    }
    {
        const int64_t backwards[2] = {COLS, -1}, repeated[2] = {0, 1};
        if (one_rms_norm(NULL, w, y, 1e-6f, ROWS, NULL, 0) != one_error_null
            || one_rms_norm(x, w, y, 1e-6f, -1, NULL, 0) != one_error_extent
            || one_rms_norm(x, w, x + 1, 1e-6f, ROWS, NULL, 0) != one_error_overlap
            || one_rms_norm_strided(x, backwards, w, NULL, y, NULL, 1e-6f, ROWS, NULL, 0) != one_error_stride
            || one_rms_norm_strided(x, NULL, w, NULL, y, repeated, 1e-6f, ROWS, NULL, 0) != one_error_overlaps_itself
            || one_rms_norm(x, w, y, 1e-6f, 0, NULL, 0) != one_ok) {
            return 7;
        }
    }
    if (one_rms_norm(x, w, x, 1e-6f, ROWS, NULL, 0) != one_ok || memcmp(x, y, sizeof y) != 0) {
        return 8;
    }
    puts("both libraries agree with plain C");
    return 0;
}
