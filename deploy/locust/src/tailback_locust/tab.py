"""An extra tab of the web UI: each shard in a table of Locust's own, in flight and window of all of them as pictures below."""

from __future__ import annotations

import logging
from collections.abc import Callable
from importlib import resources
from typing import Any

from flask import Blueprint, Response, jsonify, request
from locust.web import WebUI

from tailback_locust.fixed_users import REASON

logger = logging.getLogger(__name__)

KEY = "tailback"

COLUMNS = {
    "shard": "Shard",
    "worker": "Worker",
    "state": "State",
    "in_flight": "In flight",
    "waiting": "Waiting",
    "window": "Window",
}


def add(web_ui: WebUI, is_under_way: Callable[[], bool], view: Callable[[], dict[str, Any] | None]) -> None:
    """Adds the tab, and refuses there what is refused everywhere else while a run is under way."""
    assert web_ui.app is not None, "Locust makes it before it tells of itself"
    web_ui.template_args["extended_tabs"] = [{"title": "Tailback", "key": KEY}]
    structure = [{"key": key, "title": title} for key, title in COLUMNS.items()]
    web_ui.template_args["extended_tables"] = [{"key": KEY, "structure": structure}]
    options = web_ui.environment.parsed_options
    base = options.web_base_path if options else ""
    routes = Blueprint(KEY, __name__, url_prefix=f"{base}/{KEY}")

    @routes.route("/gauges")
    @web_ui.auth_required_if_enabled  # type: ignore[untyped-decorator]
    def gauges() -> Response:
        return jsonify(view())

    @routes.route("/tab.js")
    def script() -> Response:
        text = resources.files(__package__).joinpath("tab.js").read_text(encoding="utf-8")
        return Response(text, mimetype="text/javascript")

    def extend(response: Response) -> Response:
        """The table's rows go with Locust's statistics, and the script with its page."""
        path = request.path.removeprefix(base)
        if path == "/stats/requests" and response.is_json:
            shards = (view() or {"shards": []})["shards"]
            response.set_data(jsonify({**response.get_json(), "extended_stats": [{"key": KEY, "data": shards}]}).data)
        elif path in ("", "/") and response.mimetype == "text/html" and not response.direct_passthrough:
            tag = f'<script src="{base}/{KEY}/tab.js"></script></body>'
            response.set_data(response.get_data(as_text=True).replace("</body>", tag))
        return response

    def refuse_edit() -> Response | None:
        """Before Locust breaks off its own spawning for it."""
        if request.path.removeprefix(base) == "/swarm" and is_under_way():
            logger.warning("tailback: %s", REASON)
            return jsonify({"success": False, "message": REASON, "host": web_ui.environment.host})
        return None

    web_ui.app.register_blueprint(routes)
    web_ui.app.after_request(extend)
    web_ui.app.before_request(refuse_edit)
