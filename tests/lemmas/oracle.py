"""The statements of the paper to the letter, dense and slow: what the package is compared with."""

import numpy as np


def system(K, t, delta):
    """L_t = T Z T + δI with Z = K − δI."""
    T = np.diag(t)
    return T @ (K - delta * np.eye(len(t))) @ T + delta * np.eye(len(t))


def projection(X, t, delta):
    """P̃(t) of Definition 2.1."""
    T = np.diag(t)
    inner = T @ X.T @ X @ T + delta * (np.eye(len(t)) - T @ T)
    return X @ T @ np.linalg.pinv(inner) @ T @ X.T


def nystrom(K, t, delta):
    """K̃(t) of Definition 2.5."""
    T = np.diag(t)
    inner = T @ K @ T + delta * (np.eye(len(t)) - T @ T)
    return K @ T @ np.linalg.pinv(inner) @ T @ K


def f(K, t, delta):
    """f(t) = −tr K̃(t)."""
    return -np.trace(nystrom(K, t, delta))


def g(K, t, delta):
    """g(t) = ‖K − K̃(t)‖²_F."""
    return np.sum((K - nystrom(K, t, delta)) ** 2)


def gradient_f(K, t, delta):
    """∇f of Lemma 2.4."""
    n, T = len(t), np.diag(t)
    Z, inverse = K - delta * np.eye(n), np.linalg.inv(system(K, t, delta))
    return 2 * np.diag(inverse @ T @ K @ K @ (T @ inverse @ T @ Z - np.eye(n)))


def gradient_g(K, t, delta):
    """∇g of Lemma 2.8."""
    n, T = len(t), np.diag(t)
    Z, inverse = K - delta * np.eye(n), np.linalg.inv(system(K, t, delta))
    D = nystrom(K, t, delta) - K
    return 4 * np.diag(inverse @ T @ K @ D @ K @ (np.eye(n) - T @ inverse @ T @ Z))


def phi(K, t, delta, z):
    """φ of Lemma 3.1 for one probe."""
    Z, L = K - delta * np.eye(len(t)), system(K, t, delta)
    a = K @ z
    b = np.linalg.solve(L, t * a)
    return b * (Z @ (t * b)) - a * b


def psi(K, t, delta, z):
    """ψ of Lemma 3.2 for one probe."""
    Z, L = K - delta * np.eye(len(t)), system(K, t, delta)
    a = K @ z
    b = np.linalg.solve(L, t * a)
    c = K @ (t * b) - a
    d = K @ c
    e = np.linalg.solve(L, t * d)
    return b * d + a * e - e * (Z @ (t * b)) - b * (Z @ (t * e))


def algorithm_1(K, criterion, delta, penalty, probes, rate, tau, epsilon):
    """Algorithm 1 line by line: the iterates t, the largest change of a w, and the choice s.

    probes holds one n × M block per step. The step is w ← w − (rate/λ) ∇, TermCond the end of the
    probes, and weights below epsilon are set to zero.
    """
    estimator = {"trace": phi, "frobenius": psi}[criterion]
    n = len(K)
    t = np.full(n, 1 / 2)  # line 2
    w = np.sqrt(-np.log(1 - t))  # line 3
    iterates, largest = [], 0.0
    for block in probes:  # line 4
        t = 1 - np.exp(-w * w)
        iterates.append(t)
        estimates = [estimator(K, t, delta, z) for z in block.T]
        gradient = 2 * np.mean(estimates, axis=0) + penalty
        gradient = np.where(t == 0, 0.0, gradient * 2 * w * np.exp(-w * w))  # Section 3.1
        largest = max(largest, np.max(np.abs(rate / penalty * gradient)))
        w = w - rate / penalty * gradient
        w = np.where(1 - np.exp(-w * w) < epsilon, 0.0, w)  # Section 3.4
    t = 1 - np.exp(-w * w)  # line 5
    return np.array(iterates), largest, np.flatnonzero(t > tau)  # lines 6 to 9
