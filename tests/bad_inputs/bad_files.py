"""Contents of files that no command can use, and what the sentence about each names."""

import bz2
import gzip
import lzma
import pickle

import numpy as np
import pandas as pd
from sklearn.linear_model import Ridge

N_ROWS = 60


def good_table():
    draw = np.random.default_rng(0)
    x = draw.normal(size=N_ROWS).round(3)
    return pd.DataFrame(
        {
            "x": x,
            "z": draw.normal(size=N_ROWS).round(3),
            "kind": draw.choice(["a", "b"], N_ROWS),
            "y": np.where(x + draw.normal(size=N_ROWS) > 0, "yes", "no"),
            "amount": (x * 3 + draw.normal(size=N_ROWS)).round(3),
        }
    )


def bad_tables(table):
    """Contents of files that are no tables that can be read, and what their sentence names."""
    text = table.to_csv(index=False)
    header = text.partition("\n")[0]
    return {
        "empty.csv": ("", "is empty"),
        "blank.csv": ("\n \n\t\n", "is empty"),
        "header.csv": (header + "\n", "has column names but no rows."),
        "one-column.csv": ("x\n1\n2\n", "not a table with columns"),
        "prose.csv": ("Dear all\nhello\n", "not a table with columns"),
        "twice.csv": ("x,x,y\n1,2,a\n", "has more than one column 'x': names must differ."),
        "short-line.csv": (header + "\n1,2,a\n", "Line 2"),
        "long-line.csv": (header + "\n1,2,a,yes,3,4\n", "Line 2"),
        "open-quote.csv": (header + '\n1,2,a,yes,"3\n', "quote"),
        "image.csv": (
            b"\x89PNG\r\n\x1a\n" + bytes(50),
            "is not a table but an image: surefoot reads CSV and Parquet.",
        ),
        "jpeg.csv": (
            b"\xff\xd8\xff\xe0" + bytes(50),
            "is not a table but an image: surefoot reads CSV and Parquet.",
        ),
        "document.csv": (b"%PDF-1.7\n", "PDF"),
        "workbook.csv": (b"PK\x03\x04" + bytes(50), "archive or a workbook"),
        "gzip.csv": (
            b"\x1f\x8b\x08" + bytes(50),
            "is a compressed file that is cut off or damaged.",
        ),
        "cut.csv.gz": (
            gzip.compress(text.encode())[:-9],
            "is a compressed file that is cut off or damaged.",
        ),
        "cut.csv.bz2": (
            bz2.compress(text.encode())[:-9],
            "is a compressed file that is cut off or damaged.",
        ),
        "xz.csv.xz": (lzma.compress(text.encode()), "compressed by xz"),
        "two.csv.gz": (gzip.compress(gzip.compress(text.encode())), "compressed twice"),
        "empty.csv.gz": (gzip.compress(b""), "is empty"),
        "header.tsv": (header.replace(",", "\t") + "\n", "no rows"),
        "short-line.tsv": (header.replace(",", "\t") + "\n1\t2\n", "Line 2"),
        "pickle.csv": (pickle.dumps([1, 2]), "a pickle"),
        "binary.csv": (bytes(range(256)), "binary"),
        "object.csv": ('{"x": [1, 2], "y": [3, 4]}', "JSON"),
        "list.csv": ("[[1, 2], [3, 4]]", "JSON"),
        "lines.csv": ('{"x": 1}\n{"x": 2}\n', "JSON"),
        "page.csv": ("<!DOCTYPE html>\n<html><body>1,2</body></html>", "web page or XML"),
        "xml.csv": ('<?xml version="1.0"?>\n<a>1,2</a>', "web page or XML"),
        "broken.parquet": (b"PAR1" + bytes(100) + b"PAR1", "broken Parquet"),
        "cut.parquet": (b"PAR1", "broken Parquet"),
        "nul.csv": (b"x,y\n1,\0\n", "binary"),
    }


def bad_models():
    """Contents of files that hold no model that can be used, and what their sentence names."""
    return {
        "empty.skops": (b"", "not a skops file"),
        "text.skops": (b"hello", "not a skops file"),
        "pickle2.skops": (pickle.dumps(Ridge(), 2), "is a pickle"),
        "pickle5.skops": (pickle.dumps(Ridge(), 5), "is a pickle"),
        "csv.skops": (b"a,b\n1,2\n", "not a skops file"),
        "cut.skops": (b"PK\x03\x04" + bytes(20), "not a skops file"),
    }
