"""Peak resident memory of a block of code, above what was resident when it began."""

from __future__ import annotations

import contextlib
import resource


def resident(field: str = "VmRSS") -> int:
    """Bytes of a memory figure of this process, from the kernel."""
    with contextlib.suppress(OSError), open("/proc/self/status") as status:
        for line in status:
            if line.startswith(field):
                return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


class PeakMemory:
    """Use as a context; afterwards `extra` is the peak above the start, in bytes."""

    def __enter__(self) -> PeakMemory:
        with contextlib.suppress(OSError), open("/proc/self/clear_refs", "w") as refs:
            refs.write(
                "5"
            )  # resets the peak on Linux; elsewhere the peak of the whole process is an upper bound
        self.before = resident()
        return self

    def __exit__(self, *_: object) -> None:
        self.extra = max(0, resident("VmHWM") - self.before)
