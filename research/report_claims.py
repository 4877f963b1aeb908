"""Whether what surefoot says is true: one section for each kind of claim.

`gains` are those of a report's "What would help", and `sentences` are the numbers on its page, on real tables
(`--tables 2` for a quick look); `labelling` is the
stop of the labelling page; the other sections are promises on generated tables, one for each way to go wrong
(`--draws 20` for a quick look):

    SUREFOOT_DATA=... OMP_NUM_THREADS=1 python research/report_claims.py gains
    OMP_NUM_THREADS=1 python research/report_claims.py copies
"""

import argparse

from claims_gains import gains
from claims_labelling import labelling
from claims_promises import SECTIONS, promises
from claims_sentences import sentences

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("section", choices=["gains", "sentences", "labelling", *SECTIONS])
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--tables", type=int, default=None)
    parser.add_argument("--out", default=None, help="CSV of all gains")
    options = parser.parse_args()
    if options.section == "gains":
        gains(options.tables, options.out)
    elif options.section == "sentences":
        sentences(options.tables)
    elif options.section == "labelling":
        labelling(options.draws)
    else:
        promises(options.section, options.draws)
