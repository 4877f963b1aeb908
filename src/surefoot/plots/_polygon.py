"""Convex polygons and boxes in the plane."""

import numpy as np

from surefoot._typing import Floats, Mask

# What `voronoi_steps` takes for a distance of zero: the square is no number of full precision.
ZERO_LENGTH = 2.0 * float(np.finfo(np.float64).tiny) ** 0.5

# Corners closer than this, relative to the size of the cell, are one corner and its rounding.
SAME_CORNER = 1e-12


def cell_polygon(query: Floats, rows: Floats, box: Floats) -> Floats:
    """Corners, counter-clockwise, of the part of a box that is nearer to the query than to any row.

    Rows cut the box nearest first; those that reach no corner of what is left are dropped at once.
    A row that equals the query cuts nothing, as for `voronoi_steps`.
    """
    towards, lengths = rows - query, lengths_of(rows - query)
    order = np.argsort(lengths, kind="stable")
    order = order[lengths[order] > ZERO_LENGTH]
    normals, offsets = towards[order] / lengths[order, None], lengths[order] / 2
    (left, bottom), (right, top) = box - query
    polygon = np.array([[left, bottom], [right, bottom], [right, top], [left, top]])
    while len(offsets) > 0:
        polygon = clip_half_plane(polygon, normals[0], offsets[0])
        cutting = (polygon @ normals.T).max(axis=0) > offsets
        cutting[0] = False
        normals, offsets = normals[cutting], offsets[cutting]
    return _without_repeats(polygon) + query


def clip_half_plane(polygon: Floats, normal: Floats, offset: float) -> Floats:
    """Part of a convex polygon around the origin where p·normal ≤ offset, a positive number."""
    excess = polygon @ normal - offset
    if (excess <= 0).all():
        return polygon
    if (excess > 0).all():  # the origin is inside: the polygon is thinner than its rounding
        return polygon - excess[:, None] * normal
    kept = []
    ends = zip(polygon, np.roll(polygon, -1, axis=0), excess, np.roll(excess, -1), strict=True)
    for start, end, before, after in ends:
        if before <= 0:
            kept.append(start)
        if min(before, after) < 0 < max(before, after):
            kept.append(start + (end - start) * (before / (before - after)))
    return np.array(kept)


def _without_repeats(polygon: Floats) -> Floats:
    """Drop corners that differ from the one before by rounding, unless too few would be left."""
    gaps = lengths_of(polygon - np.roll(polygon, 1, axis=0))
    distinct = gaps > SAME_CORNER * lengths_of(polygon).max()
    return polygon[distinct] if distinct.sum() >= 3 else polygon


def is_within(points: Floats, box: Floats) -> Mask:
    """Whether each point lies in a box, and not just on its rim."""
    rim = 1e-9 * (box[1] - box[0])
    within = (points > box[0] + rim) & (points < box[1] - rim)
    return np.asarray(within.all(axis=1))


def square_around(points: Floats, pad: float) -> Floats:
    """Corners of the square that holds the points, with a share of its side to spare all around."""
    low, high = points.min(axis=0), points.max(axis=0)
    side = (high - low).max() or max(1.0, float(np.abs(low).max()))
    half = side * (0.5 + pad)
    return np.array([(low + high) / 2 - half, (low + high) / 2 + half])


def lengths_of(vectors: Floats) -> Floats:
    """Euclidean lengths of vectors in the plane."""
    return np.hypot(vectors[:, 0], vectors[:, 1])


def scaled_to(vector: Floats, length: float) -> tuple[float, float]:
    """Vector in the plane of the given length and the same direction; upwards, if it has none."""
    norm = float(np.hypot(*vector))
    if norm == 0.0:
        return 0.0, length
    return float(vector[0] / norm * length), float(vector[1] / norm * length)
