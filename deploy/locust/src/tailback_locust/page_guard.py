"""Lets only Locust's own page change something, and only settings that hold no paths.

Locust takes every option of its command line from the form of `/swarm`, also those that no form shows, and answers forms of other sites:
a browser sends these wherever it can reach. So a request that changes something needs what other sites cannot send: an `Origin` that is
this host, if there is one, and the cookie that came with the page. `SameSite=Strict` keeps browsers from adding it elsewhere.

The name of another site can be resolved to this machine (DNS rebinding). Its pages then have the right `Origin`, and would get the cookie.
So every request, also that for the page, needs a `Host` that no other site can have: an address, `localhost`, or a name of `--allow-host`.
"""

from __future__ import annotations

import hmac
import ipaddress
import logging
import re
import secrets
from urllib.parse import urlsplit

from flask import Response, jsonify, request
from locust.web import WebUI

from tailback_locust.arguments import ON_THE_PAGE

logger = logging.getLogger(__name__)

# The fields of Locust's own form.
LOCUSTS_OWN = ("user_count", "spawn_rate", "host", "run_time", "profile", "user_classes", "shape_class")

# Earlier versions let a GET do these.
CHANGES = ("/swarm", "/stop", "/stats/reset", "/user")


def add(web_ui: WebUI) -> None:
    """Puts itself before everything that the web UI answers."""
    assert web_ui.app is not None, "Locust makes it before it tells of itself"
    options = web_ui.environment.parsed_options
    base = options.web_base_path if options else ""
    names = {name.lower() for name in options.allow_host} if options else set()
    token = secrets.token_urlsafe(32)
    # Cookies do not know ports: each master of a host needs a name of its own.
    cookie = f"tailback_{web_ui.port}"

    def refuse() -> tuple[Response, int] | None:
        path = request.path.removeprefix(base or "")
        why = _why_host(request.headers.get("Host", ""), names)
        if not why and request.method in ("GET", "HEAD", "OPTIONS") and path not in CHANGES:
            return None
        why = why or _why_foreign(token, cookie)
        if not why and (others := sorted(set(request.form) - {*LOCUSTS_OWN, *ON_THE_PAGE})) and path == "/swarm":
            why = f"{', '.join(f'`{other:.40}`' for other in others[:5])}: only the command line sets this"
        if not why:
            return None
        logger.warning("tailback: the web page: refused: %s", why.encode("ascii", "backslashreplace").decode())
        return jsonify({"success": False, "message": f"refused: {why}"}), 403

    def give_token(response: Response) -> Response:
        # With what the page polls, too: it may be older than this master.
        is_page = response.status_code == 200 and response.mimetype in ("text/html", "application/json")
        if request.method == "GET" and is_page and request.cookies.get(cookie) != token:
            response.set_cookie(cookie, token, path=f"{base or ''}/", httponly=True, samesite="Strict")
        return response

    web_ui.app.before_request(refuse)
    web_ui.app.after_request(give_token)


def _why_host(host: str, names: set[str]) -> str:
    """Why another site could have this `Host`; empty when none could."""
    parts = re.fullmatch(r"(\[[^\]]*\]|[^\[\]:]*)(:[0-9]*)?", host)
    name = parts[1].lower() if parts else ""
    if name == "localhost" or name in names:
        return ""
    try:
        is_v6 = ipaddress.ip_address(name.strip("[]")).version == 6
    except ValueError:
        return f"other sites could have the host `{host:.100}`; use an address or `localhost`, or start with `--allow-host NAME`"
    return "" if is_v6 == name.startswith("[") else f"`{host:.100}` is not an address with a port"


def _why_foreign(token: str, cookie: str) -> str:
    """Why a request is not of the page; empty when it is."""
    origin = request.headers.get("Origin")
    if origin is not None and urlsplit(origin).netloc != request.host:
        return "it comes from another site"
    if not hmac.compare_digest(request.cookies.get(cookie, "").encode(), token.encode()):
        return f"it lacks the cookie `{cookie}`, which comes with the page"
    return ""
