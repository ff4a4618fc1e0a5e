"""The hook process, started by the path of this file: ``python -I -S …/hooks/run.py EVENT --host HOST``.

That is the cheapest way in. ``-S`` passes over every ``.pth`` file of the environment (an editable install's
alone takes longer than the whole call to the daemon), ``-I`` keeps the user's ``PYTHONPATH`` and the
project's files out, and a console script would import ``re`` first. So the package has to be found from here.
"""

import os
import sys

sys.path.append(__file__.removesuffix("/memrecalld/hooks/run.py"))

from memrecalld.hooks.process import main

# Taking the interpreter apart takes longer than the call, too.
os._exit(main(sys.argv[1:]))
