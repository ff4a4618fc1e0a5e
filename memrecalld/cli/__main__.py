"""``python -m memrecalld.cli``"""

import sys

from memrecalld.cli import main

if __name__ == "__main__":
    sys.exit(main())
