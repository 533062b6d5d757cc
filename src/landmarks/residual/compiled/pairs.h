/* The gain of each swap: see pairs.py. */

#pragma once

#include "changes.h"

/* Lower bounds of the pivots and diagonals, and a loss for every candidate that is not open. */
WIDE static void bound_diagonals(Choice *s) {
    const int64_t n = s->n;
    const double *restrict diagonal = s->diagonals[0], *restrict divisor = s->divisor;
    const double *restrict noise = s->noise, *restrict omega = s->omega;
    const uint8_t *restrict state = s->state;
    double *restrict c = bounded_of(s, 0), *restrict own = at_members_of(s);
    const double largest = s->largest;
    for (int64_t i = 0; i < n; i++) {
        const double pivot = noise ? diagonal[i] + noise[i] : diagonal[i];
        const double least = pivot > divisor[i] ? pivot : divisor[i];
        c[i] = state[i] == OPEN ? least : largest;
        own[i] = noise ? larger(diagonal[i], 0.0) : least;
    }
    if (s->depth == 0) return;
    const double *restrict A = s->diagonals[1], *restrict doubt = s->errors[1];
    double *restrict A_out = bounded_of(s, 1);
    const double worst = -1e3 * n * largest * largest * s->heaviest;
    const double side = s->depth == 1 ? -1.0 : 1.0, none = s->depth == 1 ? worst : 0.0;
    for (int64_t i = 0; i < n; i++) {
        const double known = A[i] + side * doubt[i];
        const double square = (omega ? omega[i] : 1.0) * own[i] * own[i];
        A_out[i] = state[i] == OPEN ? (known > square ? known : square) : none;
    }
    if (s->depth == 1) return;
    const double *restrict B = s->diagonals[2], *restrict doubts = s->errors[2];
    double *restrict B_out = bounded_of(s, 2);
    for (int64_t i = 0; i < n; i++) {
        const double least = own[i] > 0 ? A[i] * A[i] / own[i] : 0.0, known = B[i] - doubts[i];
        const double closed = worst * n * largest * s->heaviest;
        B_out[i] = state[i] == OPEN ? (known > least ? known : least) : closed;
    }
}

/* Half of log(g s_i + w_i²), by which an exchange raises the log determinant. */
static double best_volume(const Choice *s, const double *w, double g, double *halves) {
    const double *c = bounded_of(s, 0);
    double most = -INFINITY;
    for (int64_t i = 0; i < s->n; i++) {
        const double pivot = g * c[i] + w[i] * w[i];
        const int closed = s->state[i] != OPEN || pivot <= 2 * g * s->divisor[i];
        halves[i] = closed ? -INFINITY : 0.5 * log(pivot);
        most = larger(most, halves[i]);
    }
    return most;
}

/* Half of the gain of each pair of a place, see `Pairs`; a loss if the other members represent the
   candidate. Returns the largest, and the first index that has it. */
WIDE static double best_of_row(const Choice *s, int64_t place, double *restrict halves) {
    const int64_t n = s->n;
    const double *restrict w = s->rows[0] + place * n;
    const double *restrict c = bounded_of(s, 0), *restrict A = bounded_of(s, 1);
    const double *restrict divisor = s->divisor;
    const double g = s->H[place * s->size + place];
    if (s->depth == 0) return best_volume(s, w, g, halves);
    const double *restrict y = s->rows[1] + place * n;
    const double gd = inner(s, w, w);
    double most = -1.0;
    if (s->depth == 1) {
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
    const double ge = inner(s, w, y);
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
    Best best = {-1, s->depth ? -1.0 : -INFINITY};
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
    const double *u = column_of(s, 0), *v = column_of(s, 1), *w = s->rows[0] + place * n;
    const double g = s->H[place * s->size + place], p = w[j];
    const double c = larger(u[j], 0.0), pivot = c + noise_of(s, j) + p * p / g;
    const double A = s->depth ? inner(s, u, u) : 0.0;
    const double values[3] = {c, A, s->depth == 2 ? inner(s, u, v) : 0.0};
    correct(s, j, values);
    *size = 0.0;
    if (pivot <= 0) return s->depth ? 0.0 : -INFINITY; /* the other members represent j */
    if (!s->depth) {
        *size = fabs(log(pivot)) + fabs(log(g));
        return log(g * pivot);
    }
    double *y = s->rows[1] + place * n;
    const double along = inner(s, w, u), d = inner(s, w, w) / g, fresh = c + noise_of(s, j);
    const double doubt = s->omega ? s->errors[1][j] : 0.0; /* little of a target may be left */
    s->drift = larger(s->drift, fabs(y[j] - along) / larger(sqrt(d * g * (A + doubt)), TINY));
    y[j] = along;
    const double gain = (A + 2 * p * along / g - d * fresh) / pivot;
    *size = (A + fabs(2 * p * along / g) + d * fresh) / pivot;
    if (s->depth == 1) return gain;
    const double further = inner(s, w, v), e = inner(s, w, y) / g;
    s->rows[2][place * n + j] = further;
    const double terms[5] = {values[2], 2 * p * further / g, along * along / g, -d * A, -e * fresh};
    double sum = 0.0, sizes = 0.0;
    for (int i = 0; i < 5; i++) {
        sum += terms[i];
        sizes += fabs(terms[i]);
    }
    *size = 2 * sizes / pivot + *size * *size;
    return 2 * sum / pivot - gain * gain;
}
