"""Records Python libraries: replaces sleeps and clocks, and drives each library against a scripted server.

gRPC waits outside of Python, and is recorded in real time. Celery has no server, and notes the countdowns of a task.

Usage: clients.py LIBRARY OLD.json NEW.json MAX_OPS SERIES.json

Takes the scenarios of the recording OLD.json, and writes their measurements with the installed version to NEW.json.
`record` in this folder starts this program. A function of CLIENTS gets the configuration of a scenario, and
returns a function that does one operation, or None if it does not know the configuration.
"""

import asyncio
import datetime
import functools
import importlib.metadata
import json
import re
import socket
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from email.utils import formatdate
from math import ceil
from pathlib import Path

MIN_WAIT_S = 0.015  # Shorter waits at the start and the end of an operation are noise of the program.
GRPC_TIMEOUT_S = 5  # Longer than the retries of all scenarios.


class Server:
    """Scripted HTTP server. It answers request number n with step n of `steps`; the last step repeats."""

    def __init__(self, on_request=lambda method: None, on_response=lambda: None):
        self.steps, self.number = [], 0
        self.on_request, self.on_response = on_request, on_response
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def play(self, steps):
        self.steps, self.number = steps, 0

    def accept(self):
        while True:
            connection, _ = self.listener.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with connection, connection.makefile("rb") as stream:
            try:
                while self.answer(connection, stream):
                    pass
            except OSError:
                pass

    def answer(self, connection, stream):
        """Reads a request and answers it. Returns whether the connection stays open."""
        first = stream.readline().split()
        if not first:
            return False
        headers = {}
        while (line := stream.readline().strip()) and b":" in line:
            name, _, value = line.partition(b":")
            headers[name.lower()] = value.strip()
        if headers.get(b"expect") == b"100-continue":
            connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        stream.read(int(headers.get(b"content-length", 0)))
        if headers.get(b"transfer-encoding") == b"chunked":
            while size := int(stream.readline().split(b";")[0], 16):
                stream.read(size + 2)
            stream.readline()
        step = self.steps[min(self.number, len(self.steps) - 1)]
        self.number += 1
        self.on_request(first[0].decode())
        if step.get("close"):
            self.on_response()
            connection.shutdown(socket.SHUT_RDWR)
            return False
        # The built-in series have no bodies, but clients parse those of successes.
        body = step.get("body", "{}" if step["status"] < 300 else "").encode()
        lines = [f"HTTP/1.1 {step['status']} Scripted", f"Content-Length: {len(body)}"]
        given = step.get("headers", {})
        if "content-type" not in given:
            lines.append(f"Content-Type: application/{'xml' if body.startswith(b'<?xml') else 'json'}")
        lines += [f"{name}: {at_instant(value)}" for name, value in given.items()]
        text = "\r\n".join(lines).encode() + b"\r\n\r\n"
        self.on_response()
        connection.sendall(text if first[0] == b"HEAD" else text + body)
        return True


def at_instant(value):
    """Returns the value of a header, with `@date+3` and `@epoch+5` as instants from the next whole second."""
    match = re.fullmatch(r"@(date|epoch)([+-]\d+)", str(value))
    if not match:
        return value
    instant = ceil(time.time()) + int(match[2])
    return instant if match[1] == "epoch" else formatdate(instant, usegmt=True)


class Clock:
    """Replaced sleeps and clocks. Clocks stand still, and a sleep returns at once and sets all of them forward."""

    def __init__(self):
        self.slept = 0.0

    def install(self):
        for name in ("time", "monotonic", "perf_counter"):
            real = getattr(time, name)
            setattr(time, name, lambda start=real(): start + self.slept)
        real_wait, real_sleep, main = threading.Condition.wait, asyncio.sleep, threading.main_thread()

        def wait(condition, timeout=None):
            if timeout is None or threading.current_thread() is not main:
                return real_wait(condition, timeout)
            self.sleep(timeout)
            return False

        async def sleep(delay, result=None):
            self.sleep(delay)
            return await real_sleep(0, result)

        time.sleep, threading.Condition.wait, asyncio.sleep = self.sleep, wait, sleep

    def install_dates(self):
        """Replaces the class of dates. Libraries whose types are checked in C do not accept the new class."""

        class Replaced(datetime.datetime):
            @classmethod
            def now(cls, tz=None):
                return super().fromtimestamp(time.time(), tz)

            @classmethod
            def utcnow(cls):
                return super().fromtimestamp(time.time(), datetime.timezone.utc).replace(tzinfo=None)

        datetime.datetime = Replaced

    def sleep(self, seconds):
        self.slept += max(0.0, seconds)


class RealClock:
    """Clock for libraries that wait outside of Python."""

    @property
    def slept(self):
        """Returns the present time, because only its differences are used."""
        return time.monotonic()

    def sleep(self, seconds):
        time.sleep(seconds)


class GrpcServer:
    """Variant of `Server` for gRPC. The steps have codes instead of statuses."""

    def __init__(self, on_request):
        import grpc
        self.steps, self.number = [], 0
        self.on_request = on_request
        server = grpc.server(ThreadPoolExecutor())
        handler = grpc.unary_unary_rpc_method_handler(self.answer)
        server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("scripted.Service", {"Method": handler})])
        self.url = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
        server.start()
        self.server = server

    play = Server.play

    def answer(self, _request, context):
        import grpc
        step = self.steps[min(self.number, len(self.steps) - 1)]
        self.number += 1
        self.on_request("unary")
        if "push" in step:
            context.set_trailing_metadata([("grpc-retry-pushback-ms", step["push"])])
        if step["code"] != "OK":
            context.abort(grpc.StatusCode[step["code"]], "scripted")
        return b""


def status_of(error):
    """Returns the HTTP status in the error of a library, or None."""
    candidates = [getattr(error, name, None) for name in ("status_code", "status", "http_status", "code")]
    for response in (getattr(error, "response", None), getattr(error, "resp", None)):
        if isinstance(response, dict):
            candidates.append(response.get("ResponseMetadata", {}).get("HTTPStatusCode"))
        candidates += [getattr(response, name, None) for name in ("status_code", "status")]
    return next((int(one) for one in candidates if isinstance(one, int) and 100 <= one <= 599), None)


def outcome_of(operation):
    try:
        status = operation()
    except Exception as error:
        code = getattr(error, "code", None)
        status, kind = status_of(error), code().name if callable(code) else type(error).__name__
    else:
        kind = "success" if not isinstance(status, int) or status < 300 else "Response"
    return {"type": kind, **({"status": status} if isinstance(status, int) else {})}


class Recorder:
    def __init__(self, clock):
        self.clock = clock
        self.is_real = isinstance(clock, RealClock)
        self.waits, self.mark, self.method = [], 0.0, None
        self.server = (GrpcServer if self.is_real else Server)(self.on_request)

    def on_request(self, method):
        self.waits.append(round(self.clock.slept - self.mark, 4))
        self.method, self.mark = (self.method or method), self.clock.slept

    def operation(self, operation, steps):
        """Does one operation. Returns its waits (one before each request, one after the last) and its outcome."""
        self.server.play(steps)
        self.waits, self.mark, self.method = [], self.clock.slept, None
        outcome = outcome_of(operation)
        return [*self.waits, round(self.clock.slept - self.mark, 4)], outcome

    def scenario(self, old, make, series, max_ops):
        """Records a scenario anew. Returns None if its configuration or its script is not known."""
        names = ("id", "config", "service_config", "method", "steps", "kind")
        kept = {key: old[key] for key in names if key in old}
        # An operation waits before its first request only because of earlier operations of the same client.
        before = old.get("sleep_before_first", 0)
        before = before if isinstance(before, list) else [before]
        one = 2 * sum(wait > MIN_WAIT_S for wait in before) > len(before)
        client = create(make, self.server.url, old)
        if client is None:
            return None
        if old.get("kind") == "series":
            script = series.get(old["id"])
            if script is None:
                return None
            attempts, waits, outcomes = [], [], []
            for steps in listed(script, old["ops"]):
                each, outcome = self.operation(client, steps)
                attempts.append(len(each) - 1)
                waits.append(each if each[-1] > MIN_WAIT_S else each[:-1])
                outcomes.append("ok" if outcome["type"] == "success" else outcome["type"])
                self.clock.sleep(script.get("pause_s", 0))
            runs = []
            for outcome in outcomes:
                if runs and runs[-1][0] == outcome:
                    runs[-1][1] += 1
                else:
                    runs.append([outcome, 1])
            # In real time, the waits before and after the requests of an operation are noise.
            waits = {} if self.is_real else {"waits_per_op": waits}
            return {**kept, "ops": old["ops"], "attempts_per_op": attempts, **waits, "outcomes_per_op": runs}
        ops, outcomes = [], Counter()
        for number in range(min(old["n"], max_ops)):
            if number and not one:
                client = create(make, self.server.url, old)
            # Without steps, no request is sent, and an operation returns its waits and its outcome.
            waits, outcome = self.operation(client, old["steps"]) if old.get("steps") else client()
            ops.append([0, *waits[1:-1], 0] if self.is_real and len(waits) > 1 else waits)
            outcomes[json.dumps(outcome)] += 1
        fields = {"method": self.method or old.get("method"), **measured(ops), **ended(outcomes)}
        # A formula gives waits without an end.
        return {**kept, **fields, **({"attempts": None} if old["id"] == "formula" else {})}


def create(make, url, old):
    return make(old.get("service_config") or old["config"], url, old.get("method") or "GET")


def listed(script, ops):
    """Returns the steps of each operation of a series."""
    groups = script["ops"]
    steps = []
    while len(steps) < ops:
        for number, group in enumerate(groups):
            is_last = number + 1 == len(groups) and not script.get("repeat")
            steps += [group["steps"]] * (ops - len(steps) if is_last else group.get("count", ops))
    return steps[:ops]


def measured(ops):
    """Returns the measurements of operations from their waits: one before each request, and one after the last."""
    same = lambda values: values[:1] if all(value == values[0] for value in values) else values
    attempts = same([len(waits) - 1 for waits in ops])
    fields = {"n": len(ops), "attempts": attempts[0] if len(attempts) == 1 else attempts,
              "samples": same([waits[1:-1] for waits in ops])}
    for key, place in (("sleep_before_first", 0), ("sleep_after_last", -1)):
        waits = [each[place] for each in ops]
        if max(waits) > MIN_WAIT_S:
            fields[key] = waits
    return fields


def ended(outcomes):
    if len(outcomes) == 1:
        return {"outcome": json.loads(next(iter(outcomes)))}
    return {"outcomes": {kind_of(json.loads(outcome)): count for outcome, count in outcomes.items()}}


def kind_of(outcome):
    return f"{outcome['type']} {outcome['status']}" if "status" in outcome else outcome["type"]


# Clients. The configuration is a text of the recording; `evaluated` evaluates the Python expression in it.


def evaluated(config, **names):
    """Returns the value of the configuration as a Python expression, or None if it is not one with these names."""
    try:
        return eval(config, {"__builtins__": {}, "True": True, "False": False, "None": None}, names)
    except Exception:
        return None


def sending(session, url, method):
    """Returns a function that sends one request with a session of requests or httpx."""
    def operation():
        answer = session.request(method, url + "/x")
        answer.raise_for_status()
        return answer.status_code
    return operation


def urllib3_client(config, url, method):
    import urllib3
    retry = None if config == "PoolManager() default" else evaluated(config, Retry=urllib3.Retry)
    if retry is None and config != "PoolManager() default":
        return None
    pool = urllib3.PoolManager(**({"retries": retry} if retry else {}))
    return lambda: pool.request(method, url + "/x").status


def requests_client(config, url, method):
    import requests
    from requests.adapters import HTTPAdapter
    from urllib3 import Retry
    session = requests.Session()
    if config != "Session() default":
        adapter = evaluated(config, HTTPAdapter=HTTPAdapter, Retry=Retry)
        if adapter is None:
            return None
        session.mount("http://", adapter)
    return sending(session, url, method)


def httpx_client(config, url, method):
    import httpx
    import httpx_retries
    if config == "Client() default":
        transport = None
    elif config == "RetryTransport() default":
        transport = httpx_retries.RetryTransport()
    elif config.startswith("HTTPTransport("):
        transport = evaluated(config, HTTPTransport=httpx.HTTPTransport)
    elif retry := evaluated(config, Retry=httpx_retries.Retry):
        transport = httpx_retries.RetryTransport(retry=retry)
    else:
        return None
    client = httpx.Client(transport=transport, verify=False)
    return sending(client, url, method)


def openai_client(config, url, _method):
    import openai
    options = evaluated(f"dict({config})", dict=dict) if config.startswith("max_retries=") else {}
    # Reading certificates would take most of the time.
    http_client = openai.DefaultHttpxClient(verify=False)
    client = openai.OpenAI(api_key="key", base_url=url + "/v1", http_client=http_client, **options)
    if config.startswith("models.retrieve"):
        return lambda: client.models.retrieve("x") and None
    if "default" not in config and not options:
        return None
    return lambda: client.chat.completions.create(model="x", messages=[{"role": "user", "content": "x"}]) and None


def anthropic_client(config, url, _method):
    import anthropic
    options = evaluated(f"dict({config})", dict=dict) if config.startswith("max_retries=") else {}
    http_client = anthropic.DefaultHttpxClient(verify=False)
    client = anthropic.Anthropic(api_key="key", base_url=url, http_client=http_client, **options)
    if "default" not in config and not options:
        return None
    return lambda: client.messages.create(
        model="x", max_tokens=1, messages=[{"role": "user", "content": "x"}]) and None


def stripe_client(config, url, _method):
    import stripe
    if config.startswith("module level"):
        stripe.api_key, stripe.api_base = "sk_test_key", url
        return lambda: stripe.Customer.create(email="x@example.com") and None
    retries = re.search(r"max_network_retries=(\d+)", config)
    if retries is None and "default" not in config:
        return None
    options = {"max_network_retries": int(retries[1])} if retries else {}
    client = stripe.StripeClient("sk_test_key", base_addresses={"api": url}, **options)
    if "retrieve" in config:
        return lambda: client.v1.customers.retrieve("cus_1") and None
    return lambda: client.v1.customers.create({"email": "x@example.com"}) and None


def slack_client(config, url, _method):
    from slack_sdk import WebClient
    from slack_sdk.http_retry import builtin_handlers as handlers
    own = {
        "WebClient default": lambda: None,
        "+ RateLimitErrorRetryHandler(max_retry_count=1)":
            lambda: [handlers.RateLimitErrorRetryHandler(max_retry_count=1)],
        "+ RateLimitErrorRetryHandler(3), ServerErrorRetryHandler(4)":
            lambda: [handlers.RateLimitErrorRetryHandler(3), handlers.ServerErrorRetryHandler(4)],
    }.get(config)
    if own is None:
        return None
    client = WebClient("xoxb-token", base_url=url + "/api/")
    for handler in own() or []:
        client.retry_handlers.append(handler)
    return lambda: client.chat_postMessage(channel="C1", text="x") and None


def google_api_core_client(config, url, _method):
    import requests
    from google.api_core import exceptions, retry
    # Remarks follow the expression.
    expression = config.split("  ")[0].split(" stopped by")[0].removesuffix(" default")
    made = evaluated(expression, Retry=retry.Retry)
    if made is None:
        return None
    session = requests.Session()
    def once():
        answer = session.get(url + "/x")
        if answer.status_code >= 400:
            raise exceptions.from_http_response(answer)
        return answer.status_code
    return made(once)


def google_api_client(config, url, method):
    from google.auth.credentials import AnonymousCredentials
    from googleapiclient.discovery import build
    options = {"execute() default": {}, "execute(num_retries=4)": {"num_retries": 4}}.get(config)
    if options is None:
        return None
    drive = build("drive", "v3", credentials=AnonymousCredentials(), static_discovery=True,
                  client_options={"api_endpoint": url + "/drive/v3/"})
    request = drive.files().create(body={}) if method == "POST" else drive.files().list()
    return lambda: request.execute(**options) and None


def tenacity_client(config, url, _method):
    import requests
    import tenacity
    made = evaluated(f"({config})", **vars(tenacity))
    if made is None:
        return None
    stop, wait = made
    session = requests.Session()
    @tenacity.retry(stop=stop, wait=wait)
    def operation():
        session.get(url + "/x").raise_for_status()
    return operation


def backoff_client(config, url, _method):
    import backoff
    import requests
    names = {**vars(backoff), "on_exception": lambda wait, **options: (wait, options)}
    made = evaluated(config, **names)
    if made is None:
        return None
    wait, options = made
    session = requests.Session()
    @backoff.on_exception(wait, requests.HTTPError, **options)
    def operation():
        session.get(url + "/x").raise_for_status()
    return operation


def azure_client(config, url, method):
    from azure.core import PipelineClient
    from azure.core.pipeline.policies import RetryMode, RetryPolicy
    from azure.core.rest import HttpRequest
    expression = config.replace("retry_mode=Fixed", "retry_mode=RetryMode.Fixed").removesuffix(" default")
    policy = evaluated(expression, RetryPolicy=RetryPolicy, RetryMode=RetryMode)
    if policy is None:
        return None
    client = PipelineClient(base_url=url, policies=[policy])
    def operation():
        answer = client.send_request(HttpRequest(method, url + "/x"))
        answer.raise_for_status()
        return answer.status_code
    return operation


def github_client(config, url, _method):
    import github
    expression = config.split(", ")[0].split(" (")[0].removesuffix(" default")
    client = evaluated(expression, Github=lambda **options: github.Github(
        auth=github.Auth.Token("token"), base_url=url, **options),
        GithubRetry=github.GithubRetry)
    if client is None:
        return None
    if config.endswith("create issue"):
        repository = client.get_repo("x/x", lazy=True)
        return lambda: repository.create_issue("x") and None
    return lambda: client.get_user("x") and None


def kubernetes_client(config, url, _method):
    from kubernetes import client
    expression, _, operation = config.rpartition(", ")
    configuration = client.Configuration(host=url)
    if (pair := re.fullmatch(r"(client_go_retries|retries)=(\w+)", expression)) is not None:
        if not hasattr(configuration, pair[1]):
            return None
        setattr(configuration, pair[1], evaluated(pair[2]))
    elif expression != "Configuration() default":
        return None
    api = client.CoreV1Api(client.ApiClient(configuration))
    return {"list_namespace": lambda: api.list_namespace() and None,
            "create_namespace": lambda: api.create_namespace({"metadata": {"name": "x"}}) and None}.get(operation)


def boto_client(config, url, _method):
    from botocore.config import Config
    match = re.fullmatch(r"(s3|dynamodb|sqs) (\w+), (default|mode=(\w+)(?: total_max_attempts=(\d+))?)", config)
    if match is None:
        return None
    service, operation, _, mode, attempts = match.groups()
    retries = {**({"mode": mode} if mode else {}), **({"total_max_attempts": int(attempts)} if attempts else {})}
    client = session().client(service, region_name="us-east-1", aws_access_key_id="key", aws_secret_access_key="secret",
                              endpoint_url=url, config=Config(retries=retries or None))
    call = {
        "GetObject": lambda: client.get_object(Bucket="bucket", Key="key"),
        "PutObject": lambda: client.put_object(Bucket="bucket", Key="key", Body=b"x"),
        "GetItem": lambda: client.get_item(TableName="table", Key={"id": {"S": "1"}}),
        "SendMessage": lambda: client.send_message(QueueUrl=url + "/1/queue", MessageBody="x"),
        "ReceiveMessage": lambda: client.receive_message(QueueUrl=url + "/1/queue"),
    }[operation]
    return lambda: call() and None


@functools.cache
def session():
    """Returns one session for all clients, because loading the models of the services takes long."""
    import boto3
    return boto3.session.Session()


@functools.cache
def aiohttp_options(config):
    """Returns one object for all clients of a configuration, because FibonacciRetry counts the retries of all."""
    import aiohttp_retry
    names = {name: getattr(aiohttp_retry, name) for name in ("ExponentialRetry", "JitterRetry", "FibonacciRetry")}
    return evaluated(config, **names)


def aiohttp_retry_client(config, url, method):
    import aiohttp_retry
    options = None if config == "RetryClient() default" else aiohttp_options(config)
    if options is None and config != "RetryClient() default":
        return None
    async def run():
        async with aiohttp_retry.RetryClient(raise_for_status=False, retry_options=options) as client:
            async with client.request(method, url + "/x") as answer:
                answer.raise_for_status()
                return answer.status
    return lambda: asyncio.run(run())


def azure_storage_client(config, url, method):
    from azure.storage import blob
    if config.startswith("retry_total="):
        options = evaluated(f"dict({config})", dict=dict)
    elif config == "BlobClient() default":
        options = {}
    else:
        policy = evaluated(config, ExponentialRetry=blob.ExponentialRetry, LinearRetry=blob.LinearRetry)
        options = policy and {"retry_policy": policy}
    if options is None:
        return None
    client = blob.BlobClient(url + "/account", "container", "blob", **options)
    call = {"GET": client.get_blob_tags, "HEAD": client.get_blob_properties, "DELETE": client.delete_blob,
            "PUT": lambda: client.upload_blob(b"x", overwrite=True)}.get(method)
    return call and (lambda: call() and None)


def google_genai_client(config, url, method):
    from google import genai
    from google.genai import types
    retry = evaluated(config, HttpRetryOptions=types.HttpRetryOptions)
    if retry is None and config != "Client() without retry_options":
        return None
    client = genai.Client(api_key="key", http_options=types.HttpOptions(base_url=url, retry_options=retry))
    if method == "GET":
        return lambda: client.models.get(model="x") and None
    return lambda: client.models.generate_content(model="x", contents="x") and None


def huggingface_client(config, url, method):
    from huggingface_hub.utils import http_backoff
    options = evaluated(config.removesuffix(" default"), http_backoff=dict)
    if options is None:
        return None
    return lambda: http_backoff(method, url + "/x", **options).status_code


def celery_client(config, _url, _method):
    import celery
    from celery.utils.time import get_exponential_backoff_interval
    limits = {"retry_backoff=True (factor 1, max 600, jitter)": (1, 600),
              "retry_backoff=2, retry_backoff_max=20": (2, 20)}
    if limit := limits.get(config):
        waits = lambda: [get_exponential_backoff_interval(limit[0], number, limit[1], True) for number in range(12)]
        return lambda: ([0, *waits(), 0], {"type": "formula"})
    options = evaluated(f"dict({config.removesuffix(', default')})", dict=dict, Exception=Exception)
    if options is None:
        return None
    app = celery.Celery(set_as_current=False)
    waits = []

    class Noted(app.Task):
        """Task that notes the countdowns of its retries."""

        def signature_from_request(self, *arguments, **named):
            waits.append(named["countdown"])
            return super().signature_from_request(*arguments, **named)

    @app.task(base=Noted, name="scripted", **options)
    def scripted():
        raise ConnectionError("scripted")

    def operation():
        waits.clear()
        outcome = outcome_of(lambda: scripted.apply().get())
        # The last countdown is not used, because the task does not retry any more.
        return [0, *waits[:-1], 0], outcome
    return operation


def grpc_client(service_config, url, _method):
    import grpc
    if not isinstance(service_config, dict):
        return None
    channel = grpc.insecure_channel(url, options=[("grpc.service_config", json.dumps(service_config))])
    call = channel.unary_unary("/scripted.Service/Method")
    # The channel starts before the operation, so that no retry comes from the connection.
    grpc.channel_ready_future(channel).result(GRPC_TIMEOUT_S)
    def operation():
        call(b"", timeout=GRPC_TIMEOUT_S)
    return operation


# Libraries that read the time from `datetime`.
WITH_DATES = {"PyGithub", "backoff", "httpx-retries"}

# File of the recording, with the package and the clients.
CLIENTS = {
    "PyGithub": ("PyGithub", github_client),
    "aiohttp-retry": ("aiohttp-retry", aiohttp_retry_client),
    "anthropic": ("anthropic", anthropic_client),
    "azure-core": ("azure-core", azure_client),
    "azure-storage-blob": ("azure-storage-blob", azure_storage_client),
    "backoff": ("backoff", backoff_client),
    "botocore": ("botocore", boto_client),
    "celery": ("celery", celery_client),
    "google-api-core": ("google-api-core", google_api_core_client),
    "google-api-python-client": ("google-api-python-client", google_api_client),
    "google-genai": ("google-genai", google_genai_client),
    "grpcio": ("grpcio", grpc_client),
    "httpx": ("httpx", httpx_client),
    "httpx-retries": ("httpx-retries", httpx_client),
    "huggingface_hub": ("huggingface_hub", huggingface_client),
    "kubernetes": ("kubernetes", kubernetes_client),
    "openai": ("openai", openai_client),
    "requests": ("requests", requests_client),
    "slack_sdk": ("slack_sdk", slack_client),
    "stripe": ("stripe", stripe_client),
    "tenacity": ("tenacity", tenacity_client),
    "urllib3": ("urllib3", urllib3_client),
}


def main():
    library, source, target, max_ops, series_file = sys.argv[1:]
    old = json.loads(Path(source).read_text())
    package, make = CLIENTS[library]
    clock = RealClock() if library == "grpcio" else Clock()
    if library != "grpcio":
        clock.install()
    if library in WITH_DATES:
        clock.install_dates()
    recorder = Recorder(clock)
    series = json.loads(Path(series_file).read_text()) | old.get("series", {})
    scenarios, unknown = [], []
    for scenario in old["scenarios"]:
        new = recorder.scenario(scenario, make, series, int(max_ops))
        if new is None:
            unknown.append(f"{scenario['id']} · {scenario['config']}")
        else:
            scenarios.append(new)
    new = {**{key: old[key] for key in ("library", "language", "interception", "series") if key in old},
           "version": importlib.metadata.version(package), "runtime": f"Python {sys.version.split()[0]}",
           "not_recorded": unknown, "scenarios": scenarios}
    Path(target).write_text(json.dumps(new))


if __name__ == "__main__":
    main()
