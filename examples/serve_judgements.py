"""
A service that judges one row
=============================

A small HTTP service around a saved error estimator: ``POST /judge`` with a JSON object of one row, or a list of them,
returns the prediction, its estimated error, and whether it can be accepted within a promised risk. It needs nothing but
surefoot and Python's standard library. Copy it, save an error estimator with ``surefoot.save``, and run
``python serve_judgements.py model.skops 8000``.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import surefoot
from surefoot.abstention import Promise


def service(path, port, max_risk=None):
    """Server of the error estimator in a file; ``serve_forever`` runs it."""
    error_estimator = surefoot.load(path)
    promise = Promise.from_held_out(error_estimator.held_out_, max_risk)

    class Judge(BaseHTTPRequestHandler):
        def do_POST(self):
            try:
                rows = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                judgement = promise.apply(error_estimator.judge(rows))
                names = ("prediction", "error", "novel", "accepted")
                columns = [getattr(judgement, name).tolist() for name in names]
                status, answer = (
                    200,
                    [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)],
                )
            except (TypeError, ValueError) as error:  # one sentence, for whoever sent the row
                status, answer = 422, {"detail": str(error)}
            content = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    return ThreadingHTTPServer(("127.0.0.1", port), Judge)


if __name__ == "__main__" and len(sys.argv) > 2:
    service(sys.argv[1], int(sys.argv[2])).serve_forever()
