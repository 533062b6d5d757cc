/* A choice as the compiled search sees it, its working memory, and sums over long arrays. */

#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Loops are compiled for several kinds of CPU, and the right version is selected when the library
   is loaded. A compiler that does not support this is called with -DWIDE= instead. */
#ifndef WIDE
#if defined(__x86_64__) && defined(__GLIBC__)
#define WIDE __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define WIDE
#endif
#endif

enum { CHECKS = 8, CHUNK = 256, WAITING = 16 };
static const double DISASTER = 1e-3, LOST = 1e-7, CLEAN = 1e-10, ROUNDING = 64.0, TINY = 2.3e-308;
enum { CLOSED, OPEN, BANNED }; /* a banned candidate is open again after the perturbation */

/* The fields are those of Choice in library.py, in the same order. */
typedef struct {
    int64_t n, size, depth;
    const double *K[3];    /* K, KΩK and KΩKΩK; null where they are not formed */
    double *rows[3];       /* W, CΩW and CΩCΩW, size by n, zero where a place is free */
    double *diagonals[3];  /* of C, CΩC and CΩCΩC */
    double *errors[3];     /* bounds on their rounding */
    double *H;             /* (K_SS + N)⁻¹, size by size, zero where a place is free */
    int64_t *members;      /* of each place, -1 where it is free */
    int64_t *seated;       /* the same before the pending changes */
    int64_t *since;        /* the first pending change of the row of a place */
    uint8_t *state;        /* CLOSED, OPEN or BANNED for each candidate */
    const uint8_t *locked; /* 1 for a place whose member stays */
    const double *floor;   /* diag C at which a column counts as represented */
    const double *divisor; /* lower bound of diag C, for divisions by it */
    const double *omega;   /* how much each column counts; null where all count once */
    const double *noise;   /* the variance of each measurement; null where there is none */
    double *work;          /* 56 n + 17 size + 16 + m numbers */
    int64_t m, m_X;        /* rows of R, and of X; 0 where K is stored. With noise R has more */
    const double *X;       /* m_X by n, with K = XᵀX */
    double *X_S;           /* the columns of the members, m by size, zero where a place is free */
    double *R, *D;         /* the residual of X, m by n, and the dual vectors, m by size */
    double unit, largest, heaviest, tolerance, known, whole;
    double left[3];        /* tr ΩCΩC and the next, below which powers of K are too inaccurate */
    double drift, swollen, volume;
    int64_t age, waiting, repeats;
    int64_t columns, products, entries; /* of K that were used, for the ledger */
} Choice;

/* Lets library.py check that both have the same Choice. */
int64_t size_of_choice(void) { return sizeof(Choice); }

/* C becomes C + sign b bᵀ and row r of W becomes W_r + t_r b; x = [b, CΩb, (CΩCΩb)], C as before. */
typedef struct {
    double *sign, *t, *x[3];
} Change;

typedef struct {
    int64_t place;
    double half; /* half of the gain of the best swap at the place */
} Best;

/* The working memory. */
static double *column_of(const Choice *s, int p) { return s->work + p * s->n; }
static double *bounded_of(const Choice *s, int p) { return s->work + (3 + p) * s->n; }
static double *at_members_of(const Choice *s) { return s->work + 6 * s->n; }
static Change change_of(const Choice *s, int64_t which) {
    double *rest = s->work + (8 + 3 * WAITING) * s->n;
    Change change = {rest + which, rest + WAITING + which * s->size, {0}};
    for (int p = 0; p < 3; p++) change.x[p] = s->work + (7 + 3 * which + p) * s->n;
    return change;
}
static double *weighted_of(const Choice *s) { return s->work + (7 + 3 * WAITING) * s->n; }
static double *alike_of(const Choice *s) { return change_of(s, WAITING).t; }
static double *along_rows_of(const Choice *s) { return alike_of(s) + s->size; }

static double larger(double a, double b) { return a > b ? a : b; }

WIDE static double dot(const double *restrict x, const double *restrict y, int64_t n) {
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

WIDE static double dot_of_three(const double *restrict w, const double *restrict x,
                                const double *restrict y, int64_t n) {
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++) sum += w[i] * x[i] * y[i];
    return sum;
}

/* xᵀΩy. */
static double inner(const Choice *s, const double *x, const double *y) {
    return s->omega ? dot_of_three(s->omega, x, y, s->n) : dot(x, y, s->n);
}

/* Ωx, in memory that the next call uses again; x itself where all columns count once. */
static const double *weighed(const Choice *s, const double *x) {
    if (!s->omega) return x;
    double *found = weighted_of(s);
    for (int64_t i = 0; i < s->n; i++) found[i] = s->omega[i] * x[i];
    return found;
}

/* The variance of a measurement of j. */
static double noise_of(const Choice *s, int64_t j) { return s->noise ? s->noise[j] : 0.0; }

WIDE static double sum_of(const double *restrict x, int64_t n) {
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++) sum += x[i];
    return sum;
}

WIDE static void scale(double *restrict x, double factor, int64_t n) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++) x[i] *= factor;
}

/* Σ ω_j of a diagonal. */
static double total_of(const Choice *s, const double *diagonal) {
    return s->omega ? dot(s->omega, diagonal, s->n) : sum_of(diagonal, s->n);
}

static double error_of(const Choice *s) {
    return s->depth ? total_of(s, s->diagonals[s->depth - 1]) : -s->volume;
}

/* The least gain of a swap that counts; size is that of the terms that make up the gain. */
static double least_gain(const Choice *s, double error, double size) {
    if (!s->depth) return larger(s->tolerance + s->known * size, 64 * s->unit * s->n);
    const double part = larger(error, 0.0) / s->whole;
    double rounding = 2 * s->unit * s->whole * (s->depth == 1 ? 1.0 : sqrt(part));
    if (s->m) rounding = 16 * s->unit * s->whole * pow(part, s->depth == 1 ? 0.5 : 5.0 / 6);
    return larger(s->tolerance * error + s->known * size, rounding);
}

/* out - sum of a_p row_p over the terms, for four rows r at once where there are four. */
WIDE static void subtract(double *restrict out, int64_t width, int64_t count,
                          const double *restrict a, const double *const *rows) {
    int64_t r = 0;
    for (; r + 4 <= count; r += 4) {
        const double *restrict r0 = rows[r], *restrict r1 = rows[r + 1];
        const double *restrict r2 = rows[r + 2], *restrict r3 = rows[r + 3];
        const double a0 = a[r], a1 = a[r + 1], a2 = a[r + 2], a3 = a[r + 3];
#pragma omp simd
        for (int64_t i = 0; i < width; i++)
            out[i] -= (a0 * r0[i] + a1 * r1[i]) + (a2 * r2[i] + a3 * r3[i]);
    }
    for (; r < count; r++) {
        const double *restrict row = rows[r];
        const double a0 = a[r];
#pragma omp simd
        for (int64_t i = 0; i < width; i++) out[i] -= a0 * row[i];
    }
}
