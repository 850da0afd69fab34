import sys

from minicalc.cli import main

sys.exit(main(sys.argv[1:]))
