"""What `import surefoot` and `surefoot --help` cost against `import sklearn`, each in new processes."""

import subprocess
import sys

from timing import alternate, report


def python(code):
    """A function that runs code in a new interpreter."""
    return lambda: subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


if __name__ == "__main__":
    ours, theirs, command = alternate(
        [
            python("import surefoot"),
            python("import sklearn"),
            python(
                "import sys; sys.argv = ['surefoot', '--help']; from surefoot.cli import main; main()"
            ),
        ],
        repeats=7,
    )
    report("import surefoot / import sklearn", ours / theirs, "at most", 1.1)
    print(f"surefoot --help / import sklearn: {command / theirs:.2f}")
