/* Counts all choices of r candidates and lists those that may be the best: see counting.py.

   A node of the walk holds C, Q = CΩC (and R = CΩCΩC) of the candidates that may follow its picks.
   The last two picks are no nodes: a pair i, j gains tr C_JJ⁻¹Q_JJ, or 2 tr C_JJ⁻¹R_JJ −
   tr (C_JJ⁻¹Q_JJ)², or log det C_JJ, so all pairs of a node cost as much as its update.

   Rounding: C_ij is right to S_i S_j. As C = VᵀKV for the coefficients V of the picks, a pick j with
   the coefficients β turns S_i into at most S_i + |β_i| S_j (conditioned.py). A gain at the pivot s_j
   is right to 40 λ e_j, e_j = S_j²/s_j, with λ the most that one pick can gain (node.py). */

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
static const double UNKNOWN = 1e3;  /* nats: larger than any doubt */
static const double LOST = 1e-3;    /* a relative error of a pivot beyond which a node is given up */

/* The fields are those of Count in counting.py, in the same order. */
typedef struct {
    int64_t n, r, depth, repeats, tighten, capacity;
    const double *C, *Q, *R, *noise, *spread; /* spread: S at the root */
    double top;        /* the most that one pick can gain */
    double threshold;  /* choices that may gain this much are listed; raised if `tighten` is set, */
    double keep;       /* to so much below what a choice gains for certain */
    int64_t *found;    /* r for each listed choice, positions of candidates */
    double *gains, *margins;
    int64_t listed, choices, lost, full;
} Count;

int64_t size_of_count(void) { return sizeof(Count); }

typedef struct {
    int64_t n, start; /* candidates of the node; the position of the first */
    double *C, *Q, *R, *s, *e, *q, *S;
} Node;

typedef struct {
    Count *count;
    int64_t picks[64];
    Node levels[64];
} Walk;

static void list(Walk *w, int64_t i, int64_t j, double gain, double margin) {
    Count *t = w->count;
    const double certain = gain - margin - t->keep;
    if (t->tighten && certain > t->threshold) t->threshold = certain;
    if (gain + margin < t->threshold) return;
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
    memcpy(row, w->picks, (t->r - 2) * sizeof(int64_t));
    row[t->r - 2] = i;
    row[t->r - 1] = j;
    t->gains[t->listed] = gain;
    t->margins[t->listed++] = margin;
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

/* The most that a pick can gain whose pivot may be rounding; of a log determinant it is little. */
static double at_most(const Count *t, double s, double S) {
    return t->depth ? t->top : fmin(t->top, log(fmax(s, 0.0) + S * S));
}

/* List a pair of which rounding hides how much the one that is not `sure` adds, at most `rest`. */
static void doubtful(Walk *w, const Node *d, int64_t sure, int64_t i, int64_t j, double value,
                     double margin, double rest) {
    Count *t = w->count;
    double gain = t->top;
    if (t->depth == 0) {
        const double most = value + margin + rest + at_most(t, d->s[sure], d->S[sure]);
        if (most >= t->threshold) list(w, d->start + i, d->start + j, most - UNKNOWN, UNKNOWN);
        return;
    }
    if (t->depth && d->e[sure] < LOST) {
        gain = d->q[sure] / d->s[sure];
        if (t->depth == 2) gain = 2 * d->R[sure * d->n + sure] / d->s[sure] - gain * gain;
        gain += CERTAIN * t->top * d->e[sure];
    }
    if (value + margin + gain + t->top >= t->threshold)
        list(w, d->start + i, d->start + j, value, margin + gain + t->top);
}

static void last_two(Walk *w, const Node *d, double value, double margin) {
    Count *t = w->count;
    const int64_t n = d->n;
    const double unit = CERTAIN * (t->depth ? t->top : 1.0);
    for (int64_t i = 0; i < n; i++) {
        const int64_t from = t->repeats ? i : i + 1;
        t->choices += n - from;
        const double own = unit * d->e[i];
        if (!(d->e[i] < LOST)) { /* its pivot may be rounding: it may gain anything */
            const double rest = at_most(t, d->s[i], d->S[i]);
            for (int64_t j = from; j < n; j++) doubtful(w, d, j, i, j, value, margin, rest);
            continue;
        }
        /* of a pair with a determinant that is not small, e is at most 2 (e_i + e_j)/ALIKE */
        const double spread = 2 * unit / ALIKE;
        const double needed = t->threshold - value - margin - own - spread * d->e[i];
        if (!(best_of_row(t, d, i, from, needed, spread) > 0)) continue;
        for (int64_t j = from; j < n; j++) {
            const double c = d->C[i * n + j], si = d->s[i], sj = d->s[j];
            const double whole = si * sj, det = whole - c * c;
            const double S = d->S[j] + fabs(c) / si * d->S[i], share = S * S * si / det;
            if (!(det > 0) || !(share < LOST)) {
                doubtful(w, d, i, i, j, value, margin, at_most(t, det / si, S));
                continue;
            }
            const double q = t->depth ? d->Q[i * n + j] : 0.0, r = t->depth == 2 ? d->R[i * n + j] : 0.0;
            const double gain = pair_gain(t, si, sj, c, det, t->depth ? d->q[i] : 0.0,
                                          t->depth ? d->q[j] : 0.0, q,
                                          t->depth == 2 ? d->R[i * n + i] : 0.0,
                                          t->depth == 2 ? d->R[j * n + j] : 0.0, r);
            const double doubt = margin + own + unit * share;
            if (value + gain + doubt >= t->threshold)
                list(w, d->start + i, d->start + j, value + gain, doubt);
        }
    }
}

/* The node after candidate j of a node. */
WIDE static void after(const Count *t, const Node *d, int64_t j, Node *e) {
    const int64_t n = d->n, skip = t->repeats ? j : j + 1, m = n - skip;
    const double s = d->s[j];
    const double *restrict u = d->C + j * n + skip, *restrict v = d->Q + j * n + skip;
    const double *restrict y = d->R + j * n + skip;
    const double q = t->depth ? d->q[j] / s : 0.0, third = t->depth == 2 ? d->R[j * n + j] / s : 0.0;
    e->n = m;
    e->start = d->start + skip;
    for (int64_t i = 0; i < m; i++) {
        const int64_t row = (skip + i) * n + skip;
        const double a = u[i] / s;
        double *restrict C = e->C + i * m;
        const double *restrict old = d->C + row;
#pragma omp simd
        for (int64_t l = i; l < m; l++) C[l] = old[l] - a * u[l];
        if (t->depth) {
            const double b = q * a - v[i] / s;
            double *restrict Q = e->Q + i * m;
            const double *restrict before = d->Q + row;
#pragma omp simd
            for (int64_t l = i; l < m; l++) Q[l] = before[l] - a * v[l] + b * u[l];
        }
        if (t->depth == 2) {
            /* R − x xᵀ − v zᵀ − z vᵀ, z = y − ‖v‖² x − ½(vᵀΩCΩv − ‖v‖⁴) v, all over √s */
            const double half = 0.5 * (third - q * q), x = v[i] / s;
            const double z = (y[i] - q * v[i] - half * u[i]) / s;
            double *restrict R = e->R + i * m;
            const double *restrict before = d->R + row;
#pragma omp simd
            for (int64_t l = i; l < m; l++)
                R[l] = before[l] - x * v[l] - a * (y[l] - q * v[l] - half * u[l]) - z * u[l];
        }
        e->s[i] = e->C[i * m + i] + t->noise[e->start + i];
        e->S[i] = d->S[skip + i] + fabs(a) * d->S[j];
        e->e[i] = e->s[i] > 0 ? e->S[i] * e->S[i] / e->s[i] : INFINITY;
        if (t->depth) e->q[i] = e->Q[i * m + i];
    }
}

static void visit(Walk *w, int64_t depth, double value, double margin) {
    Count *t = w->count;
    Node *d = w->levels + depth;
    const int64_t left = t->r - depth;
    if (left == 2) {
        last_two(w, d, value, margin);
        return;
    }
    const int64_t ends = t->repeats ? d->n : d->n - left + 1;
    for (int64_t j = 0; j < ends && !t->full; j++) {
        const double s = d->s[j];
        if (!(d->e[j] < LOST)) {
            const double most = at_most(t, s, d->S[j]) + (left - 1) * t->top;
            if (value + margin + most >= t->threshold) t->lost++;
            continue;
        }
        double gain = t->depth ? d->q[j] / s : log(s);
        if (t->depth == 2) gain = 2 * d->R[j * d->n + j] / s - gain * gain;
        w->picks[depth] = d->start + j;
        after(t, d, j, w->levels + depth + 1);
        const double doubt = CERTAIN * (t->depth ? t->top : 1.0) * d->e[j];
        visit(w, depth + 1, value + gain, margin + doubt);
    }
}

static int allot(Walk *w, const Count *t) {
    for (int64_t level = 0; level + 1 < t->r; level++) {
        Node *d = w->levels + level;
        const int64_t size = t->n * t->n * (1 + t->depth) + 4 * t->n;
        double *memory = malloc(size * sizeof(double));
        if (!memory) return 0;
        d->C = memory;
        d->Q = d->C + (t->depth > 0) * t->n * t->n;
        d->R = d->Q + (t->depth == 2) * t->n * t->n;
        d->s = memory + t->n * t->n * (1 + t->depth);
        d->e = d->s + t->n;
        d->q = d->e + t->n;
        d->S = d->q + t->n;
    }
    return 1;
}

/* Count the choices that begin with some picks, positions that rise; 0 where memory is short. */
int64_t count_choices(Count *t, const int64_t *prefix, int64_t length) {
    Walk walk = {.count = t};
    int64_t done = allot(&walk, t);
    if (done) {
        Node *d = walk.levels;
        const int64_t entries = t->n * t->n;
        double value = 0.0, margin = 0.0;
        d->n = t->n;
        d->start = 0;
        memcpy(d->C, t->C, entries * sizeof(double));
        if (t->depth) memcpy(d->Q, t->Q, entries * sizeof(double));
        if (t->depth == 2) memcpy(d->R, t->R, entries * sizeof(double));
        for (int64_t j = 0; j < t->n; j++) {
            d->s[j] = t->C[j * t->n + j] + t->noise[j];
            d->S[j] = t->spread[j];
            d->e[j] = d->s[j] > 0 ? d->S[j] * d->S[j] / d->s[j] : INFINITY;
            d->q[j] = t->depth ? t->Q[j * t->n + j] : 0.0;
        }
        for (int64_t level = 0; level < length; level++) {
            d = walk.levels + level;
            const int64_t j = prefix[level] - d->start;
            if (!(d->e[j] < LOST)) {
                const double most = at_most(t, d->s[j], d->S[j]) + (t->r - level - 1) * t->top;
                if (value + margin + most >= t->threshold) t->lost++;
                goto end;
            }
            double gain = t->depth ? d->q[j] / d->s[j] : log(d->s[j]);
            if (t->depth == 2) gain = 2 * d->R[j * d->n + j] / d->s[j] - gain * gain;
            walk.picks[level] = prefix[level];
            margin += CERTAIN * (t->depth ? t->top : 1.0) * d->e[j];
            value += gain;
            after(t, d, j, walk.levels + level + 1);
        }
        visit(&walk, length, value, margin);
    }
end:
    for (int64_t level = 0; level + 1 < t->r; level++) free(walk.levels[level].C);
    return done;
}
