/* Searches on a stored K, or on few rows X, in float64: the arithmetic of exchange.py and pairs.py.

   NumPy passes over the rows W, CW (and C²W) some twenty times for a swap. Here a swap reads them
   twice: once for a column of C, once to change the rows and compare all pairs for the next swap.
   Letters are those of exchange.py. */

#include "pairs.h"

/* A hash of these sources: `_library.py` looks for it in the library before it loads it. */
#ifndef SOURCE_HASH
#define SOURCE_HASH ""
#endif
const char source_hash[] = SOURCE_HASH;

/* Whether drops and additions have made the diagonals inaccurate by cancellation. */
static void measure(Choice *s) {
    const double left = larger(sum_of(s->diagonals[0], s->n), TINY);
    const double ratio = s->swollen / left < 1e50 ? s->swollen / left : 1e50;
    if (s->unit * pow(ratio, s->depth + 1) > LOST) s->drift = INFINITY;
}

/* Make the best swap while one lowers the error, at most `limit`; returns how many were made. */
int64_t descend(Choice *s, int64_t limit) {
    int64_t made = 0;
    int checks = 0;
    while (made < limit && checks < CHECKS && s->drift <= DISASTER) {
        const Best best = look(s);
        const double error = error_of(s);
        if (!(2 * best.half > least_gain(s, error, 0.0)) || s->drift > DISASTER) break;
        const int64_t j = best_candidate(s, best.place);
        double size;
        if (j < 0) break;
        columns(s, j);
        checks++;
        const double gain = confirmed_gain(s, best.place, j, &size);
        if (!(gain > least_gain(s, error, size))) continue;
        drop(s, best.place);
        const Change change = change_of(s, 0);
        double *x[3] = {column_of(s, 0), column_of(s, 1), column_of(s, 2)};
        change_column(s, &change, x, j);
        add(s, j, best.place);
        measure(s);
        checks = 0;
        made++;
    }
    settle(s);
    return made;
}

/* The open candidate with the largest lower bound of its gain, -1 if none gains. NumPy's
   `best_addition` also computes doubtful gains from C itself. That is not needed here, where swaps
   follow or only the order matters. */
static int64_t best_addition(Choice *s) {
    bound_diagonals(s);
    const double *c = s->diagonals[0], *A = bounded_of(s, 1), *B = bounded_of(s, 2);
    int64_t found = -1;
    double most = s->depth ? 0.0 : -INFINITY;
    for (int64_t i = 0; i < s->n; i++) {
        if (s->state[i] != OPEN || c[i] + noise_of(s, i) <= s->floor[i]) continue;
        const double pivot = c[i] + noise_of(s, i), ratio = s->depth ? A[i] / pivot : log(pivot);
        const double gain = s->depth < 2 ? ratio : 2 * B[i] / pivot - ratio * ratio;
        if (gain > most) {
            most = gain;
            found = i;
        }
    }
    return found;
}

/* Fill the free places greedily; returns 1 when all are filled. */
int64_t fill(Choice *s) {
    int64_t filled = 1;
    for (int64_t place = 0; place < s->size; place++) {
        if (s->members[place] >= 0) continue;
        const int64_t j = best_addition(s);
        filled = j >= 0;
        if (!filled) break;
        columns(s, j);
        add(s, j, place);
    }
    if (filled) measure(s);
    settle(s);
    return filled;
}

/* How far each member explains the columns of the one at a place: |cos| of the rows of W. */
static void resemblance(const Choice *s, int64_t place, double *alike) {
    const double *row = s->rows[0] + place * s->n;
    for (int64_t r = 0; r < s->size; r++) {
        const double *other = s->rows[0] + r * s->n;
        const double length = sqrt(larger(dot(other, other, s->n), TINY));
        alike[r] = s->locked[r] || s->members[r] < 0 ? -1.0 : fabs(dot(row, other, s->n)) / length;
    }
    alike[place] = INFINITY;
}

/* Drop the member at a place and those most similar to it, refill their places with others, and
   descend. Returns the number of swaps, or -1 if a place stays free. */
int64_t disturb(Choice *s, int64_t place, int64_t count, int64_t limit) {
    double *alike = alike_of(s);
    resemblance(s, place, alike);
    for (int64_t i = 0; i < count; i++) {
        int64_t next = 0;
        for (int64_t r = 1; r < s->size; r++)
            if (alike[r] > alike[next]) next = r;
        alike[next] = -2.0;
        if (lost_digits(s, next)) break;
        s->state[s->members[next]] = BANNED;
        drop(s, next);
    }
    const int64_t filled = fill(s);
    for (int64_t i = 0; i < s->n; i++)
        if (s->state[i] == BANNED) s->state[i] = OPEN;
    return filled ? descend(s, limit) : -1;
}
