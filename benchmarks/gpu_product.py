"""Products with a kernel matrix in float32 on a GPU: fused, KeOps and chunked torch.

Errors are against float64. `gpu_product_double.py` does the same in float64.

python benchmarks/gpu_product.py [--out FILE] [--quick]
"""

from __future__ import annotations

import argparse
import importlib.util
import platform
from pathlib import Path

import keops_product
import torch
import triton

import landmarks as lm
from landmarks.operators.gpu import fused

EXPONENTIALS = 16  # per cycle and multiprocessor, compute capability 9.0
CLOCK = 1.94e9  # Hz, at which an H200 was measured to take 4.09e12 exponentials a second
CHUNK = 2**30


def points(n: int, d: int, offset: float = 0.0) -> torch.Tensor:
    """Standard normal points, moved from the origin."""
    generator = torch.Generator(device="cuda").manual_seed(n + d)
    return torch.randn(n, d, device="cuda", generator=generator) + offset


def milliseconds(run, repeats: int = 7) -> float:
    """The median time of a product, after one to warm up; fewer repeats when it is slow."""
    run()
    times = []
    for _ in range(repeats):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        run()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
        if sum(times) > 1500:
            break
    return sorted(times)[len(times) // 2]


def chunked(h, x: torch.Tensor, y: torch.Tensor, V: torch.Tensor) -> torch.Tensor:
    """Chunks of K formed by torch."""
    height = max(1, CHUNK // (y.element_size() * y.shape[0]))
    centre = y.mean(0) if h.stationary else 0.0
    return torch.cat(
        [h(x[a : a + height] - centre, y - centre) @ V for a in range(0, x.shape[0], height)]
    )


def exact(h, x: torch.Tensor, y: torch.Tensor, V: torch.Tensor) -> torch.Tensor:
    """The product in float64, with distances by differences."""
    x, y, V = x.double(), y.double(), V.double()
    if isinstance(h, lm.polynomial):
        return h(x, y) @ V
    p = 1 if isinstance(h, lm.laplacian) else 2
    r = (
        torch.cat(
            [
                torch.cdist(a, y, p=p, compute_mode="donot_use_mm_for_euclid_dist")
                for a in x.split(16)
            ]
        )
        / h.sigma
    )
    if isinstance(h, lm.rbf):
        return torch.exp(-r * r) @ V
    if isinstance(h, lm.laplacian):
        return torch.exp(-r) @ V
    r = r * (2 * h.nu) ** 0.5
    return {0.5: 1, 1.5: 1 + r, 2.5: 1 + r + r * r / 3}[h.nu] * torch.exp(-r) @ V


def relative_error(
    product: torch.Tensor, h, x: torch.Tensor, y: torch.Tensor, V: torch.Tensor
) -> float:
    """On 128 rows."""
    rows = torch.arange(0, x.shape[0], max(1, x.shape[0] // 128), device="cuda")
    reference = exact(h, x[rows], y, V)
    return (
        torch.linalg.norm(product[rows].double() - reference) / torch.linalg.norm(reference)
    ).item()


def fused_cells(h, x: torch.Tensor, y: torch.Tensor, V: torch.Tensor, precision: str) -> list[str]:
    """Time and error of the fused product on prepared points."""
    right = fused.SinglePoints(y, h)
    left = right if x is y else fused.SinglePoints(x, h, like=right)
    result = fused.product(h, left, right, V, precision)
    time = milliseconds(lambda: fused.product(h, left, right, V, precision))
    return [f"{time:.2f}", f"{relative_error(result, h, x, y, V):.1e}"]


def row(
    name: str,
    h,
    x: torch.Tensor,
    y: torch.Tensor,
    width: int,
    *,
    others: bool = True,
    with_keops: bool = False,
    V: torch.Tensor | None = None,
) -> str:
    """One line of the table."""
    V = torch.randn(y.shape[0], width, device="cuda") if V is None else V
    cells = [*fused_cells(h, x, y, V, "high"), *fused_cells(h, x, y, V, "fast")]
    if with_keops and importlib.util.find_spec("pykeops"):
        cells.append(f"{milliseconds(lambda: keops_product.product(h, x, y, V), 3):.2f}")
    else:
        cells.append("–")
    if others:
        cells += [
            f"{milliseconds(lambda: chunked(h, x, y, V), 3):.1f}",
            f"{relative_error(chunked(h, x, y, V), h, x, y, V):.1e}",
        ]
    else:
        cells += ["–", "–"]
    limit = (
        x.shape[0]
        * y.shape[0]
        / (EXPONENTIALS * torch.cuda.get_device_properties(0).multi_processor_count * CLOCK)
        * 1e3
    )
    line = (
        f"| {name} | {x.shape[0]} × {y.shape[0]} | {x.shape[1]} | {width} | "
        + " | ".join(cells)
        + f" | {limit:.2f} |"
    )
    print(line, flush=True)
    return line


def table(quick: bool) -> list[str]:
    """All lines."""
    lines = []
    for n in (45_730,) if quick else (45_730, 200_000):
        x = points(n, 9)
        lines += [row("rbf(3)", lm.rbf(3.0), x, x, width, with_keops=True) for width in (1, 10, 32)]
    if not quick:
        x = points(200_000, 9)
        lines.append(
            row(
                "rbf(3), V = 1",
                lm.rbf(3.0),
                x,
                x,
                10,
                others=False,
                V=torch.ones(200_000, 10, device="cuda"),
            )
        )
        lines.append(row("rbf(3), 64 vectors", lm.rbf(3.0), x, x, 64, others=False))
        lines.append(row("rbf(0.5)", lm.rbf(0.5), x, x, 10, others=False))
        x = points(1_000_000, 9)
        lines.append(row("rbf(3)", lm.rbf(3.0), x, x, 10, others=False, with_keops=True))
    n = 20_000 if quick else 50_000
    for d, sigma in ((2, 1.0), (4, 2.0), (30, 8.0), (90, 14.0), (784, 40.0)):
        x = points(n, d)
        lines.append(
            row(f"rbf({sigma:g})", lm.rbf(sigma), x, x, 10, others=not quick, with_keops=True)
        )
    x = points(n, 9)
    for h in (
        lm.laplacian(9.0),
        lm.matern(0.5, 3.0),
        lm.matern(1.5, 3.0),
        lm.matern(2.5, 3.0),
        lm.matern(0.5, 0.5),
        lm.polynomial(3, 0.1, 1.0),
    ):
        lines.append(row(repr(h), h, x, x, 10, others=not quick, with_keops=True))
    lines.append(
        row(
            "laplacian(100)",
            lm.laplacian(100.0),
            points(20_000, 784),
            points(20_000, 784),
            10,
            others=not quick,
            with_keops=True,
        )
    )
    for sigma in (0.01, 0.1, 0.3, 1.0, 10.0, 100.0):
        lines.append(
            row(f"rbf({sigma:g})", lm.rbf(sigma), x, x, 10, others=sigma < 1, with_keops=True)
        )
    far = points(n, 9, offset=1e3)
    lines.append(row("rbf(3), far from 0", lm.rbf(3.0), far, far, 10, others=False))
    lines.append(
        row("rectangular", lm.rbf(3.0), points(777, 9), points(200_000, 9), 10, with_keops=True)
    )
    lines.append(
        row("rectangular", lm.rbf(3.0), points(200_000, 9), points(100, 9), 10, with_keops=True)
    )
    return lines


def double_section(path: Path) -> str:
    """What `gpu_product_double.py` wrote at the end of the file."""
    parts = path.read_text().split("## In float64") if path.exists() else [""]
    return "## In float64" + parts[1] if len(parts) > 1 else ""


def main() -> None:
    """Print the table, and write it where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    head = [
        f"Device: {torch.cuda.get_device_name()}; torch {torch.__version__}, "
        f"triton {triton.__version__}, Python {platform.python_version()}; "
        "float32 in and out, milliseconds, median; errors relative to float64 in the "
        "Frobenius norm, on 128 rows.",
        "",
        "| kernel | size | d | vectors | high | error | fast | error | KeOps | chunked torch "
        "| its error | limit of the exp unit |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    print("\n".join(head), flush=True)
    lines = table(arguments.quick)
    if arguments.out:
        section = double_section(arguments.out)
        text = ["# Kernel products on a GPU", "", *head, *lines, "", section]
        arguments.out.write_text("\n".join(text).rstrip() + "\n")
        print(f"written to {arguments.out}")


if __name__ == "__main__":
    main()
