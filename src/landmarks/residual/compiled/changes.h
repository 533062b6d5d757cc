/* Drops and additions: how they change the diagonals, K_SS⁻¹ and the rows. The rows are large,
   so several changes are collected and applied together: see exchange.py. */

#pragma once

#include "columns.h"

/* diag C, diag C² (and diag C³) after a change: `rank_one` of powers.py. */
WIDE static void change_diagonals(Choice *s, const Change *change) {
    const int64_t n = s->n;
    const double sign = *change->sign;
    const double *restrict b = change->x[0], *restrict p = change->x[1];
    double *restrict c = s->diagonals[0], *restrict A = s->diagonals[1];
    if (s->depth == 0) {
        for (int64_t i = 0; i < n; i++) c[i] += sign * b[i] * b[i];
        return;
    }
    const double alpha = inner(s, b, b);
    if (s->depth == 2) {
        const double *restrict q = change->x[2];
        double *restrict B = s->diagonals[2];
        const double beta = inner(s, b, p) + sign * alpha * alpha;
#pragma omp simd
        for (int64_t i = 0; i < n; i++)
            B[i] += sign * (2 * b[i] * q[i] + p[i] * p[i]) + 2 * alpha * b[i] * p[i]
                    + beta * b[i] * b[i];
    }
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        A[i] += 2 * sign * b[i] * p[i] + alpha * b[i] * b[i];
        c[i] += sign * b[i] * b[i];
    }
    if (sign < 0) return;
    const double part = ROUNDING * s->unit;
    for (int d = 0; d <= s->depth; d++) {
        double *restrict error = s->errors[d];
        const double *restrict diagonal = s->diagonals[d];
#pragma omp simd
        for (int64_t i = 0; i < n; i++) {
            const double size = part * fabs(diagonal[i]);
            error[i] = error[i] > size ? error[i] : size;
        }
    }
}

static void correct(Choice *s, int64_t j, const double *values) {
    for (int p = 0; p <= s->depth; p++) {
        s->diagonals[p][j] = values[p];
        s->errors[p][j] = ROUNDING * s->unit * fabs(values[p]);
    }
}

WIDE static void change_inverse(Choice *s, const Change *change) {
    const double *restrict t = change->t;
    for (int64_t r = 0; r < s->size; r++) {
        const double a = *change->sign * t[r];
        double *restrict row = s->H + r * s->size;
#pragma omp simd
        for (int64_t q = 0; q < s->size; q++) row[q] -= a * t[q];
    }
}

/* The pending changes of the row of a place. */
static void change_row_by_all(const Choice *s, int64_t place, double *const *row) {
    for (int64_t i = s->since[place]; i < s->waiting; i++) {
        const Change change = change_of(s, i);
        change_images(s, &change, change.t[place], row);
    }
}

/* Apply the pending changes to the row of a place; an emptied place starts from zero. */
static void settle_row(const Choice *s, int64_t r) {
    double *row[3];
    for (int p = 0; p <= s->depth; p++) {
        row[p] = s->rows[p] + r * s->n;
        if (s->seated[r] != s->members[r]) memset(row[p], 0, s->n * sizeof(double));
    }
    if (s->members[r] >= 0) change_row_by_all(s, r, row);
    s->since[r] = 0;
    s->seated[r] = s->members[r];
}

static void settle(Choice *s) {
    for (int64_t r = 0; r < s->size; r++) settle_row(s, r);
    s->waiting = 0;
}

/* Make room for another change. */
static Change next_change(Choice *s) {
    if (s->waiting == WAITING) settle(s);
    return change_of(s, s->waiting);
}

/* Empty a place; its change is pending. */
static void drop(Choice *s, int64_t place) {
    Change change = next_change(s);
    const double length = sqrt(s->H[place * s->size + place]);
    for (int p = 0; p <= s->depth; p++) {
        if (s->seated[place] == s->members[place])
            memcpy(change.x[p], s->rows[p] + place * s->n, s->n * sizeof(double));
        else
            memset(change.x[p], 0, s->n * sizeof(double));
    }
    change_row_by_all(s, place, change.x);
    for (int p = 0; p <= s->depth; p++) scale(change.x[p], 1 / length, s->n);
    s->volume += 2 * log(length);
    *change.sign = 1.0;
    for (int64_t r = 0; r < s->size; r++) change.t[r] = -s->H[place * s->size + r] / length;
    change_diagonals(s, &change);
    s->swollen = larger(s->swollen, sum_of(s->diagonals[0], s->n));
    change_inverse(s, &change);
    if (s->m) drop_from_R(s, place, change.x[0], change.t);
    for (int64_t r = 0; r < s->size; r++)
        s->H[place * s->size + r] = s->H[r * s->size + place] = 0.0;
    change.t[place] = 0.0;
    if (s->state[s->members[place]] == CLOSED) s->state[s->members[place]] = OPEN;
    s->members[place] = -1;
    s->waiting++;
    s->since[place] = s->waiting;
}

/* W_rj with the pending changes. */
static double entry_of_W(const Choice *s, int64_t r, int64_t j) {
    if (s->members[r] < 0) return 0.0;
    double entry = s->seated[r] == s->members[r] ? s->rows[0][r * s->n + j] : 0.0;
    for (int64_t i = s->since[r]; i < s->waiting; i++) {
        const Change change = change_of(s, i);
        entry += change.t[r] * change.x[0][j];
    }
    return entry;
}

/* Put j at a free place; `columns` holds its columns. The change is pending. */
static void add(Choice *s, int64_t j, int64_t place) {
    const int64_t n = s->n;
    double *u = column_of(s, 0);
    const double c = larger(larger(u[j], s->floor[j]), TINY);
    const double pivot = s->noise ? larger(larger(u[j] + s->noise[j], s->floor[j]), TINY) : c;
    const double length = sqrt(pivot);
    s->drift = larger(s->drift, fabs(s->diagonals[0][j] / c - 1));
    if (s->depth && !s->omega) {
        const double square = larger(dot(u, u, n), c * c);
        s->drift = larger(s->drift, fabs(s->diagonals[1][j] / square - 1));
    } else if (s->depth) { /* little of a target may be along a candidate */
        const double square = larger(inner(s, u, u), TINY);
        const double beyond = fabs(s->diagonals[1][j] - square) - s->errors[1][j];
        s->drift = larger(s->drift, larger(beyond, 0.0) / square);
    }
    s->volume += log(pivot);
    s->age++;
    Change change = next_change(s);
    *change.sign = -1.0;
    for (int64_t r = 0; r < s->size; r++) change.t[r] = -entry_of_W(s, r, j) / length;
    change.t[place] = 1 / length;
    for (int p = 0; p <= s->depth; p++) {
        memcpy(change.x[p], column_of(s, p), n * sizeof(double));
        scale(change.x[p], 1 / length, n);
    }
    change_diagonals(s, &change);
    change_inverse(s, &change);
    if (s->m) add_to_R(s, j, place, change.t);
    const double nothing[3] = {0.0, 0.0, 0.0};
    if (noise_of(s, j) == 0) correct(s, j, nothing);
    s->members[place] = j;
    if (!s->repeats) s->state[j] = CLOSED;
    s->since[place] = s->waiting;
    s->waiting++;
}
