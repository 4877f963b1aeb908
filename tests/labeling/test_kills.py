"""A server that is killed again and again loses nothing that it has acknowledged."""

import signal

import pytest


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="a process cannot be killed as on Linux")
@pytest.mark.slow
def test_kills_among_the_answers_of_four_people_lose_nothing(tmp_path):
    pytest.importorskip("httpx", reason="httpx is not installed")
    pytest.importorskip("fastapi", reason="the extra 'label' is not installed")
    import labeling_kills  # noqa: PLC0415 - it needs both

    figures = labeling_kills.measure(300, 3, tmp_path)
    assert figures["answers acknowledged"] == 300
    assert figures["kills"] == 3
    assert figures["answers sent twice on purpose"] > 0
    assert figures["rows that came back from a person who never answers"] > 0
    names = list(figures)
    faults = names[names.index("median seconds of a start") + 1 :]
    assert len(faults) == 7
    assert {name: figures[name] for name in faults} == dict.fromkeys(faults, 0)
    assert "Traceback" not in (tmp_path / "stderr.txt").read_text()
