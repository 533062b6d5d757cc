/* The gain of each swap: see pairs.py. */

#pragma once

#include "changes.h"

/* Lower bounds of the diagonals, and a loss for every candidate that is not open. */
WIDE static void bound_diagonals(Choice *s) {
    const int64_t n = s->n;
    const double *restrict c = s->diagonals[0], *restrict A = s->diagonals[1];
    const double *restrict doubt = s->errors[1], *restrict divisor = s->divisor;
    const uint8_t *restrict state = s->state;
    double *restrict c_out = bounded_of(s, 0), *restrict A_out = bounded_of(s, 1);
    const double worst = -1e3 * n * s->largest * s->largest, largest = s->largest;
    const double side = s->powers == 1 ? -1.0 : 1.0, none = s->powers == 1 ? worst : 0.0;
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        const double least = c[i] > divisor[i] ? c[i] : divisor[i];
        const double known = A[i] + side * doubt[i], square = least * least;
        c_out[i] = state[i] == OPEN ? least : largest;
        A_out[i] = state[i] == OPEN ? (known > square ? known : square) : none;
    }
    if (s->powers == 1) return;
    const double *restrict B = s->diagonals[2], *restrict doubts = s->errors[2];
    double *restrict B_out = bounded_of(s, 2);
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        const double least = A[i] * A[i] / c_out[i], known = B[i] - doubts[i];
        B_out[i] = state[i] == OPEN ? (known > least ? known : least) : worst * n * largest;
    }
}

/* Half of the gain of each pair of a place, see `Pairs`; a loss if the other members represent the
   candidate. Returns the largest, and the first index that has it. */
WIDE static double best_of_row(const Choice *s, int64_t place, double *restrict halves) {
    const int64_t n = s->n;
    const double *restrict w = s->rows[0] + place * n, *restrict y = s->rows[1] + place * n;
    const double *restrict c = bounded_of(s, 0), *restrict A = bounded_of(s, 1);
    const double *restrict divisor = s->divisor;
    const double g = s->H[place * s->size + place], gd = dot(w, w, n);
    double most = -1.0;
    if (s->powers == 1) {
#pragma omp simd reduction(max : most)
        for (int64_t i = 0; i < n; i++) {
            const double pivot = g * c[i] + w[i] * w[i];
            const double trace = (w[i] * y[i] + 0.5 * (g * A[i] - gd * c[i])) / pivot;
            const double half = pivot <= 2 * g * divisor[i] ? -1.0 : trace;
            halves[i] = half;
            most = most > half ? most : half;
        }
        return most;
    }
    const double *restrict z = s->rows[2] + place * n, *restrict B = bounded_of(s, 2);
    const double ge = dot(w, y, n);
#pragma omp simd reduction(max : most)
    for (int64_t i = 0; i < n; i++) {
        const double pivot = g * c[i] + w[i] * w[i], one = 1 / pivot;
        const double trace = (w[i] * y[i] + 0.5 * (g * A[i] - gd * c[i])) * one;
        const double terms = 2 * w[i] * z[i] + y[i] * y[i] + g * B[i] - gd * A[i] - ge * c[i];
        const double both = terms * one - 2 * trace * trace;
        const double half = pivot <= 2 * g * divisor[i] ? -1.0 : both;
        halves[i] = half;
        most = most > half ? most : half;
    }
    return most;
}

/* Whether the inverse of K_SS is too inaccurate at a place: the state must be recomputed. */
static int lost_digits(Choice *s, int64_t place) {
    if (s->H[place * s->size + place] > 0) return 0;
    s->drift = INFINITY;
    return 1;
}

/* Apply the pending changes, and compare all pairs. */
static Best look(Choice *s) {
    Best best = {-1, -1.0};
    bound_diagonals(s);
    for (int64_t r = 0; r < s->size; r++) {
        settle_row(s, r);
        if (s->members[r] < 0 || s->locked[r]) continue;
        if (lost_digits(s, r)) continue;
        const double half = best_of_row(s, r, at_members_of(s));
        if (half > best.half) {
            best.half = half;
            best.place = r;
        }
    }
    s->waiting = 0;
    return best;
}

/* The candidate of the best pair of a place. */
static int64_t best_candidate(const Choice *s, int64_t place) {
    double *halves = at_members_of(s);
    const double most = best_of_row(s, place, halves);
    for (int64_t i = 0; i < s->n; i++)
        if (halves[i] == most) return i;
    return -1;
}

/* The gain from the columns of C itself: `confirmed_gain`. Corrects the state with the result. */
static double confirmed_gain(Choice *s, int64_t place, int64_t j, double *size) {
    const int64_t n = s->n;
    const double *u = column_of(s, 0), *v = column_of(s, 1);
    double *w = s->rows[0] + place * n, *y = s->rows[1] + place * n;
    const double g = s->H[place * s->size + place], p = w[j];
    const double c = larger(u[j], 0.0), A = dot(u, u, n);
    const double values[3] = {c, A, s->powers == 2 ? dot(u, v, n) : 0.0};
    correct(s, j, values);
    const double along = dot(w, u, n), d = dot(w, w, n) / g, pivot = c + p * p / g;
    *size = 0.0;
    if (pivot <= 0) return 0.0; /* the other members represent j */
    s->drift = larger(s->drift, fabs(y[j] - along) / larger(sqrt(d * g * A), TINY));
    y[j] = along;
    const double gain = (A + 2 * p * along / g - d * c) / pivot;
    *size = (A + fabs(2 * p * along / g) + d * c) / pivot;
    if (s->powers == 1) return gain;
    const double further = dot(w, v, n), e = dot(w, y, n) / g;
    s->rows[2][place * n + j] = further;
    const double terms[5] = {values[2], 2 * p * further / g, along * along / g, -d * A, -e * c};
    double sum = 0.0, sizes = 0.0;
    for (int i = 0; i < 5; i++) {
        sum += terms[i];
        sizes += fabs(terms[i]);
    }
    *size = 2 * sizes / pivot + *size * *size;
    return 2 * sum / pivot - gain * gain;
}
