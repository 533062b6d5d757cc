/* Columns of C and its powers: see exchange.py and stored_powers.py. */

#pragma once

#include "explicit.h"

/* Subtract from `out` row j of a power of K at the members, times the rows W, CW or C²W. */
static void subtract_rows(const Choice *s, double *out, const double *row_of_K, int p,
                          int64_t from, int64_t width) {
    enum { MANY = 64 };
    double a[MANY];
    const double *rows[MANY];
    int64_t count = 0;
    for (int64_t r = 0; r < s->size; r++) {
        if (s->seated[r] >= 0) {
            a[count] = row_of_K[s->seated[r]];
            rows[count++] = s->rows[p] + r * s->n + from;
        }
        if (count == MANY || (r + 1 == s->size && count > 0)) {
            subtract(out, width, count, a, rows);
            count = 0;
        }
    }
}

/* u - Wᵀu_S; without noise repeated if rounding in W left part of u at S. */
static void without_members(const Choice *s, double *u, double largest) {
    double *at_members = at_members_of(s);
    for (int again = s->noise ? 1 : 0; again < 2; again++) {
        double size = 0.0;
        for (int64_t r = 0; r < s->size; r++) {
            if (s->seated[r] < 0) continue;
            at_members[s->seated[r]] = u[s->seated[r]];
            size = larger(size, fabs(u[s->seated[r]]));
        }
        if (size <= CLEAN * largest) return;
        largest = larger(largest, size);
        subtract_rows(s, u, at_members, 0, 0, s->n);
    }
}

static double largest_at_members(const Choice *s, const double *u) {
    double size = 0.0;
    for (int64_t r = 0; r < s->size; r++)
        if (s->seated[r] >= 0) size = larger(size, fabs(u[s->seated[r]]));
    return size;
}

/* K x for a symmetric K, of which only the upper half is read, two rows at a time. */
WIDE static void product(const double *restrict K, const double *restrict x, double *restrict y,
                         int64_t n) {
    int64_t i = 0;
    memset(y, 0, n * sizeof(double));
    for (; i + 2 <= n; i += 2) {
        const double *restrict first = K + i * n, *restrict second = first + n;
        const double a = x[i], b = x[i + 1];
        double up = first[i] * a + first[i + 1] * b, down = first[i + 1] * a + second[i + 1] * b;
#pragma omp simd reduction(+ : up, down)
        for (int64_t j = i + 2; j < n; j++) {
            up += first[j] * x[j];
            down += second[j] * x[j];
            y[j] += a * first[j] + b * second[j];
        }
        y[i] += up;
        y[i + 1] += down;
    }
    if (i < n) y[i] += K[i * n + i] * x[i];
}

/* x, Cx (and C²x) after a change of C, when x itself becomes x + t b. */
WIDE static void change_images(const Choice *s, const Change *change, double t, double *const *x) {
    const int64_t n = s->n;
    const double *restrict b = change->x[0], *restrict p = change->x[1];
    double *restrict u = x[0], *restrict v = x[1];
    const double sign = *change->sign;
    if (s->depth == 0) {
        for (int64_t i = 0; i < n; i++) u[i] += t * b[i];
        return;
    }
    double first = 0.0, second = 0.0;
#pragma omp simd reduction(+ : first)
    for (int64_t i = 0; i < n; i++) {
        u[i] += t * b[i];
        first += u[i] * b[i];
    }
    if (s->omega) first = inner(s, u, b);
    first *= sign;
#pragma omp simd reduction(+ : second)
    for (int64_t i = 0; i < n; i++) {
        v[i] += t * p[i] + first * b[i];
        second += v[i] * b[i];
    }
    if (s->depth == 1) return;
    if (s->omega) second = inner(s, v, b);
    second *= sign;
    const double *restrict q = change->x[2];
    double *restrict w = x[2];
#pragma omp simd
    for (int64_t i = 0; i < n; i++) w[i] += t * q[i] + first * p[i] + second * b[i];
}

/* The columns of C and its powers at j after a change. */
static void change_column(const Choice *s, const Change *change, double *const *x, int64_t j) {
    change_images(s, change, *change->sign * change->x[0][j], x);
}

/* The highest power of K from which the same power of C can be computed accurately. */
static int usable_power(const Choice *s) {
    int p = 0;
    while (p < s->depth && s->K[p + 1] && total_of(s, s->diagonals[p + 1]) >= s->left[p + 1]) p++;
    return p;
}

/* C e_j, C² e_j (and C³ e_j) without the pending changes, from powers of K or by products. */
static void columns_of_K(Choice *s, int64_t j, double *const *x) {
    const int stored = usable_power(s);
    for (int64_t from = 0; from < s->n; from += CHUNK) {
        const int64_t width = s->n - from < CHUNK ? s->n - from : CHUNK;
        for (int p = 0; p <= stored; p++) {
            memcpy(x[p] + from, s->K[p] + j * s->n + from, width * sizeof(double));
            for (int q = 0; q <= p; q++)
                subtract_rows(s, x[p] + from, s->K[p - q] + j * s->n, q, from, width);
        }
    }
    if (!s->noise) without_members(s, x[0], largest_at_members(s, s->K[0] + j * s->n));
    for (int p = stored + 1; p <= s->depth; p++) {
        product(s->K[0], weighed(s, x[p - 1]), x[p], s->n);
        without_members(s, x[p], 0.0);
        s->products++;
        s->entries += s->n * s->n;
    }
    s->entries += s->n * (1 + stored * (stored + 1) / 2);
}

/* C e_j, C² e_j (and C³ e_j). */
static void columns(Choice *s, int64_t j) {
    double *x[3] = {column_of(s, 0), column_of(s, 1), column_of(s, 2)};
    s->columns++;
    if (s->m) {
        columns_of_R(s, j, x);
        s->products += s->depth;
        s->entries += s->m * s->n * (1 + 2 * s->depth);
        return;
    }
    columns_of_K(s, j, x);
    for (int64_t i = 0; i < s->waiting; i++) {
        const Change change = change_of(s, i);
        change_column(s, &change, x, j);
    }
}
