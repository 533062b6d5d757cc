"""Print how long `import landmarks` takes compared with `import numpy`, in fresh interpreters."""

import subprocess
import sys
import time


def seconds(statement: str, repeats: int = 7) -> float:
    """The shortest time of a fresh interpreter that runs the statement."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", statement], check=True)
        times.append(time.perf_counter() - start)
    return min(times)


if __name__ == "__main__":
    numpy, landmarks = seconds("import numpy"), seconds("import landmarks")
    print(
        f"import numpy {numpy:.3f} s, import landmarks {landmarks:.3f} s: "
        f"{landmarks - numpy:.3f} s more"
    )
