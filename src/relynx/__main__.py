"""`python -m relynx`: the command line."""

import sys

from relynx.cli import main

sys.exit(main())
