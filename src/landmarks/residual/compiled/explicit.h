/* The residual R of X, with C = RᵀR, while columns are chosen and dropped: see explicit.py. */

#pragma once

#include "choice.h"

/* Rᵀx. */
static void transposed_product(const Choice *s, const double *x, double *out) {
    enum { MANY = 64 };
    const double *rows[MANY];
    double a[MANY];
    memset(out, 0, s->n * sizeof(double));
    for (int64_t from = 0; from < s->m; from += MANY) {
        const int64_t count = s->m - from < MANY ? s->m - from : MANY;
        for (int64_t i = 0; i < count; i++) {
            a[i] = -x[from + i];
            rows[i] = s->R + (from + i) * s->n;
        }
        subtract(out, s->n, count, a, rows);
    }
}

/* C x = Rᵀ(R x), in one pass over R. */
WIDE static void gram_product(const Choice *s, const double *restrict x, double *restrict out) {
    memset(out, 0, s->n * sizeof(double));
    for (int64_t i = 0; i < s->m; i++) {
        const double *restrict row = s->R + i * s->n;
        const double a = dot(row, x, s->n);
#pragma omp simd
        for (int64_t j = 0; j < s->n; j++) out[j] += a * row[j];
    }
}

/* C e_j, C² e_j (and C³ e_j) from R, with C = RᵀR. */
static void columns_of_R(const Choice *s, int64_t j, double *const *x) {
    double *column = along_rows_of(s);
    for (int64_t i = 0; i < s->m; i++) column[i] = s->R[i * s->n + j];
    transposed_product(s, column, x[0]);
    for (int p = 1; p <= s->depth; p++) gram_product(s, weighed(s, x[p - 1]), x[p]);
}

/* A matrix of m rows changes by x yᵀ. */
WIDE static void add_outer(double *restrict matrix, const double *restrict x,
                           const double *restrict y, int64_t m, int64_t n) {
    for (int64_t i = 0; i < m; i++) {
        double *restrict row = matrix + i * n;
        const double a = x[i];
#pragma omp simd
        for (int64_t j = 0; j < n; j++) row[j] += a * y[j];
    }
}

/* Add back to R what only the member at a place explained: `Explicit.drop`. */
static void drop_from_R(const Choice *s, int64_t place, const double *b, const double *t) {
    double *u = along_rows_of(s);
    for (int64_t i = 0; i < s->m; i++) u[i] = s->D[i * s->size + place];
    scale(u, 1 / sqrt(dot(u, u, s->m)), s->m);
    add_outer(s->R, u, b, s->m, s->n);
    add_outer(s->D, u, t, s->m, s->size);
    for (int64_t i = place; i < s->m * s->size; i += s->size) s->D[i] = s->X_S[i] = 0.0;
    if (s->m == s->m_X) return; /* else the row of its noise is free again */
    memset(s->R + (s->m_X + place) * s->n, 0, s->n * sizeof(double));
    memset(s->D + (s->m_X + place) * s->size, 0, s->size * sizeof(double));
}

/* Subtract q vᵀ from R; diag C becomes the squared lengths of its columns. */
WIDE static void deflate(Choice *s, const double *restrict q, const double *restrict v) {
    double *restrict c = s->diagonals[0];
    memset(c, 0, s->n * sizeof(double));
    for (int64_t i = 0; i < s->m; i++) {
        double *restrict row = s->R + i * s->n;
        const double a = q[i];
#pragma omp simd
        for (int64_t j = 0; j < s->n; j++) {
            row[j] -= a * v[j];
            c[j] += row[j] * row[j];
        }
    }
}

/* Move the direction q of column j from R to the dual vectors: `Explicit.add`. Rᵀq equals b up to
   rounding, but R needs it to its own accuracy. */
WIDE static void add_to_R(Choice *s, int64_t j, int64_t place, const double *t) {
    const int64_t m = s->m, size = s->size;
    double *q = along_rows_of(s), *restrict weights = alike_of(s);
    for (int64_t i = 0; i < m; i++) q[i] = s->R[i * s->n + j];
    if (m > s->m_X) q[s->m_X + place] += sqrt(s->noise[j]);
    scale(q, 1 / sqrt(dot(q, q, m)), m);
    memset(weights, 0, size * sizeof(double));
    for (int64_t i = 0; i < m; i++) {
        const double *restrict duals = s->D + i * size;
        const double a = q[i];
#pragma omp simd
        for (int64_t r = 0; r < size; r++) weights[r] += a * duals[r];
    }
    for (int64_t i = 0; i < m; i++) q[i] -= dot(s->X_S + i * size, weights, size);
    scale(q, 1 / sqrt(dot(q, q, m)), m);
    transposed_product(s, q, at_members_of(s));
    deflate(s, q, at_members_of(s));
    add_outer(s->D, q, t, m, size);
    for (int64_t i = 0; i < s->m_X; i++) s->X_S[i * size + place] = s->X[i * s->n + j];
    if (m > s->m_X) s->X_S[(s->m_X + place) * size + place] = sqrt(s->noise[j]);
}
