"""The hook process for tests that are not about time: it gives the daemon as long as a busy machine takes."""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2]))

from memrecalld.hooks import process

PATIENCE_S = 15.0
"""Less than what ``Agent`` gives the whole process."""

if __name__ == "__main__":
    process.ASK_S = process.LIFE_S = PATIENCE_S
    os._exit(process.main(sys.argv[1:]))
