"""Who may change something on the web page, and what: asked of Locust's own application, without any process."""

from __future__ import annotations

import sys
import unittest
from typing import Any
from unittest import mock

from flask.testing import FlaskClient
from locust import argument_parser, events
from locust.env import Environment
from locust.web import WebUI

from tailback_locust import arguments, page_guard

OWN = "http://localhost"
FORM = {"user_count": "4", "spawn_rate": "4", "host": "http://a"}
# What only the command line of the master and of the workers says: each names a file or a program, or may hold a flag that does.
FILES = ("loadgen", "loadgen_flags", "merge_flags", "results", "csv_prefix", "html_file", "json_file", "locustfile", "logfile")

events.init_command_line_parser.add_listener(arguments.add)


class Page(unittest.TestCase):
    def setUp(self) -> None:
        # Locust reads the command line of this process when it makes a page; it is not Locust's.
        command_line = mock.patch.object(sys, "argv", ["locust"])
        command_line.start()
        self.addCleanup(command_line.stop)
        self.options = argument_parser.get_parser().parse_args(["--loadgen-flags=--seed 7", "--allow-host", "master.test"])
        environment = Environment(parsed_options=self.options)
        environment.create_local_runner()
        web_ui: WebUI = environment.create_web_ui("127.0.0.1", 8089, delayed_start=True)
        page_guard.add(web_ui)
        assert web_ui.app is not None and environment.runner is not None
        self.started: list[tuple[int, float]] = []
        environment.runner.start = lambda users, rate: self.started.append((users, rate))  # type: ignore[method-assign, assignment]
        self.page: FlaskClient = web_ui.app.test_client()
        self.before = dict(vars(self.options))

    def sends(self, form: dict[str, Any], origin: str | None = OWN, path: str = "/swarm") -> tuple[int, str]:
        headers = {} if origin is None else {"Origin": origin}
        answer = self.page.post(path, data=form, headers=headers)
        return answer.status_code, answer.get_data(as_text=True)

    def is_unchanged(self) -> None:
        self.assertEqual(vars(self.options), self.before)
        self.assertEqual(self.started, [])

    def test_the_form_of_the_page_sets_what_has_no_path(self) -> None:
        page = self.page.get("/")
        cookie = page.headers["Set-Cookie"]
        self.assertRegex(cookie, "^tailback_8089=.{43}; HttpOnly; Path=/; SameSite=Strict")
        settings = {"strategy": "cubic", "ops": "9", "rate": "5/s", "barrier": "http://b", "barrier_timeout": "9s", "start_in": "7"}
        self.assertEqual(sorted(settings), sorted(arguments.ON_THE_PAGE))
        status, told = self.sends({**FORM, **settings})
        self.assertEqual((status, '"success": true' in told), (200, True), told)
        self.assertEqual({key: vars(self.options)[key] for key in settings}, settings)

    def test_the_page_shows_the_fields_that_it_may_set_and_no_others(self) -> None:
        shown = argument_parser.ui_extra_args_dict([])
        self.assertEqual(sorted(shown), sorted(arguments.ON_THE_PAGE))

    def test_a_form_of_another_site_changes_nothing(self) -> None:
        self.page.get("/")
        for origin in ("http://elsewhere.example", "http://localhost:9000", "null", "http://localhost.elsewhere.example"):
            for path in ("/swarm", "/stop", "/stats/reset", "/user"):
                with self.subTest(origin=origin, path=path):
                    status, told = self.sends(FORM, origin, path)
                    self.assertEqual((status, "it comes from another site" in told), (403, True), told)
        self.is_unchanged()

    def test_a_form_without_the_cookie_of_the_page_changes_nothing(self) -> None:
        for origin in (None, OWN):
            status, told = self.sends(FORM, origin)
            self.assertEqual((status, "it lacks the cookie `tailback_8089`" in told), (403, True), told)
        self.page.set_cookie("tailback_8089", "x" * 43)
        self.assertEqual(self.sends(FORM)[0], 403)
        for path in ("/stop", "/stats/reset"):
            # Earlier versions of Locust are stopped by these.
            self.assertEqual(self.page.get(path).status_code, 403)
        self.is_unchanged()

    def test_no_other_site_gets_the_cookie(self) -> None:
        """As after DNS rebinding: `Host` and `Origin` name the other site."""
        for host in ("evil.example", "evil.example:8089", "localhost.evil.example", "127.0.0.1.evil.example", "127.0.0.1:x", "::1", "[evil]", ""):
            with self.subTest(host):
                page = self.page.get("/", headers={"Host": host})
                self.assertEqual((page.status_code, page.headers.get("Set-Cookie")), (403, None))
                answer = self.page.post("/swarm", data=FORM, headers={"Host": host, "Origin": f"http://{host}"})
                self.assertEqual(answer.status_code, 403)
        self.is_unchanged()
        self.page.get("/")
        answer = self.page.post("/swarm", data=FORM, headers={"Host": "evil.example", "Origin": "http://evil.example"})
        self.assertIn("--allow-host", answer.get_data(as_text=True))
        self.is_unchanged()

    def test_addresses_and_names_of_the_command_line_are_hosts(self) -> None:
        for host in ("127.0.0.1:8089", "LocalHost", "[::1]:8089", "192.0.2.7", "Master.test:80"):
            with self.subTest(host):
                page = self.page.get("/", headers={"Host": host})
                self.assertEqual((page.status_code, "Set-Cookie" in page.headers), (200, True))

    def test_files_and_programs_are_fixed_on_the_command_line(self) -> None:
        self.page.get("/")
        known = set(self.before) & set(FILES)
        self.assertLessEqual({"loadgen", "loadgen_flags", "merge_flags", "results", "csv_prefix"}, known)
        others = set(self.before) - {*page_guard.LOCUSTS_OWN, *arguments.ON_THE_PAGE, "num_users"}
        for option in sorted(known | others):
            with self.subTest(option):
                status, told = self.sends({**FORM, option: "/tmp/x"})
                self.assertEqual((status, f"`{option}`: only the command line sets this" in told), (403, True), told)
        self.is_unchanged()


if __name__ == "__main__":
    unittest.main()
