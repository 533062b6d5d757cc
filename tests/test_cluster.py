"""On a real cluster: one selection for all chunkings, numbers of workers, and workers that die."""

import os
import shutil
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest

import landmarks as lm
from landmarks.errors import WorkersLostError
from landmarks.operators.base import Operator
from landmarks.operators.dask.client import SETTING, compute, computed, lazy
from landmarks.operators.dask.kernel import SpreadVectors
from landmarks.runs import runner

dask = pytest.importorskip("dask", reason="needs dask")
pytest.importorskip("distributed", reason="needs distributed")

import clusters  # noqa: E402  # after the skips

pytestmark = pytest.mark.thorough

K = 10
MODEST = 40_000  # rows of the runs in memory
MEGABYTE = 2**20


@pytest.fixture(scope="module")
def client():
    with clusters.cluster(2) as client:
        yield client


METHODS = {"rpcholesky": lm.RPCholesky(), "nuclear": lm.NuclearScores(5)}
# what gives the same in memory; 9000 points are many enough for greedy to estimate its gains
OTHERS = {"uniform": "uniform", "kmeans": "kmeans", "auto": "nuclear", "greedy": "nuclear"}
FEW = 9000
WIDTH = lm.rbf(sigma=0.5)


def points(n: int = 24_000) -> np.ndarray:
    """Points of six parts."""
    return np.random.default_rng(1).standard_normal((n, 2))


def kernel(x: np.ndarray, h=WIDTH, chunk: int = 5000) -> Operator:
    import dask.array as da

    # a name of its own: dask counts the workers that died while they made an array of one name
    return lm.kernel(da.from_array(x, chunks=(chunk, -1), name=False), h)


@pytest.fixture(scope="module")
def picks() -> dict[str, np.ndarray]:
    """Those of kernels in memory."""
    K = lm.kernel(points(), WIDTH)
    return {name: lm.select(K, 100, method=METHODS[name]).indices for name in METHODS}


@pytest.fixture(scope="module")
def others() -> dict[str, lm.Selection]:
    """The same by further methods, of fewer points."""
    K = lm.kernel(points(FEW), WIDTH)
    found = {name: lm.select(K, 20, method=name) for name in set(OTHERS.values())}
    return {name: found[same] for name, same in OTHERS.items()}


def in_parts(name: str, chunk: int) -> lm.Selection:
    """The choice of a method among few points on the workers."""
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.filterwarnings("ignore", message="exact gains of 9000 points")
        patch.setattr("landmarks.methods.greedy.greedy.EXACT", 0.0)
        return lm.select(kernel(points(FEW), chunk=chunk), 20, method=name)


@pytest.fixture(scope="module")
def in_memory() -> lm.Selection:
    return lm.select(clusters.rows(0, MODEST), K, method="greedy")


def test_rows_do_not_depend_on_who_makes_them():
    np.testing.assert_array_equal(clusters.rows(0, 100)[37:], clusters.rows(37, 100))


def test_selection_is_that_of_the_same_data_in_memory(client, in_memory):
    selection = lm.select(clusters.array(MODEST, 7000), K, method="greedy")
    np.testing.assert_array_equal(selection.indices, in_memory.indices)
    assert selection.error() == pytest.approx(in_memory.error(), rel=1e-9)


def test_three_chunkings_and_one_or_two_workers_give_the_same_bits(client):
    grams = [lm.data(clusters.array(MODEST, chunk)).K for chunk in (7000, 10_000, 16_384)]
    alone = next(iter(client.scheduler_info()["workers"]))
    with dask.annotate(workers=[alone], allow_other_workers=False):
        grams.append(lm.data(clusters.array(MODEST, 9000)).K)
    assert all(np.array_equal(grams[0], gram) for gram in grams[1:])


@pytest.mark.parametrize(("workers", "chunk"), [(1, 24_000), (2, 5000), (4, 7777)])
def test_a_kernel_in_parts_gives_the_picks_in_memory(workers, chunk, picks, others):
    with clusters.cluster(workers):
        for name in OTHERS:
            s = in_parts(name, chunk)
            assert s.indices.tolist() == others[name].indices.tolist()
            assert s.error() == pytest.approx(others[name].error(), abs=1e-9 * FEW)
        for name in METHODS:
            s = lm.select(kernel(points(), chunk=chunk), 100, method=METHODS[name])
            assert s.indices.tolist() == picks[name].tolist()
        total = lm.kernel(points(), WIDTH).diagonal().sum()
        assert s.error() == pytest.approx(
            lm.select(lm.kernel(points(), WIDTH), 100, method=METHODS[name]).error(),
            abs=1e-9 * total,
        )


def test_other_methods_on_a_cluster_give_the_picks_in_memory(client):
    x = points(5000)
    expected = lm.select(lm.kernel(x, WIDTH), 5, method="swap").indices
    assert lm.select(kernel(x), 5, method="swap").indices.tolist() == expected.tolist()


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("phases", [["reading"], ["products"], ["rpcholesky", "nuclear"]])
def test_workers_killed_while_landmarks_are_picked_change_nothing(client, name, phases, picks):
    killed = []

    def kill(progress):
        if progress.phase in phases and progress.done >= 2 and not killed:
            killed.append(progress.phase)
            clusters.kill_a_worker(client)

    with runner.watching(kill):
        s = lm.select(kernel(points()), 100, method=METHODS[name])
    assert killed or (phases, name) == (["products"], "rpcholesky")
    assert s.indices.tolist() == picks[name].tolist()


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("question", [1, 3])
def test_workers_killed_between_two_questions_change_nothing(
    client, name, question, others, monkeypatch
):
    """Methods that report no progress ask the shards a few times."""
    asked = []

    def counted(calls, reading=()):
        asked.append(calls)
        if len(asked) == question:
            clusters.kill_a_worker(client)
        return computed(calls, reading)

    for module in ("client", "kernel"):
        monkeypatch.setattr(f"landmarks.operators.dask.{module}.computed", counted)
    s = in_parts(name, 4000)
    assert s.error() == pytest.approx(others[name].error(), abs=1e-9 * FEW)
    assert s.error("frobenius") == pytest.approx(others[name].error("frobenius"), rel=1e-6)
    assert len(asked) >= question and s.indices.tolist() == others[name].indices.tolist()


def test_a_bound_outlives_a_worker(client, others, monkeypatch):
    product, killed = SpreadVectors.product, []

    def counted(self, block):
        killed.append(block)
        if len(killed) == 2:
            clusters.kill_a_worker(client)
        return product(self, block)

    monkeypatch.setattr(SpreadVectors, "product", counted)
    # each is a bound within a millionth of the best rank-k error
    assert in_parts("auto", 4000).lower_bound() == pytest.approx(
        others["auto"].lower_bound(), rel=2e-6
    )
    assert len(killed) >= 2


def test_the_factor_outlives_a_worker(client):
    N = lm.select(kernel(points()), 40, method="rpcholesky").nystrom()
    before = np.asarray(N @ np.ones(24_000))
    clusters.kill_a_worker(client)
    np.testing.assert_allclose(np.asarray(N @ np.ones(24_000)), before, rtol=1e-12)


def test_wide_data_are_multiplied_on_the_workers(client):
    X = (
        clusters.rows(0, 40).T
        @ clusters.rows(0, 40)
        @ np.random.default_rng(0).standard_normal((200, 3000))
    )
    import dask.array as da

    np.testing.assert_array_equal(
        lm.select(da.from_array(X, chunks=(50, 700)), 5, method="greedy").indices,
        lm.select(X, 5, method="greedy").indices,
    )


def test_reading_is_reported_and_ends_when_a_watcher_raises(client):
    heard = []
    with runner.watching(lambda p: heard.append((p.phase, p.done, p.total))):
        lm.data(clusters.array(MODEST, 10_000))
    assert heard[-1] == ("reading", 4, 4) and all(phase == "reading" for phase, _, _ in heard)

    def impatient(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), runner.watching(impatient):
        lm.data(clusters.array(MODEST, 1000))


def test_a_missing_value_is_placed_from_afar(client):
    with pytest.raises(ValueError, match="first at row 12345, column 3.*rows 10000 to 19999"):
        lm.data(clusters.array(MODEST, 10_000, make=clusters.Flawed(12_345)))


def test_a_worker_killed_in_the_gram_pass_changes_nothing(client, tmp_path):
    expected = lm.data(clusters.array(MODEST, 4000)).K
    deadly = clusters.Deadly(str(tmp_path / "mark"), at=21_000)
    np.testing.assert_array_equal(lm.data(clusters.array(MODEST, 4000, make=deadly)).K, expected)
    assert (tmp_path / "mark").exists()


def test_a_worker_killed_while_strips_of_the_gram_matrix_are_added_changes_nothing(
    client, tmp_path, monkeypatch
):
    from landmarks.operators.dask import tall

    expected = lm.select(clusters.array(9000, 4000), 30, method="nuclear").indices
    monkeypatch.setattr(tall, "gram_memory", lambda: 0)
    deadly = clusters.Deadly(str(tmp_path / "mark"), at=8500)
    found = lm.select(clusters.array(9000, 4000, make=deadly), 30, method="nuclear")
    assert (tmp_path / "mark").exists()
    clusters.kill_a_worker(client)
    assert found.error("frobenius") > 0  # from strips that were made again
    assert found.indices.tolist() == expected.tolist()


def test_fault_47_a_worker_killed_in_a_kernel_product_changes_nothing(client, tmp_path):
    x, V = points(9000), np.ones((9000, 1))
    operator = kernel(x, clusters.DeadlyKernel(str(tmp_path / "mark"), float(x[-1, 0])))
    killed = operator.matmul(V)
    assert (tmp_path / "mark").exists()
    np.testing.assert_array_equal(operator.matmul(V), killed)
    np.testing.assert_allclose(killed, lm.kernel(x, lm.rbf(sigma=1.0)).matmul(V), rtol=0, atol=1e-9)


def workers_without_a_nanny(
    address: str, n: int, limits: tuple[str, ...] = ()
) -> list[subprocess.Popen]:
    """Workers that are not restarted; limits: of their memory."""
    program = "from distributed.cli.dask_worker import main; main()"
    options = ["--no-nanny", "--nthreads", "1", "--no-dashboard", "--host", "127.0.0.1"]
    paths = os.pathsep.join(sys.path)
    return [
        subprocess.Popen(
            [sys.executable, "-c", program, address, *options, "--memory-limit", limit],
            stderr=subprocess.DEVNULL,
            env=os.environ | {"PYTHONPATH": paths},
        )
        for limit in limits or ["auto"] * n
    ]


@pytest.mark.parametrize("name", METHODS)
def test_workers_of_unequal_memory_give_the_same_picks(name, picks):
    """The first has room for little more than its own modules."""
    with clusters.cluster(0) as client:
        workers = workers_without_a_nanny(client.scheduler.address, 2, ("320MB", "2GB"))
        client.wait_for_workers(2, timeout=60)
        try:
            s = lm.select(kernel(points()), 100, method=METHODS[name])
            assert s.indices.tolist() == picks[name].tolist()
            assert s.nystrom().factor.sum().compute() != 0.0
        finally:
            end(workers)


@pytest.mark.parametrize(
    ("failures", "sentence"),
    [
        (10, "has had no workers for 2.00 s; start workers and run again"),
        pytest.param(
            0, "workers died again and again on one piece of work", marks=pytest.mark.slow
        ),
    ],
)
def test_all_workers_lost_is_an_error_within_the_timeout(failures, sentence):
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": failures}),
        clusters.cluster(0) as client,
    ):
        workers = workers_without_a_nanny(client.scheduler.address, 2 if failures else 1)
        client.wait_for_workers(len(workers), timeout=60)
        try:
            with pytest.raises(WorkersLostError, match=sentence), dask.config.set({SETTING: "2s"}):
                lm.select(clusters.array(MODEST, 4000, make=clusters.Deadly(None, at=21_000)), K)
        finally:
            end(workers)


@pytest.mark.parametrize("name", METHODS)
def test_a_checkpoint_outlives_all_workers(name, picks, tmp_path):
    path = lm.Checkpoint(tmp_path / "run.npz", interval=0)
    reached, steps = [], []

    def lose_all(progress):
        if progress.phase == name and not reached:
            reached.append(progress.done)
            end(workers)

    with clusters.cluster(0) as client:
        workers = workers_without_a_nanny(client.scheduler.address, 2)
        client.wait_for_workers(2, timeout=60)
        lost = pytest.raises(WorkersLostError, match="start workers and run again")
        with lost, dask.config.set({SETTING: "2s"}):
            lm.select(
                kernel(points()), 100, method=METHODS[name], checkpoint=path, callback=lose_all
            )
    with clusters.cluster(0) as client:  # another cluster
        workers = workers_without_a_nanny(client.scheduler.address, 1)
        client.wait_for_workers(1, timeout=60)
        try:
            found = lm.select(
                kernel(points(), chunk=11_000),
                100,
                method=METHODS[name],
                checkpoint=path,
                callback=steps.append,
            )
        finally:
            end(workers)
    assert found.indices.tolist() == picks[name].tolist()
    done = [step.done for step in steps if step.phase == name]
    assert min(done) > reached[0]  # it went on, and did not begin again


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("paused", ["one", "all"])
def test_paused_workers_are_named_and_the_run_goes_on_once_they_have_memory(name, paused, tmp_path):
    """One has tasks to do that nobody else can do then; or all of them are short of memory."""
    path, mark = lm.Checkpoint(tmp_path / "run.npz", interval=0), tmp_path / "mark"
    x = points(FEW)
    h = clusters.PausingKernel(str(mark), float(x[-1, 0]))
    expected = lm.select(lm.kernel(x, h), 40, method=METHODS[name]).indices

    def pause(progress):
        if progress.phase == name and progress.done >= 10:
            if paused == "all":
                client.run(clusters.share_of_memory, 1e-6)
            else:
                mark.touch()

    def run(**callback):
        K = kernel(x, h, chunk=2000)
        return lm.select(K, 40, method=METHODS[name], checkpoint=path, **callback)

    with clusters.cluster(2) as client:
        addresses = "|".join(client.scheduler_info()["workers"])
        short = rf"paused workers of .*: ({addresses}) uses .* of .* raise their memory_limit"
        with pytest.raises(WorkersLostError, match=short), dask.config.set({SETTING: "2s"}):
            run(callback=pause)
        mark.unlink(missing_ok=True)
        client.run(clusters.share_of_memory, 0.8)
        assert run().indices.tolist() == expected.tolist()


def test_work_that_only_a_lost_worker_may_do_is_not_waited_for():
    """A user's annotation may ask for a worker that is gone while others have nothing to do."""
    with clusters.cluster(1) as client:
        workers = workers_without_a_nanny(client.scheduler.address, 1)
        client.wait_for_workers(2, timeout=60)
        alone = next(at for at, pid in client.run(os.getpid).items() if pid == workers[0].pid)
        end(workers)
        stuck = pytest.raises(WorkersLostError, match="has done anything for 2.00 s.*restart them")
        with stuck, dask.config.set({SETTING: "2s"}), dask.annotate(workers=[alone]):
            lm.select(clusters.array(MODEST, 4000), K)


@pytest.mark.parametrize("how", ["closed", "killed"])
def test_a_cluster_that_dies_for_good_is_a_clear_error(how, tmp_path):
    path = lm.Checkpoint(tmp_path / "run.npz", interval=0)
    expected = (
        "gave the work up|has had no workers" if how == "killed" else "connection.* is closed"
    )

    def die(progress):
        if progress.phase == "nuclear":
            client.close() if how == "closed" else client.run_on_scheduler(stop, wait=False)

    with clusters.cluster(1) as client, dask.config.set({SETTING: "2s"}):
        K = kernel(points())
        with pytest.raises(WorkersLostError, match=expected):
            lm.select(K, 100, method="nuclear", checkpoint=path, callback=die)
    assert (tmp_path / "run.npz").exists()


async def stop(dask_scheduler) -> None:
    await dask_scheduler.close()


def long_and_short_of_memory() -> int:
    from distributed import get_worker

    clusters.share_of_memory(1e-6, get_worker())
    time.sleep(6.0)
    return 1


def test_a_paused_worker_that_works_is_waited_for():
    with clusters.cluster(1), dask.config.set({SETTING: "2s"}):
        assert compute(lazy(long_and_short_of_memory)) == 1


def end(workers: list[subprocess.Popen]) -> None:
    """Kill the workers."""
    for worker in workers:
        worker.kill()
        worker.wait()


def test_tls_is_a_matter_of_the_cluster(tmp_path):
    """The snippet of docs/distributed.md: one certificate that everybody must show."""
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl to make a certificate")
    from distributed import Client
    from distributed.security import Security

    key, certificate = str(tmp_path / "key.pem"), str(tmp_path / "certificate.pem")
    make = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "1",
        "-subj",
        "/CN=landmarks",
        "-keyout",
        key,
        "-out",
        certificate,
    ]
    subprocess.run(make, check=True, capture_output=True)
    shown = {
        f"tls_{who}_{what}": path
        for who in ("scheduler", "worker", "client")
        for what, path in (("key", key), ("cert", certificate))
    }
    security = Security(tls_ca_file=certificate, require_encryption=True, **shown)
    with clusters.cluster(1, security=security, protocol="tls://") as client:
        assert client.scheduler.address.startswith("tls://127.0.0.1:")
        assert len(lm.select(clusters.array(4000, 1000), 3)) == 3
        with pytest.raises(OSError):
            Client(client.scheduler.address.replace("tls", "tcp"), timeout=2)


def memory_bound(chunk_bytes: int) -> int:
    """docs/distributed.md, a worker with one thread: three chunks, pieces of a join, and 64 MB."""
    n = clusters.COLUMNS
    return 3 * chunk_bytes + 10 * (2 * n * n + 2 * 2048 * n) * 8 + 64 * MEGABYTE


def extra_memory(client, work) -> int:
    """The most that a worker took above what it had in use when the work began."""
    before = client.run(clusters.forget_peak)
    work()
    return max(peak - before[worker] for worker, peak in client.run(clusters.peak_memory).items())


@pytest.mark.skipif(
    not os.path.exists("/proc/self/clear_refs"), reason="peaks of memory are read from Linux"
)
def test_memory_of_the_workers_stays_under_the_bound(client):
    chunk = 40_000
    extra = extra_memory(client, lambda: lm.data(clusters.array(6 * chunk, chunk)))
    assert extra < memory_bound(8 * clusters.COLUMNS * chunk)


@pytest.mark.skipif(
    not os.path.exists("/proc/self/clear_refs"), reason="peaks of memory are read from Linux"
)
@pytest.mark.parametrize("asked", [{}, {"include": [5], "exclude": [7, 8]}])
def test_nothing_of_length_n_is_made_here(client, asked):
    import dask.array as da

    def select(n: int) -> None:
        x = da.random.default_rng(0).standard_normal((n, 1), chunks=(200_000, 1))
        s = lm.select(lm.kernel(x, WIDTH), 5, method="rpcholesky", **asked)
        assert s.relative_error() < 0.5 and s.nystrom().factor.shape == (n, 5)

    select(100_000)
    before, n = clusters.forget_peak(), 4_000_000
    select(n)
    assert clusters.peak_memory() - before < 8 * n


@pytest.mark.slow
def test_two_million_rows_give_the_same_indices_for_three_chunkings_and_one_or_two_workers(
    client, in_memory
):
    def run(chunk: int) -> np.ndarray:
        selection = lm.select(clusters.array(2_000_000, chunk), K, method="greedy")
        np.testing.assert_array_equal(selection.indices, in_memory.indices)
        return selection.operator.K

    grams: list[np.ndarray] = []
    chunks = (20_000, 33_333, 50_000)
    extra = extra_memory(client, lambda: grams.extend(run(chunk) for chunk in chunks))
    with clusters.cluster(1):
        grams.append(run(40_000))
    assert all(np.array_equal(grams[0], gram) for gram in grams[1:])
    largest = 8 * clusters.COLUMNS * max(chunks)
    sizes = {"peak": extra, "bound": memory_bound(largest), "chunk": largest}
    print(
        "memory of a worker above its start, MB:",
        {name: round(size / MEGABYTE) for name, size in sizes.items()},
    )
    assert extra < memory_bound(largest)
