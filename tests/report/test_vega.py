"""The script for charts is put together once; a damaged copy is made again."""

from surefoot.report.page import render


def page_with(summary, folder, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return render(summary)


def test_a_kept_script_is_used_and_a_damaged_one_made_again(
    classification_summary, tmp_path, monkeypatch
):
    first = page_with(classification_summary, tmp_path, monkeypatch)
    [kept] = (tmp_path / "surefoot").iterdir()
    content = kept.read_text("utf-8")
    monkeypatch.setattr("vl_convert.javascript_bundle", lambda _: "no script was to be made")
    assert page_with(classification_summary, tmp_path, monkeypatch) == first
    kept.write_text(content[:-1000], "utf-8")
    assert "no script was to be made" in page_with(classification_summary, tmp_path, monkeypatch)


def test_a_home_that_cannot_be_written_has_a_page_too(
    classification_summary, tmp_path, monkeypatch
):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setattr("vl_convert.javascript_bundle", lambda _: "made anew")
    assert "made anew" in page_with(classification_summary, tmp_path / "file", monkeypatch)
