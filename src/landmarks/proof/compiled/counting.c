/* Counts all choices of some units and lists those that may be the best: see counting.py.

   A node of the walk holds C, Q = CΩC (and R = CΩCΩC) of the candidates that may follow its picks.
   The last two picks are no nodes: a pair i, j gains tr C_JJ⁻¹Q_JJ, or 2 tr C_JJ⁻¹R_JJ −
   tr (C_JJ⁻¹Q_JJ)², or log det C_JJ, so all pairs of a node cost as much as its update. A unit of
   several columns is picked column by column.

   Bounds: c more columns gain at most `sums[c]`, from the eigenvalues of C_TT^{−½}Q_TT C_TT^{−½} of
   the candidates T of this node or of one above: to pick a candidate is to leave a direction out,
   which raises no eigenvalue. A candidate whose gain and what the others may gain are not enough is
   left out.

   Rounding: C_ij is right to S_i S_j. As C = VᵀKV for the coefficients V of the picks, a pick j with
   the coefficients β turns S_i into at most S_i + |β_i| S_j (conditioned.py). A gain at the pivot s_j
   is right to 40 λ e_j, e_j = S_j²/s_j, with λ the most that one pick can gain (node.py). A node in
   which rounding hides too much is given back, to be computed again from the exact residual. */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifndef SOURCE_HASH
#define SOURCE_HASH ""
#endif
const char source_hash[] = SOURCE_HASH;

#ifndef WIDE
#if defined(__x86_64__) && defined(__GLIBC__)
#define WIDE __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define WIDE
#endif
#endif

static const double CERTAIN = 40.0; /* as in node.py */
static const double ALIKE = 1e-4;   /* of the product of two pivots: a smaller determinant is looked at */
static const double LOST = 1e-3;    /* a relative error of a pivot beyond which a node is given back */
static const double UNKNOWN = 1e3;  /* nats: larger than any doubt */
static const double VAGUE = 1e-2;   /* a relative error beyond which eigenvalues are not used */
static const double DEAR = 0.4;     /* eigenvalues cost so many choices, times the cube of the order */
enum { MANY = 8 };                  /* choices of one pair of nodes beyond which the node is given back */
enum { HALVINGS = 24, BLOCK = 8 }; /* halvings: of the range of eigenvalues, so many at a time */

/* The fields are those of Count in counting.py, in the same order. */
typedef struct {
    int64_t n, r, depth, repeats, tighten, capacity;
    int64_t units, sized, most, laws; /* `most`: columns of the largest unit */
    const double *C, *Q, *R, *noise, *spread; /* spread: S at the root */
    const double *sums;       /* what so many more columns gain at most */
    const int64_t *first;     /* the first column of each unit, and n */
    const double *prices;     /* of each unit, or none */
    const uint8_t *clashes;   /* whether two units cannot both be chosen, or none */
    const int64_t *region;    /* of each unit, a row for each law */
    const int64_t *low, *high; /* of each region: how many must and may be chosen */
    double top;        /* the most that one column can gain */
    double money;      /* what is left for prices */
    double threshold;  /* choices that may gain this much are listed; raised if `tighten` is set, */
    double keep;       /* to so much below what a choice gains for certain */
    int64_t *found;    /* r for each listed choice, numbers of units, −1 after the last */
    double *gains, *margins;
    int64_t *back;     /* nodes given back: how many picks, how many candidates, both of them */
    const volatile int64_t *stop; /* above zero: end at once */
    int64_t backs, listed, choices, given, full;
} Count;

int64_t size_of_count(void) { return sizeof(Count); }

typedef struct {
    int64_t m, n;                /* units and columns of the node */
    int64_t *id, *first;         /* the number of each unit; its first column here */
    double *C, *Q, *R, *s, *e, *q, *S, *g, *noise;
    double *sums, money;
} Node;

typedef struct {
    Count *count;
    int64_t picks[65];
    int64_t *counts;             /* how many of each region are picked */
    int64_t regions, columns;    /* columns: of the largest choice */
    Node levels[66];
    double *memory, *work;
    int64_t *order;
} Walk;

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

static void count_region(const Walk *w, int64_t unit, int64_t by) {
    const Count *t = w->count;
    for (int64_t law = 0; law < t->laws; law++) w->counts[t->region[law * t->units + unit]] += by;
}

/* Whether a unit may be added to the picks with so much money, the last of which is `picked`. */
static int addable(const Walk *w, int64_t unit, double money, int64_t picked) {
    const Count *t = w->count;
    if (t->prices && t->prices[unit] > money) return 0;
    if (t->clashes && t->clashes[picked * t->units + unit]) return 0;
    for (int64_t law = 0; law < t->laws; law++) {
        const int64_t region = t->region[law * t->units + unit];
        if (w->counts[region] >= t->high[region]) return 0;
    }
    return 1;
}

/* Whether the picks and those of `more` that are not negative keep all limits. */
static int complete(const Walk *w, int64_t level, int64_t i, int64_t j) {
    const Count *t = w->count;
    const int64_t size = level + (i >= 0) + (j >= 0);
    if (t->sized && size != t->r) return 0;
    if (size > t->r) return 0;
    if (t->clashes && i >= 0 && j >= 0 && t->clashes[i * t->units + j]) return 0;
    if (t->prices && i >= 0) {
        const double price = t->prices[i] + (j >= 0 ? t->prices[j] : 0.0);
        if (price > w->levels[level].money) return 0;
    }
    if (i >= 0) count_region(w, i, 1);
    if (j >= 0) count_region(w, j, 1);
    int fine = 1;
    for (int64_t l = 0; l < w->regions; l++)
        if (w->counts[l] < t->low[l] || w->counts[l] > t->high[l]) fine = 0;
    if (i >= 0) count_region(w, i, -1);
    if (j >= 0) count_region(w, j, -1);
    return fine;
}

static void list(Walk *w, int64_t level, int64_t i, int64_t j, double gain, double margin) {
    Count *t = w->count;
    if (gain + margin < t->threshold || !complete(w, level, i, j)) return;
    const double certain = gain - margin - t->keep;
    if (t->tighten && certain > t->threshold) t->threshold = certain;
    if (t->listed == t->capacity && t->tighten) { /* forget those that fell behind */
        int64_t kept = 0;
        for (int64_t c = 0; c < t->listed; c++) {
            if (t->gains[c] + t->margins[c] < t->threshold) continue;
            memmove(t->found + kept * t->r, t->found + c * t->r, t->r * sizeof(int64_t));
            t->gains[kept] = t->gains[c];
            t->margins[kept++] = t->margins[c];
        }
        t->listed = kept;
    }
    if (t->listed == t->capacity) {
        t->full = 1;
        return;
    }
    int64_t *row = t->found + t->listed * t->r;
    for (int64_t l = 0; l < t->r; l++) row[l] = l < level ? w->picks[l] : -1;
    if (i >= 0) row[level++] = i;
    if (j >= 0) row[level] = j;
    t->gains[t->listed] = gain;
    t->margins[t->listed++] = margin;
}

/* Give a node back: what comes after the picks, and after unit `place` if that is not negative. */
static void give_back(Walk *w, const Node *d, int64_t level, int64_t place) {
    Count *t = w->count;
    if (t->given == t->backs) {
        t->full = 1;
        return;
    }
    int64_t *row = t->back + t->given++ * (2 + t->r + t->units);
    const int64_t from = place < 0 ? 0 : place + !t->repeats;
    row[0] = level + (place >= 0);
    row[1] = d->m - from;
    memcpy(row + 2, w->picks, level * sizeof(int64_t));
    if (place >= 0) row[2 + level] = d->id[place];
    memcpy(row + 2 + row[0], d->id + from, row[1] * sizeof(int64_t));
}

static double own_gain(const Count *t, const Node *d, int64_t j) {
    if (t->depth == 0) return log(d->s[j]);
    const double gain = d->q[j] / d->s[j];
    return t->depth == 1 ? gain : 2 * d->R[j * d->n + j] / d->s[j] - gain * gain;
}

/* The gain of a pair: s_i, s_j the pivots, the others entries of C, Q and R. */
static double pair_gain(const Count *t, double si, double sj, double c, double det, double qi,
                        double qj, double q, double ri, double rj, double r) {
    if (t->depth == 0) return log(det);
    if (t->depth == 1) return (sj * qi + si * qj - 2 * c * q) / det;
    const double a = (sj * qi - c * q) / det, b = (sj * q - c * qj) / det;
    const double d = (si * q - c * qi) / det, e = (si * qj - c * q) / det;
    return 2 * (sj * ri + si * rj - 2 * c * r) / det - (a * a + 2 * b * d + e * e);
}

/* The largest of what decides whether a pair of row i may be listed; above zero if one may. Nothing
   is divided: a gain is compared times the determinant. */
WIDE static double best_of_row(const Count *t, const Node *d, int64_t i, int64_t from, double needed,
                               double spread) {
    const int64_t n = d->n;
    const double *restrict C = d->C + i * n, *restrict Q = d->Q + i * n, *restrict s = d->s;
    const double *restrict q = d->q, *restrict e = d->e;
    const double si = s[i], qi = t->depth ? q[i] : 0.0;
    double most = -INFINITY;
    if (t->depth == 0) {
        const double wanted = exp(needed);
#pragma omp simd reduction(max : most)
        for (int64_t j = from; j < n; j++) {
            const double c = C[j], whole = si * s[j], det = whole - c * c;
            const double over = det * (1 + 2 * spread * e[j]) - wanted;
            const double alike = det <= ALIKE * whole ? 1.0 : over;
            most = most > alike ? most : alike;
        }
        return most;
    }
    if (t->depth == 1) {
#pragma omp simd reduction(max : most)
        for (int64_t j = from; j < n; j++) {
            const double c = C[j], whole = si * s[j], det = whole - c * c;
            const double number = s[j] * qi + si * q[j] - 2 * c * Q[j];
            const double over = number - det * (needed - spread * e[j]);
            const double alike = det <= ALIKE * whole ? 1.0 : over;
            most = most > alike ? most : alike;
        }
        return most;
    }
    const double *restrict R = d->R + i * n, ri = R[i];
#pragma omp simd reduction(max : most)
    for (int64_t j = from; j < n; j++) {
        const double c = C[j], whole = si * s[j], det = whole - c * c, rj = d->R[j * n + j];
        const double x = s[j] * qi - c * Q[j], y = s[j] * Q[j] - c * q[j];
        const double z = si * Q[j] - c * qi, w = si * q[j] - c * Q[j];
        const double third = s[j] * ri + si * rj - 2 * c * R[j];
        const double number = 2 * third * det - (x * x + 2 * y * z + w * w);
        const double over = number - det * det * (needed - spread * e[j]);
        const double alike = det <= ALIKE * whole ? 1.0 : over;
        most = most > alike ? most : alike;
    }
    return most;
}

/* The most that a column gains whose pivot may be rounding; of a log determinant it is little. */
static double at_most(const Count *t, double s, double S) {
    return t->depth ? INFINITY : log(fmax(s, 0.0) + S * S);
}

/* List a pair of which rounding hides how much it gains beyond `value`: at most `more`. */
static void doubtful(Walk *w, const Node *d, int64_t level, int64_t i, int64_t j, double value,
                     double margin, double more) {
    if (value + margin + more < w->count->threshold) return;
    if (w->count->depth) list(w, level, d->id[i], d->id[j], value, margin + more);
    else list(w, level, d->id[i], d->id[j], value + more - UNKNOWN, margin + UNKNOWN);
}

static void last_two(Walk *w, const Node *d, int64_t level, double value, double margin) {
    Count *t = w->count;
    const int64_t n = d->n, before = t->listed;
    const double unit = CERTAIN * (t->depth ? t->top : 1.0), one = d->sums[1], two = d->sums[2];
    /* of a pair with a determinant that is not small, e is at most 2 (e_i + e_j)/ALIKE */
    const double spread = 2 * unit / ALIKE;
    for (int64_t i = 0; i < n; i++) {
        const int64_t from = t->repeats ? i : i + 1;
        t->choices += n - from;
        const double own = unit * d->e[i];
        if (!(d->e[i] < LOST)) { /* its pivot may be rounding: it may gain anything */
            const double lost = fmin(one, at_most(t, d->s[i], d->S[i]));
            for (int64_t j = from; j < n; j++) {
                const double sure = d->e[j] < LOST && t->depth ? d->g[j] + unit * d->e[j] : one;
                doubtful(w, d, level, i, j, value, margin, fmin(sure + lost, two));
            }
        } else if (value + margin + own + d->g[i] + one >= t->threshold) {
            const double needed = t->threshold - value - margin - own - spread * d->e[i];
            if (!(best_of_row(t, d, i, from, needed, spread) > 0)) continue;
            for (int64_t j = from; j < n; j++) {
                const double c = d->C[i * n + j], si = d->s[i], sj = d->s[j];
                const double whole = si * sj, det = whole - c * c;
                const double S = d->S[j] + fabs(c) / si * d->S[i], share = S * S * si / det;
                if (!(det > 0) || !(share < LOST)) {
                    const double more = d->g[i] + own + fmin(one, at_most(t, det / si, S));
                    doubtful(w, d, level, i, j, value, margin, fmin(more, two));
                    continue;
                }
                const int deep = t->depth == 2;
                const double q = t->depth ? d->Q[i * n + j] : 0.0, r = deep ? d->R[i * n + j] : 0.0;
                const double gain =
                    pair_gain(t, si, sj, c, det, t->depth ? d->q[i] : 0.0, t->depth ? d->q[j] : 0.0,
                              q, deep ? d->R[i * n + i] : 0.0, deep ? d->R[j * n + j] : 0.0, r);
                const double doubt = margin + own + unit * share;
                if (value + gain + doubt >= t->threshold)
                    list(w, level, d->id[i], d->id[j], value + gain, doubt);
            }
        }
        if (level > 0 && t->tighten && t->listed > before + MANY) {
            t->listed = before;
            give_back(w, d, level, -1);
            return;
        }
    }
}

/* What the columns of a node from `skip` on become after column a: pivots s, growth of rounding S,
   e, diagonal q and gain g. Columns that follow a stand in its row. */
WIDE static void diagonal_after(const Count *t, const Node *d, int64_t a, int64_t skip,
                                double *restrict s, double *restrict S, double *restrict e,
                                double *restrict q, double *restrict g) {
    const int64_t n = d->n;
    const double *restrict u = d->C + a * n, *restrict v = d->Q + a * n, *restrict y = d->R + a * n;
    const double p = d->s[a], grown = d->S[a] / p, own = t->depth ? d->q[a] / p : 0.0;
#pragma omp simd
    for (int64_t j = skip; j < n; j++) {
        s[j] = d->s[j] - u[j] * u[j] / p;
        S[j] = d->S[j] + fabs(u[j]) * grown;
        e[j] = s[j] > 0 ? S[j] * S[j] / s[j] : INFINITY;
    }
    if (t->depth == 0) {
        for (int64_t j = skip; j < n; j++) g[j] = s[j] > 0 ? log(s[j]) : -INFINITY, q[j] = 0;
        return;
    }
#pragma omp simd
    for (int64_t j = skip; j < n; j++) {
        const double beta = u[j] / p;
        q[j] = d->q[j] - 2 * beta * v[j] + own * beta * u[j];
        g[j] = s[j] > 0 ? q[j] / s[j] : 0.0;
    }
    if (t->depth == 1) return;
    const double half = 0.5 * (d->R[a * n + a] / p - own * own);
    for (int64_t j = skip; j < n; j++) {
        const double z = (y[j] - own * v[j] - half * u[j]) / p;
        const double r = d->R[j * n + j] - v[j] * v[j] / p - 2 * u[j] * z;
        g[j] = s[j] > 0 ? 2 * r / s[j] - g[j] * g[j] : 0.0;
    }
}

static double entry(const double *A, int64_t n, int64_t i, int64_t j) {
    return i <= j ? A[i * n + j] : A[j * n + i];
}

/* Fill the entries of a node after column a of another one, from vectors that are in its order. */
WIDE static void fill(const Count *t, const Node *d, int64_t a, const int64_t *column, int in_order,
                      const double *restrict u, const double *restrict v, const double *restrict y,
                      Node *e) {
    const int64_t m = e->n, n = d->n;
    const double s = d->s[a], q = t->depth ? d->q[a] / s : 0.0;
    const double third = t->depth == 2 ? d->R[a * n + a] / s : 0.0, half = 0.5 * (third - q * q);
    for (int64_t i = 0; i < m; i++) {
        const int64_t row = column[i];
        double *restrict C = e->C + i * m, *restrict Q = e->Q + i * m, *restrict R = e->R + i * m;
        if (in_order == 2) { /* all that follow: no gathering */
            const int64_t from = row * n + row - i;
            memcpy(C + i, d->C + from + i, (m - i) * sizeof(double));
            if (t->depth) memcpy(Q + i, d->Q + from + i, (m - i) * sizeof(double));
            if (t->depth == 2) memcpy(R + i, d->R + from + i, (m - i) * sizeof(double));
        } else if (in_order) {
            for (int64_t l = i; l < m; l++) C[l] = d->C[row * n + column[l]];
            if (t->depth)
                for (int64_t l = i; l < m; l++) Q[l] = d->Q[row * n + column[l]];
            if (t->depth == 2)
                for (int64_t l = i; l < m; l++) R[l] = d->R[row * n + column[l]];
        } else {
            for (int64_t l = i; l < m; l++) C[l] = entry(d->C, n, row, column[l]);
            if (t->depth)
                for (int64_t l = i; l < m; l++) Q[l] = entry(d->Q, n, row, column[l]);
            if (t->depth == 2)
                for (int64_t l = i; l < m; l++) R[l] = entry(d->R, n, row, column[l]);
        }
        const double b = u[i] / s, c = t->depth ? q * b - v[i] / s : 0.0;
#pragma omp simd
        for (int64_t l = i; l < m; l++) C[l] -= b * u[l];
        if (t->depth) {
#pragma omp simd
            for (int64_t l = i; l < m; l++) Q[l] += c * u[l] - b * v[l];
        }
        if (t->depth == 2) {
            /* R − x xᵀ − v zᵀ − z vᵀ, z = y − ‖v‖² x − ½(vᵀΩCΩv − ‖v‖⁴) v, all over √s */
            const double x = v[i] / s, z = (y[i] - q * v[i] - half * u[i]) / s;
#pragma omp simd
            for (int64_t l = i; l < m; l++)
                R[l] -= x * v[l] + b * (y[l] - q * v[l] - half * u[l]) + z * u[l];
        }
    }
}

/* Sort places by their gains, the largest first; equal ones stay in order. */
static void sort(int64_t *places, const double *g, int64_t count) {
    for (int64_t i = 1; i < count; i++) {
        const int64_t place = places[i];
        int64_t l = i;
        for (; l > 0 && g[places[l - 1]] < g[place]; l--) places[l] = places[l - 1];
        places[l] = place;
    }
}

/* The node after unit `place` of a node of single columns: those that may still matter, ordered by
   their gains unless only pairs follow. */
static void after(Walk *w, const Node *d, int64_t place, int64_t left, double value, double margin,
                  Node *e) {
    Count *t = w->count;
    const int64_t n = d->n, skip = t->repeats ? place : place + 1;
    const double *u = d->C + place * n, *v = d->Q + place * n, *y = d->R + place * n;
    double *s = w->work, *S = s + n, *h = S + n, *q = h + n, *g = q + n;
    int64_t m = 0, *kept = w->order;
    const double unit = CERTAIN * (t->depth ? t->top : 1.0), rest = e->sums[left - 1];
    diagonal_after(t, d, place, skip, s, S, h, q, g);
    for (int64_t j = skip; j < n; j++) {
        if (!addable(w, d->id[j], e->money, d->id[place])) continue;
        if (h[j] < LOST) {
            if (value + margin + g[j] + unit * h[j] + rest < t->threshold) continue;
        } else {
            const double most = fmin(e->sums[left], at_most(t, s[j], S[j]) + rest);
            if (value + margin + most < t->threshold) continue;
        }
        kept[m++] = j;
    }
    int in_order = 1;
    if (left > 2) {
        sort(kept, g, m);
        in_order = 0;
    } else if (4 * m > 3 * (n - skip) && !t->clashes && !t->laws && !t->prices) {
        m = n - skip; /* nearly all: no gathering */
        for (int64_t j = 0; j < m; j++) kept[j] = skip + j;
        in_order = 2;
    }
    e->n = e->m = m;
    for (int64_t i = 0; i < m; i++) {
        const int64_t j = kept[i];
        e->id[i] = d->id[j], e->s[i] = s[j], e->S[i] = S[j], e->e[i] = h[j], e->q[i] = q[j];
        e->g[i] = g[j], e->noise[i] = d->noise[j];
    }
    if (m == 0) return;
    double *uu = g + n, *vv = uu + n, *yy = vv + n;
    for (int64_t i = 0; i < m; i++) {
        uu[i] = u[kept[i]];
        if (t->depth) vv[i] = v[kept[i]];
        if (t->depth == 2) yy[i] = y[kept[i]];
    }
    fill(t, d, place, kept, in_order, uu, vv, yy, e);
}

/* The most of the eigenvalues of C_TT^{−½}Q_TT C_TT^{−½} into the sums of a node; depth 0: of C_TT. */
WIDE static void bounded(Walk *w, Node *d, int64_t columns) {
    const Count *t = w->count;
    const int64_t n = d->n;
    double *restrict L = w->work, *restrict M = L + n * n, *restrict X = M + n * n;
    double *restrict x = X + n * n, *restrict p = x + n;
    double doubt = 0.0, outside = 0.0;
    if (t->depth == 0) {
        for (int64_t i = 0; i < n; i++) {
            for (int64_t j = i; j < n; j++) M[i * n + j] = M[j * n + i] = d->C[i * n + j];
            M[i * n + i] = d->s[i];
            doubt += d->S[i] * d->S[i];
        }
    } else {
        /* L: first the Cholesky factor of P = C + N, by rows, then its inverse */
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j <= i; j++) L[i * n + j] = i == j ? d->s[i] : d->C[j * n + i];
        for (int64_t i = 0; i < n; i++) {
            for (int64_t j = 0; j <= i; j++) {
                double sum = L[i * n + j];
                const double *restrict a = L + i * n, *restrict b = L + j * n;
#pragma omp simd reduction(- : sum)
                for (int64_t l = 0; l < j; l++) sum -= a[l] * b[l];
                if (i > j) L[i * n + j] = sum / L[j * n + j];
                else if (sum > 0) L[i * n + i] = sqrt(sum);
                else return;
            }
        }
        for (int64_t i = 0; i < n; i++) { /* rows of the inverse: e_i − Σ L_il (row l), over L_ii */
            const double own = 1 / L[i * n + i];
            for (int64_t j = 0; j < i; j++) x[j] = 0;
            for (int64_t l = 0; l < i; l++) {
                const double a = L[i * n + l];
                const double *restrict b = M + l * n;
#pragma omp simd
                for (int64_t j = 0; j <= l; j++) x[j] += a * b[j];
            }
            for (int64_t j = 0; j < i; j++) M[i * n + j] = -x[j] * own;
            M[i * n + i] = own;
        }
        memcpy(L, M, n * n * sizeof(double));
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j <= i; j++) {
                const double part = L[i * n + j] * d->S[j];
                doubt += part * part;
            }
        if (!(doubt < VAGUE)) return;
        for (int64_t i = 0; i < n; i++) { /* X = L⁻¹Q up to the diagonal; Q is stored above it */
            double *restrict row = X + i * n;
            const double *restrict own = L + i * n;
            memset(row, 0, (i + 1) * sizeof(double));
            for (int64_t l = 0; l <= i; l++) {
                const double a = own[l], *restrict b = d->Q + l * n;
                double sum = 0;
#pragma omp simd reduction(+ : sum)
                for (int64_t j = l + 1; j <= i; j++) {
                    row[j] += a * b[j];
                    sum += own[j] * b[j];
                }
                row[l] += sum + a * b[l];
            }
        }
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j <= i; j++) {
                double sum = 0;
                const double *restrict a = X + i * n, *restrict b = L + j * n;
#pragma omp simd reduction(+ : sum)
                for (int64_t l = 0; l <= j; l++) sum += a[l] * b[l];
                M[i * n + j] = M[j * n + i] = sum;
            }
        if (t->depth == 2) { /* what all candidates together gain, and Σ μ² */
            for (int64_t i = 0; i < n; i++) {
                double own = 0;
                for (int64_t l = 0; l <= i; l++) {
                    const double *restrict row = d->R + l * n, a = L[i * n + l];
                    double sum = 0.5 * a * row[l];
#pragma omp simd reduction(+ : sum)
                    for (int64_t j = l + 1; j <= i; j++) sum += L[i * n + j] * row[j];
                    own += 2 * a * sum;
                }
                outside += 2 * own;
                for (int64_t j = 0; j < n; j++) outside -= 2 * M[i * n + j] * M[i * n + j];
            }
        }
    }
    /* Householder: M becomes tridiagonal, p the diagonal, x the squares beside it */
    double *restrict diagonal = X, *restrict square = X + n, *restrict h = X + 2 * n;
    for (int64_t a = 0; a < n; a++) {
        diagonal[a] = M[a * n + a];
        square[a] = 0;
        if (a + 1 == n) break;
        double norm = 0;
        const int64_t m = n - a - 1;
        double *restrict c = M + a * n + a + 1;
        for (int64_t i = 0; i < m; i++) norm += c[i] * c[i];
        square[a] = norm;
        if (m == 1 || norm == 0) continue;
        const double beta = c[0] > 0 ? -sqrt(norm) : sqrt(norm), first = c[0] - beta;
        const double scale = 1 / (norm - beta * c[0]); /* H = I − scale h hᵀ */
        for (int64_t i = 0; i < m; i++) h[i] = c[i];
        h[0] = first;
        double inner = 0;
        for (int64_t i = 0; i < m; i++) {
            const double *restrict row = M + (a + 1 + i) * n + a + 1;
            double sum = 0;
#pragma omp simd reduction(+ : sum)
            for (int64_t j = 0; j < m; j++) sum += row[j] * h[j];
            p[i] = scale * sum;
            inner += p[i] * h[i];
        }
        for (int64_t i = 0; i < m; i++) p[i] -= 0.5 * scale * inner * h[i];
        for (int64_t i = 0; i < m; i++) {
            double *restrict row = M + (a + 1 + i) * n + a + 1;
            const double hi = h[i], pi = p[i];
#pragma omp simd
            for (int64_t j = 0; j < m; j++) row[j] -= hi * p[j] + pi * h[j];
        }
    }
    double reach = 0, least = INFINITY; /* of all eigenvalues, by Gershgorin */
    for (int64_t i = 0; i < n; i++) {
        const double beside = sqrt(square[i]) + (i ? sqrt(square[i - 1]) : 0);
        if (diagonal[i] + beside > reach) reach = diagonal[i] + beside;
        if (diagonal[i] - beside < least) least = diagonal[i] - beside;
    }
    const double scale = t->depth == 2 ? sqrt(t->top) : t->top;
    const double error = t->depth ? CERTAIN * scale * doubt + 1e-15 * n * reach : doubt + 1e-15 * n * reach;
    double whole = 0.0;
    for (int64_t from = 1; from <= columns && from <= n; from += BLOCK) {
        double low[BLOCK], high[BLOCK], middle[BLOCK], pivot[BLOCK], above[BLOCK];
        for (int64_t l = 0; l < BLOCK; l++) low[l] = least > 0 ? least : 0.0, high[l] = reach;
        for (int64_t turn = 0; turn < HALVINGS; turn++) { /* how many eigenvalues are above */
            for (int64_t l = 0; l < BLOCK; l++) {
                middle[l] = 0.5 * (low[l] + high[l]);
                pivot[l] = 1.0;
                above[l] = 0.0;
            }
            for (int64_t i = 0; i < n; i++) {
                const double own = diagonal[i], beside = i ? square[i - 1] : 0.0;
#pragma omp simd
                for (int64_t l = 0; l < BLOCK; l++) {
                    const double next = own - middle[l] - beside / pivot[l];
                    pivot[l] = next == 0 ? -1e-300 : next;
                    above[l] += next > 0 ? 1.0 : 0.0;
                }
            }
            for (int64_t l = 0; l < BLOCK; l++) {
                if (above[l] >= (double)(from + l)) low[l] = middle[l];
                else high[l] = middle[l];
            }
        }
        for (int64_t l = 0; l < BLOCK && from + l <= columns && from + l <= n; l++) {
            const double value = high[l] + error;
            if (t->depth == 0) whole += log(value);
            else if (t->depth == 1) whole += fmin(value, t->top);
            else whole += value * value; /* `outside`: all gain together, less all squares */
            double most = whole;
            if (t->depth == 2) most += outside + CERTAIN * t->top * n * (doubt + 1e-15 * n);
            if (most < d->sums[from + l]) d->sums[from + l] = most;
        }
    }
    for (int64_t c = n + 1; c <= columns && t->depth; c++) d->sums[c] = fmin(d->sums[c], d->sums[n]);
    if (!t->sized && t->depth == 0)
        for (int64_t c = 1; c <= columns; c++) d->sums[c] = fmax(d->sums[c], d->sums[c - 1]);
}

/* How many choices of c of n there are, about. */
static double choices(int64_t n, int64_t c) {
    double number = 1;
    for (int64_t i = 0; i < c && number < 1e15; i++) number *= (double)(n - i) / (i + 1);
    return number;
}

/* Pick all columns of a unit, in a node that is changed in place; the gain, or NaN if it is lost. */
static double unit_gain(Walk *w, Node *d, int64_t from, int64_t to, double *margin) {
    const Count *t = w->count;
    const int64_t n = d->n;
    double value = 0.0;
    for (int64_t a = from; a < to; a++) {
        if (!(d->e[a] < LOST)) return NAN;
        value += own_gain(t, d, a);
        *margin += CERTAIN * (t->depth ? t->top : 1.0) * d->e[a];
        const double s = d->s[a], q = t->depth ? d->q[a] / s : 0.0;
        const double half = t->depth == 2 ? 0.5 * (d->R[a * n + a] / s - q * q) : 0.0;
        double *u = w->work, *v = u + n, *z = v + n;
        for (int64_t j = 0; j < n; j++) {
            u[j] = entry(d->C, n, a, j);
            v[j] = t->depth ? entry(d->Q, n, a, j) : 0.0;
            z[j] = t->depth == 2 ? (entry(d->R, n, a, j) - q * v[j] - half * u[j]) / s : 0.0;
        }
        for (int64_t i = 0; i < n; i++) {
            if (i >= from && i <= a) continue;
            const double b = u[i] / s;
            for (int64_t l = i; l < n; l++) {
                d->C[i * n + l] -= b * u[l];
                if (t->depth) d->Q[i * n + l] += (q * b - v[i] / s) * u[l] - b * v[l];
                if (t->depth == 2) d->R[i * n + l] -= v[i] / s * v[l] + u[i] * z[l] + z[i] * u[l];
            }
            d->s[i] = d->C[i * n + i] + d->noise[i];
            d->S[i] += fabs(b) * d->S[a];
            d->e[i] = d->s[i] > 0 ? d->S[i] * d->S[i] / d->s[i] : INFINITY;
            d->q[i] = t->depth ? d->Q[i * n + i] : 0.0;
        }
    }
    return value;
}

/* Copy some units of a node, in some order, into another one. */
static void taken(const Count *t, const Node *d, const int64_t *places, int64_t count, Node *e) {
    int64_t n = 0;
    for (int64_t i = 0; i < count; i++) {
        e->id[i] = d->id[places[i]];
        e->first[i] = n;
        n += d->first[places[i] + 1] - d->first[places[i]];
    }
    e->first[count] = n;
    e->m = count;
    e->n = n;
    for (int64_t i = 0; i < count; i++)
        for (int64_t a = d->first[places[i]]; a < d->first[places[i] + 1]; a++) {
            const int64_t row = e->first[i] + a - d->first[places[i]];
            e->s[row] = d->s[a], e->S[row] = d->S[a], e->e[row] = d->e[a], e->q[row] = d->q[a];
            e->noise[row] = d->noise[a];
            for (int64_t j = i; j < count; j++)
                for (int64_t b = d->first[places[j]]; b < d->first[places[j] + 1]; b++) {
                    const int64_t column = e->first[j] + b - d->first[places[j]];
                    if (column < row) continue;
                    e->C[row * n + column] = entry(d->C, d->n, a, b);
                    if (t->depth) e->Q[row * n + column] = entry(d->Q, d->n, a, b);
                    if (t->depth == 2) e->R[row * n + column] = entry(d->R, d->n, a, b);
                }
        }
}

static void visit(Walk *w, int64_t level, double value, double margin) {
    Count *t = w->count;
    Node *d = w->levels + level;
    int64_t left = t->r - level;
    if (left > 2 && *t->stop) {
        t->full = 1;
        return;
    }
    if (!t->sized) list(w, level, -1, -1, value, margin);
    if (!t->repeats && left > d->m) {
        if (t->sized) return;
        left = d->m;
    }
    if (t->prices && left > 0) {
        double cheapest = INFINITY;
        for (int64_t i = 0; i < d->m; i++) cheapest = fmin(cheapest, t->prices[d->id[i]]);
        if (cheapest > d->money) return;
        if (cheapest > 0) left = smaller(left, (int64_t)(d->money / cheapest));
    }
    if (left <= 0 || d->m == 0) return;
    const int single = t->most == 1;
    const int64_t columns = smaller(left * t->most, w->columns);
    double *sums = d->sums;
    if (value + margin + sums[columns] < t->threshold) return;
    if (single && left == 2) {
        const double rounding = CERTAIN * (t->depth ? t->top : 1.0);
        for (int64_t i = 0; i < d->m && !t->sized; i++) {
            if (d->e[i] < LOST)
                list(w, level, d->id[i], -1, value + d->g[i], margin + rounding * d->e[i]);
            else list(w, level, d->id[i], -1, value, margin + sums[1]);
        }
        last_two(w, d, level, value, margin);
        return;
    }
    if (left > 2 && !t->repeats && d->n > 2 &&
        choices(d->m, left) > DEAR * (double)d->n * d->n * d->n) {
        bounded(w, d, columns);
        if (value + margin + sums[columns] < t->threshold) return;
    }
    const double unit = CERTAIN * (t->depth ? t->top : 1.0);
    const int64_t ends = t->repeats || !t->sized ? d->m : d->m - left + 1;
    Node *e = w->levels + level + 1;
    for (int64_t i = 0; i < ends && !t->full; i++) {
        const int64_t picked = d->id[i];
        const double money = d->money - (t->prices ? t->prices[picked] : 0.0);
        if (money < 0) continue;
        if (single) {
            if (!(d->e[i] < LOST)) {
                const double most = at_most(t, d->s[i], d->S[i]) + sums[columns - 1];
                if (value + margin + fmin(sums[columns], most) >= t->threshold)
                    give_back(w, d, level, i);
                continue;
            }
            const double doubt = unit * d->e[i];
            t->choices++;
            if (left == 1) {
                if (value + margin + d->g[i] + doubt >= t->threshold)
                    list(w, level, picked, -1, value + d->g[i], margin + doubt);
                continue;
            }
            if (value + margin + d->g[i] + doubt + sums[columns - 1] < t->threshold) continue;
            memcpy(e->sums, sums, (w->columns + 1) * sizeof(double));
            e->money = money;
            w->picks[level] = picked;
            count_region(w, picked, 1);
            const double now = value + d->g[i], much = margin + doubt;
            after(w, d, i, left - 1, now, much, e);
            visit(w, level + 1, now, much);
            count_region(w, picked, -1);
            continue;
        }
        int64_t *places = w->order, count = 0; /* units of several columns: copied, then picked */
        places[count++] = i;
        w->picks[level] = picked;
        count_region(w, picked, 1);
        for (int64_t j = i + 1; j < d->m && left > 1; j++)
            if (addable(w, d->id[j], money, picked)) places[count++] = j;
        taken(t, d, places, count, e);
        e->money = money;
        memcpy(e->sums, sums, (w->columns + 1) * sizeof(double));
        double doubt = 0.0;
        const double gain = unit_gain(w, e, 0, e->first[1], &doubt);
        t->choices++;
        if (isnan(gain)) {
            if (value + margin + sums[columns] >= t->threshold) give_back(w, d, level, i);
        } else if (left == 1) {
            if (value + gain + margin + doubt >= t->threshold)
                list(w, level, picked, -1, value + gain, margin + doubt);
        } else {
            Node *f = w->levels + level + 2; /* without the columns that were picked */
            for (int64_t j = 1; j < count; j++) places[j - 1] = j;
            taken(t, e, places, count - 1, f);
            f->money = money;
            memcpy(f->sums, sums, (w->columns + 1) * sizeof(double));
            Node swap = *e;
            *e = *f;
            *f = swap;
            visit(w, level + 1, value + gain, margin + doubt);
        }
        count_region(w, picked, -1);
    }
}

static int allot(Walk *w, const Count *t) {
    const int64_t square = t->n * t->n, nodes = t->r + 2;
    w->regions = 0;
    for (int64_t i = 0; i < t->laws * t->units; i++)
        if (t->region[i] >= w->regions) w->regions = t->region[i] + 1;
    w->columns = t->r * t->most + 1;
    const int64_t doubles = square * (1 + t->depth) + 7 * t->n + w->columns + 1;
    const int64_t whole = 2 * t->n + 2, work = 3 * square + 12 * t->n;
    const int64_t numbers = nodes * (doubles + whole) + work + t->n + w->regions;
    w->memory = malloc(numbers * sizeof(double));
    if (!w->memory) return 0;
    double *next = w->memory;
    for (int64_t level = 0; level < nodes; level++) {
        Node *d = w->levels + level;
        d->C = next, next += square;
        d->Q = next, next += t->depth > 0 ? square : 0;
        d->R = next, next += t->depth == 2 ? square : 0;
        double **vectors[] = {&d->s, &d->e, &d->q, &d->S, &d->g, &d->noise};
        for (int i = 0; i < 6; i++) *vectors[i] = next, next += t->n;
        d->sums = next, next += w->columns + 1;
        d->id = (int64_t *)next, next += t->n;
        d->first = (int64_t *)next, next += t->n + 1;
    }
    w->work = next, next += work;
    w->order = (int64_t *)next, next += t->n;
    w->counts = (int64_t *)next;
    memset(w->counts, 0, w->regions * sizeof(int64_t));
    return 1;
}

/* Count the choices of at most r units; 0 where memory is short. */
int64_t count_choices(Count *t) {
    Walk walk = {.count = t};
    if (!allot(&walk, t)) return 0;
    Node *d = walk.levels;
    const int64_t entries = t->n * t->n;
    d->m = t->units;
    d->n = t->n;
    d->money = t->money;
    memcpy(d->sums, t->sums, (walk.columns + 1) * sizeof(double));
    memcpy(d->C, t->C, entries * sizeof(double));
    if (t->depth) memcpy(d->Q, t->Q, entries * sizeof(double));
    if (t->depth == 2) memcpy(d->R, t->R, entries * sizeof(double));
    for (int64_t i = 0; i <= t->units; i++) {
        d->first[i] = t->first[i];
        if (i < t->units) d->id[i] = i;
    }
    for (int64_t j = 0; j < t->n; j++) {
        d->noise[j] = t->noise[j];
        d->s[j] = t->C[j * t->n + j] + t->noise[j];
        d->S[j] = t->spread[j];
        d->e[j] = d->s[j] > 0 ? d->S[j] * d->S[j] / d->s[j] : INFINITY;
        d->q[j] = t->depth ? t->Q[j * t->n + j] : 0.0;
        d->g[j] = d->s[j] > 0 ? own_gain(t, d, j) : 0.0;
    }
    visit(&walk, 0, 0.0, 0.0);
    free(walk.memory);
    return 1;
}
