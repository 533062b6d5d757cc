/* Swaps on a stored K in float64: the arithmetic of exchange.py, pairs.py and stored_powers.py.

   NumPy passes over the rows W, CW (and C²W) some twenty times for a swap. Here a swap reads them
   twice: once for a column of C, once to change the rows and compare all pairs for the next swap.
   Letters are those of exchange.py. */

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__)
#define WIDE __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define WIDE
#endif

enum { CHECKS = 8, CHUNK = 256, WAITING = 16 };
static const double DISASTER = 1e-3, LOST = 1e-7, CLEAN = 1e-10, ROUNDING = 64.0, TINY = 2.3e-308;
enum { CLOSED, OPEN, BANNED }; /* a banned candidate is open again after the disturbance */

/* The fields are those of Choice in library.py, in the same order. */
typedef struct {
    int64_t n, size, powers;
    const double *K[3];    /* K, K² and K³; null where they are not formed */
    double *rows[3];       /* W, CW and C²W, size by n, zero where a place is free */
    double *diagonals[3];  /* of C, C² and C³ */
    double *errors[3];     /* bounds on their rounding */
    double *H;             /* the inverse of K_SS, size by size, zero where a place is free */
    int64_t *members;      /* of each place, -1 where it is free */
    int64_t *seated;       /* the same before the changes that wait */
    int64_t *since;        /* the first change that waits for the row of a place */
    uint8_t *state;        /* CLOSED, OPEN or BANNED for each candidate */
    const uint8_t *locked; /* 1 for a place whose member stays */
    const double *floor;   /* diag C at which a column counts as represented */
    const double *divisor; /* diag C at least, where it divides */
    double *work;          /* 55 n + 17 size + 16 numbers, and m */
    int64_t m;             /* rows of X; 0 where K is stored */
    const double *X;       /* m by n, with K = XᵀX */
    double *R, *D;         /* its residual, m by n, and the dual vectors, m by size */
    double unit, largest, tolerance, known, whole;
    double left[3];        /* tr C² and tr C³ below which K² and K³ have too few digits */
    double drift, swollen;
    int64_t age, waiting;
} Choice;

/* C becomes C + sign b bᵀ and row r of W becomes W_r + t_r b; x = [b, Cb, (C²b)], C as before. */
typedef struct {
    double *sign, *t, *x[3];
} Change;

typedef struct {
    int64_t place;
    double half; /* of what the best swap at the place gains */
} Best;

/* The working memory. */
static double *column_of(const Choice *s, int p) { return s->work + p * s->n; }
static double *bounded_of(const Choice *s, int p) { return s->work + (3 + p) * s->n; }
static double *at_members_of(const Choice *s) { return s->work + 6 * s->n; }
static Change change_of(const Choice *s, int64_t which) {
    double *rest = s->work + (7 + 3 * WAITING) * s->n;
    Change change = {rest + which, rest + WAITING + which * s->size, {0}};
    for (int p = 0; p < 3; p++) change.x[p] = s->work + (7 + 3 * which + p) * s->n;
    return change;
}
static double *alike_of(const Choice *s) { return change_of(s, WAITING).t; }

static double *along_rows_of(const Choice *s) { return alike_of(s) + s->size; }

static double larger(double a, double b) { return a > b ? a : b; }

WIDE static double dot(const double *restrict x, const double *restrict y, int64_t n) {
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

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

static double error_of(const Choice *s) { return sum_of(s->diagonals[s->powers - 1], s->n); }

/* What a swap must gain at least; size is that of the terms that the gain is the sum of. */
static double least_gain(const Choice *s, double error, double size) {
    const double part = larger(error, 0.0) / s->whole;
    double rounding = 2 * s->unit * s->whole * (s->powers == 1 ? 1.0 : sqrt(part));
    if (s->m) rounding = 16 * s->unit * s->whole * pow(part, s->powers == 1 ? 0.5 : 5.0 / 6);
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

/* Row j of a power of K at the members, times the rows W, CW or C²W, taken off `out`. */
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

/* u - Wᵀu_S, again where rounding in W left something of u at S. */
static void without_members(const Choice *s, double *u, double largest) {
    double *at_members = at_members_of(s);
    for (int again = 0; again < 2; again++) {
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

WIDE static void product(const double *restrict K, const double *restrict x, double *restrict y,
                         int64_t n) {
    for (int64_t i = 0; i < n; i++) y[i] = dot(K + i * n, x, n);
}

/* A column of C^p, which is x for the C before a change, for the C after it. */
WIDE static void change_column(const Choice *s, const Change *change, double *const *x, int64_t j) {
    const int64_t n = s->n;
    const double *restrict b = change->x[0], *restrict p = change->x[1];
    double *restrict u = x[0], *restrict v = x[1];
    const double sign = *change->sign, start = sign * b[j];
    double first = 0.0, second = 0.0;
#pragma omp simd reduction(+ : first)
    for (int64_t i = 0; i < n; i++) {
        u[i] += start * b[i];
        first += u[i] * b[i];
    }
    first *= sign;
#pragma omp simd reduction(+ : second)
    for (int64_t i = 0; i < n; i++) {
        v[i] += start * p[i] + first * b[i];
        second += v[i] * b[i];
    }
    if (s->powers == 1) return;
    second *= sign;
    const double *restrict q = change->x[2];
    double *restrict w = x[2];
#pragma omp simd
    for (int64_t i = 0; i < n; i++) w[i] += start * q[i] + first * p[i] + second * b[i];
}

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

/* C e_j, C² e_j (and C³ e_j) from R, with C = RᵀR. */
static void columns_of_R(const Choice *s, int64_t j) {
    double *x = along_rows_of(s);
    for (int64_t i = 0; i < s->m; i++) x[i] = s->R[i * s->n + j];
    for (int p = 0; p <= s->powers; p++) {
        transposed_product(s, x, column_of(s, p));
        for (int64_t i = 0; i < s->m; i++) x[i] = dot(s->R + i * s->n, column_of(s, p), s->n);
    }
}

/* A matrix of m rows changes by x yᵀ. */
WIDE static void add_outer(double *restrict matrix, const double *restrict x,
                           const double *restrict y, int64_t m, int64_t n, double sign) {
    for (int64_t i = 0; i < m; i++) {
        double *restrict row = matrix + i * n;
        const double a = sign * x[i];
#pragma omp simd
        for (int64_t j = 0; j < n; j++) row[j] += a * y[j];
    }
}

/* What the member at a place alone explained comes back to R: `Explicit.drop`. */
static void drop_from_R(const Choice *s, int64_t place, const double *b, const double *t) {
    double *u = along_rows_of(s);
    for (int64_t i = 0; i < s->m; i++) u[i] = s->D[i * s->size + place];
    scale(u, 1 / sqrt(dot(u, u, s->m)), s->m);
    add_outer(s->R, u, b, s->m, s->n, 1.0);
    add_outer(s->D, u, t, s->m, s->size, 1.0);
    for (int64_t i = 0; i < s->m; i++) s->D[i * s->size + place] = 0.0;
}

/* The direction of column j leaves R and joins the dual vectors: `Explicit.add`. */
static void add_to_R(const Choice *s, int64_t j, const double *t) {
    double *q = along_rows_of(s), *weights = alike_of(s), *v = at_members_of(s);
    for (int64_t i = 0; i < s->m; i++) q[i] = s->R[i * s->n + j];
    scale(q, 1 / sqrt(dot(q, q, s->m)), s->m);
    memset(weights, 0, s->size * sizeof(double));
    for (int64_t i = 0; i < s->m; i++)
        for (int64_t r = 0; r < s->size; r++) weights[r] += s->D[i * s->size + r] * q[i];
    for (int64_t i = 0; i < s->m; i++)
        for (int64_t r = 0; r < s->size; r++)
            if (s->members[r] >= 0) q[i] -= s->X[i * s->n + s->members[r]] * weights[r];
    scale(q, 1 / sqrt(dot(q, q, s->m)), s->m);
    transposed_product(s, q, v);
    add_outer(s->R, q, v, s->m, s->n, -1.0);
    add_outer(s->D, q, t, s->m, s->size, 1.0);
}

/* diag C as the squared lengths of R. */
WIDE static void lengths_of_R(Choice *s) {
    double *restrict c = s->diagonals[0];
    memset(c, 0, s->n * sizeof(double));
    for (int64_t i = 0; i < s->m; i++) {
        const double *restrict row = s->R + i * s->n;
#pragma omp simd
        for (int64_t j = 0; j < s->n; j++) c[j] += row[j] * row[j];
    }
}

/* C e_j, C² e_j (and C³ e_j): from the powers of K where they have the digits, else by products. */
static void columns(const Choice *s, int64_t j) {
    if (s->m) {
        columns_of_R(s, j);
        return;
    }
    double *x[3] = {column_of(s, 0), column_of(s, 1), column_of(s, 2)};
    int stored = 0; /* the highest power of K that is used */
    while (stored < s->powers && s->K[stored + 1]
           && sum_of(s->diagonals[stored + 1], s->n) >= s->left[stored + 1])
        stored++;
    for (int64_t from = 0; from < s->n; from += CHUNK) {
        const int64_t width = s->n - from < CHUNK ? s->n - from : CHUNK;
        for (int p = 0; p <= stored; p++) {
            memcpy(x[p] + from, s->K[p] + j * s->n + from, width * sizeof(double));
            for (int q = 0; q <= p; q++)
                subtract_rows(s, x[p] + from, s->K[p - q] + j * s->n, q, from, width);
        }
    }
    without_members(s, x[0], largest_at_members(s, s->K[0] + j * s->n));
    for (int p = stored + 1; p <= s->powers; p++) {
        product(s->K[0], x[p - 1], x[p], s->n);
        without_members(s, x[p], 0.0);
    }
    for (int64_t i = 0; i < s->waiting; i++) {
        const Change change = change_of(s, i);
        change_column(s, &change, x, j);
    }
}

/* diag C, diag C² (and diag C³) after a change: `rank_one` of powers.py. */
WIDE static void change_diagonals(Choice *s, const Change *change) {
    const int64_t n = s->n;
    const double sign = *change->sign;
    const double *restrict b = change->x[0], *restrict p = change->x[1];
    double *restrict c = s->diagonals[0], *restrict A = s->diagonals[1];
    const double alpha = dot(b, b, n);
    if (s->powers == 2) {
        const double *restrict q = change->x[2];
        double *restrict B = s->diagonals[2];
        const double beta = dot(b, p, n) + sign * alpha * alpha;
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
    for (int d = 0; d <= s->powers; d++) {
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
    for (int p = 0; p <= s->powers; p++) {
        s->diagonals[p][j] = values[p];
        s->errors[p][j] = ROUNDING * s->unit * fabs(values[p]);
    }
}

WIDE static void change_inverse(Choice *s, const Change *change) {
    const double *restrict t = change->t;
    for (int64_t r = 0; r < s->size; r++) {
        const double a = *change->sign * t[r];
        double *restrict row = s->H + r * s->size;
        if (a == 0.0) continue;
#pragma omp simd
        for (int64_t q = 0; q < s->size; q++) row[q] -= a * t[q];
    }
}

/* A row of W, CW (and C²W) after a change. */
WIDE static void change_row(const Choice *s, const Change *change, int64_t place,
                            double *const *row) {
    const int64_t n = s->n;
    const double *restrict b = change->x[0], *restrict p = change->x[1];
    double *restrict w = row[0], *restrict y = row[1];
    const double t = change->t[place], sign = *change->sign;
    double first = 0.0, second = 0.0;
    if (t == 0.0) return;
#pragma omp simd reduction(+ : first)
    for (int64_t i = 0; i < n; i++) {
        w[i] += t * b[i];
        first += w[i] * b[i];
    }
    first *= sign;
#pragma omp simd reduction(+ : second)
    for (int64_t i = 0; i < n; i++) {
        y[i] += t * p[i] + first * b[i];
        second += y[i] * b[i];
    }
    if (s->powers == 1) return;
    second *= sign;
    const double *restrict q = change->x[2];
    double *restrict z = row[2];
#pragma omp simd
    for (int64_t i = 0; i < n; i++) z[i] += t * q[i] + first * p[i] + second * b[i];
}

/* The changes that wait for the row of a place. */
static void change_row_by_all(const Choice *s, int64_t place, double *const *row) {
    for (int64_t i = s->since[place]; i < s->waiting; i++) {
        const Change change = change_of(s, i);
        change_row(s, &change, place, row);
    }
}

/* Put the changes that wait into the row of a place; a place that was emptied starts from zero. */
static void settle_row(const Choice *s, int64_t r) {
    double *row[3];
    for (int p = 0; p <= s->powers; p++) {
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

/* Room for another change. */
static Change next_change(Choice *s) {
    if (s->waiting == WAITING) settle(s);
    return change_of(s, s->waiting);
}

/* Empty a place; its change waits. */
static void drop(Choice *s, int64_t place) {
    Change change = next_change(s);
    const double length = sqrt(s->H[place * s->size + place]);
    for (int p = 0; p <= s->powers; p++) {
        if (s->seated[place] == s->members[place])
            memcpy(change.x[p], s->rows[p] + place * s->n, s->n * sizeof(double));
        else
            memset(change.x[p], 0, s->n * sizeof(double));
    }
    change_row_by_all(s, place, change.x);
    for (int p = 0; p <= s->powers; p++) scale(change.x[p], 1 / length, s->n);
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

/* W_rj with the changes that wait. */
static double entry_of_W(const Choice *s, int64_t r, int64_t j) {
    if (s->members[r] < 0) return 0.0;
    double entry = s->seated[r] == s->members[r] ? s->rows[0][r * s->n + j] : 0.0;
    for (int64_t i = s->since[r]; i < s->waiting; i++) {
        const Change change = change_of(s, i);
        entry += change.t[r] * change.x[0][j];
    }
    return entry;
}

/* Seat j at a free place; `columns` holds its columns. The change waits. */
static void add(Choice *s, int64_t j, int64_t place) {
    const int64_t n = s->n;
    double *u = column_of(s, 0);
    const double pivot = larger(larger(u[j], s->floor[j]), TINY);
    const double square = larger(dot(u, u, n), pivot * pivot), length = sqrt(pivot);
    s->drift = larger(s->drift, fabs(s->diagonals[0][j] / pivot - 1));
    s->drift = larger(s->drift, fabs(s->diagonals[1][j] / square - 1));
    s->age++;
    Change change = next_change(s);
    *change.sign = -1.0;
    for (int64_t r = 0; r < s->size; r++) change.t[r] = -entry_of_W(s, r, j) / length;
    change.t[place] = 1 / length;
    for (int p = 0; p <= s->powers; p++) {
        memcpy(change.x[p], column_of(s, p), n * sizeof(double));
        scale(change.x[p], 1 / length, n);
    }
    change_diagonals(s, &change);
    change_inverse(s, &change);
    if (s->m) {
        add_to_R(s, j, change.t);
        lengths_of_R(s);
    }
    const double nothing[3] = {0.0, 0.0, 0.0};
    correct(s, j, nothing);
    s->members[place] = j;
    s->state[j] = CLOSED;
    s->since[place] = s->waiting;
    s->waiting++;
}

/* Diagonals as they are at least, and a loss for every candidate that is not open. */
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

/* Half of the gain of each pair of a place, see `Pairs`; a loss where the others represent the
   candidate. Returns the largest, and the index of the first that has it. */
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

/* Put in the changes that wait, and compare all pairs. */
static Best look(Choice *s) {
    Best best = {-1, -1.0};
    bound_diagonals(s);
    for (int64_t r = 0; r < s->size; r++) {
        settle_row(s, r);
        if (s->members[r] < 0 || s->locked[r]) continue;
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

/* The gain from the columns of C itself: `confirmed_gain`. The state takes in what it finds. */
static double confirmed_gain(Choice *s, int64_t place, int64_t j, double *size) {
    const int64_t n = s->n;
    const double *u = column_of(s, 0), *v = column_of(s, 1);
    double *w = s->rows[0] + place * n, *y = s->rows[1] + place * n;
    const double g = s->H[place * s->size + place], p = w[j];
    const double c = larger(u[j], 0.0), A = dot(u, u, n);
    const double values[3] = {c, A, s->powers == 2 ? dot(u, v, n) : 0.0};
    correct(s, j, values);
    const double along = dot(w, u, n), d = dot(w, w, n) / g, pivot = c + p * p / g;
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

/* Whether what drops put into the diagonals took digits along when it was taken out. */
static void measure(Choice *s) {
    const double left = larger(sum_of(s->diagonals[0], s->n), TINY);
    const double ratio = s->swollen / left < 1e50 ? s->swollen / left : 1e50;
    if (s->unit * pow(ratio, s->powers + 1) > LOST) s->drift = INFINITY;
}

/* Make the best swap while one pays, at most `limit`; returns how many were made. */
int64_t descend(Choice *s, int64_t limit) {
    int64_t made = 0;
    int checks = 0;
    while (made < limit && checks < CHECKS && s->drift <= DISASTER) {
        const Best best = look(s);
        const double error = error_of(s);
        if (2 * best.half <= least_gain(s, error, 0.0)) break;
        const int64_t j = best_candidate(s, best.place);
        double size;
        columns(s, j);
        checks++;
        if (confirmed_gain(s, best.place, j, &size) <= least_gain(s, error, size)) continue;
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

/* The open candidate of the largest gain, -1 where none gains. */
static int64_t best_addition(Choice *s) {
    bound_diagonals(s);
    const double *c = s->diagonals[0], *A = bounded_of(s, 1), *B = bounded_of(s, 2);
    int64_t found = -1;
    double most = 0.0;
    for (int64_t i = 0; i < s->n; i++) {
        if (s->state[i] != OPEN || c[i] <= s->floor[i]) continue;
        const double ratio = A[i] / c[i];
        const double gain = s->powers == 1 ? ratio : 2 * B[i] / c[i] - ratio * ratio;
        if (gain > most) {
            most = gain;
            found = i;
        }
    }
    return found;
}

/* Fill the free places greedily; whether all are filled. */
static int refill(Choice *s) {
    for (int64_t place = 0; place < s->size; place++) {
        if (s->members[place] >= 0) continue;
        const int64_t j = best_addition(s);
        if (j < 0) return 0;
        columns(s, j);
        add(s, j, place);
    }
    measure(s);
    return 1;
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

/* Drop the member at a place and those most alike, fill their places with others, descend.
   Returns the swaps made, or -1 when a place stays free. */
int64_t disturb(Choice *s, int64_t place, int64_t count, int64_t limit) {
    double *alike = alike_of(s);
    resemblance(s, place, alike);
    for (int64_t i = 0; i < count; i++) {
        int64_t next = 0;
        for (int64_t r = 1; r < s->size; r++)
            if (alike[r] > alike[next]) next = r;
        alike[next] = -2.0;
        s->state[s->members[next]] = BANNED;
        drop(s, next);
    }
    const int filled = refill(s);
    for (int64_t i = 0; i < s->n; i++)
        if (s->state[i] == BANNED) s->state[i] = OPEN;
    settle(s);
    return filled ? descend(s, limit) : -1;
}
