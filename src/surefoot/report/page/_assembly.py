"""Assembly of a page: templates, style, scripts and data become one file that needs no other."""

import json
from base64 import b64encode
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from surefoot._words import number, percent
from surefoot.report.page._drawing import THEME, Chart
from surefoot.report.page._vega import vega_script


def assemble(
    template: str,
    scripts: Iterable[str],
    charts: dict[str, Chart],
    data: dict[str, Any],
    context: dict[str, Any],
) -> str:
    """HTML of a template with its charts; the scripts read `data`, besides the charts and their theme."""
    specs = {name: chart["spec"] for name, chart in charts.items()}
    code = {
        "style": _asset("style.css"),
        "vega": vega_script(),
        "script": "\n".join(map(_asset, scripts)),
    }
    return (
        _environment()
        .get_template(template)
        .render(
            context,
            charts=charts,
            code={name: Markup(text) for name, text in code.items()},  # noqa: S704 - our own files
            data_script=Markup(_as_script({"theme": THEME, "charts": specs, **data})),  # noqa: S704 - escaped below
            policy=_policy(code),
        )
    )


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("surefoot.report.page"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        finalize=_keep_together,
    )
    environment.filters |= {"percent": percent, "number": number, "figure": _figure}
    environment.globals |= {"percent": percent, "number": number}
    return environment


def _keep_together(value: Any) -> Any:
    """Put a non-breaking space between a number and its percent sign."""
    plain = isinstance(value, str) and not isinstance(value, Markup)
    return value.replace(" %", "\u00a0%") if plain else value


@cache
def _asset(name: str) -> str:
    return (files("surefoot.report.page") / "templates" / name).read_text("utf-8")


def _policy(code: dict[str, str]) -> str:
    """Content security policy that allows only the page's own scripts and style, by their hashes."""
    digests = {
        name: f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
        for name, text in code.items()
    }
    return (
        f"default-src 'none'; script-src {digests['vega']} {digests['script']}; style-src {digests['style']}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _as_script(data: dict[str, Any]) -> str:
    """JSON for a script element, escaped so that it cannot end the element."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _figure(value: Any) -> str:
    return (
        number(value)
        if isinstance(value, int | float) and not isinstance(value, bool)
        else str(value)
    )
