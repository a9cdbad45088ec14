// Records Node.js libraries: replaces timers and clocks, and drives each library against a scripted server.
//
// Usage: clients.mjs LIBRARY OLD.json NEW.json MAX_OPS SERIES.json VERSION
//
// Takes the scenarios of the recording OLD.json, and writes their measurements with the installed version to NEW.json.
// `record` in this folder starts this program. The clock stands still while a request is in flight; when the
// process is idle, the clock jumps to the next timer. A function of CLIENTS gets the configuration of a scenario, and
// returns a function that does one operation, or undefined if it does not know the configuration.
import { readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import 'node:https';
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers';
import timersPromises from 'node:timers/promises';
import util from 'node:util';

const real = { setTimeout, setImmediate, Date };
// Rounds of 1 ms without any activity after which the process counts as idle.
const IDLE_ROUNDS = 4;
const MAX_IDLE_ROUNDS = 5000;
// Shorter waits at the start and the end of an operation are noise of the program.
const MIN_WAIT_S = 0.015;

class Clock {
  ms = real.Date.now();
  queue = new Map();
  activity = 0;
  next = 1;

  install() {
    const clock = this;
    class Timer {
      constructor(call, ms, repeats) {
        Object.assign(this, { call, repeats, ms: Math.max(1, Math.trunc(Number(ms)) || 1), id: clock.next++ });
        this.refresh();
      }
      refresh() {
        this.at = clock.ms + this.ms;
        clock.queue.set(this.id, this);
        clock.activity++;
        return this;
      }
      ref() { return this; }
      unref() { return this; }
      hasRef() { return true; }
      close() { clear(this); return this; }
      [Symbol.toPrimitive]() { return this.id; }
      [Symbol.dispose]() { clear(this); }
    }
    const clear = (timer) => clock.queue.delete(timer?.id ?? Number(timer));
    const set = (call, ms, ...given) => new Timer(() => call(...given), ms, false);
    const wait = (ms, value, { signal } = {}) =>
      new Promise((resolve, reject) => {
        const timer = set(() => resolve(value), ms);
        signal?.addEventListener('abort', () => { clear(timer); reject(signal.reason); });
      });
    Object.defineProperty(set, util.promisify.custom, { value: wait });
    const replaced = {
      setTimeout: set,
      setInterval: (call, ms, ...given) => new Timer(() => call(...given), ms, true),
      clearTimeout: clear,
      clearInterval: clear,
    };
    Object.assign(globalThis, replaced);
    Object.assign(timers, replaced);
    timersPromises.setTimeout = wait;
    if (timersPromises.scheduler) timersPromises.scheduler.wait = wait;
    syncBuiltinESMExports();
    globalThis.Date = new Proxy(real.Date, {
      construct: (target, given, self) => Reflect.construct(target, given.length ? given : [clock.ms], self),
      apply: () => new real.Date(clock.ms).toString(),
      get: (target, key) => (key === 'now' ? () => clock.ms : target[key]),
    });
    const start = clock.ms;
    performance.now = () => clock.ms - start;
  }

  // Waits until the promise has ended. While nothing happens, fires the next timer.
  async run(promise, server) {
    let isOver = false;
    promise.finally(() => { isOver = true; }).catch(() => {});
    let idle = 0;
    while (!isOver) {
      const before = this.activity;
      await new Promise((resolve) => real.setTimeout(() => real.setImmediate(resolve), 1));
      idle = this.activity === before && !server.inFlight ? idle + 1 : 0;
      if (idle < IDLE_ROUNDS) continue;
      const timer = [...this.queue.values()].sort((one, other) => one.at - other.at || one.id - other.id)[0];
      if (!timer) {
        if (idle > MAX_IDLE_ROUNDS) throw new Error('idle without a timer');
        continue;
      }
      idle = 0;
      this.ms = Math.max(this.ms, timer.at);
      this.queue.delete(timer.id);
      if (timer.repeats) timer.refresh();
      timer.call();
    }
    return promise;
  }
}

class Server {
  inFlight = 0;
  steps = [];
  number = 0;

  constructor(clock, onRequest) {
    this.http = http.createServer({ keepAlive: true }, (request, response) => {
      this.inFlight++;
      clock.activity++;
      response.on('close', () => {
        this.inFlight--;
        clock.activity++;
      });
      request.resume();
      request.on('end', () => {
        const step = this.steps[Math.min(this.number++, this.steps.length - 1)];
        onRequest(request.method);
        if (step.close) return request.socket.destroy();
        const headers = Object.entries(step.headers ?? {}).map(([name, value]) => [name, atInstant(value, clock.ms)]);
        // The AWS SDK retries if its clock is wrong, so the server has the same clock.
        const type = step.body?.startsWith('<?xml') ? 'application/xml' : 'application/json';
        const usual = { 'content-type': type, date: new real.Date(clock.ms).toUTCString() };
        response.writeHead(step.status, { ...usual, ...Object.fromEntries(headers) });
        response.end(step.body ?? '');
      });
    });
    this.http.on('connection', () => clock.activity++);
    this.http.keepAliveTimeout = 0;
  }

  async listen() {
    await new Promise((resolve) => this.http.listen(0, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${this.http.address().port}`;
  }
}

// Returns the value of a header, with `@date+3` and `@epoch+5` as instants from the next whole second.
function atInstant(value, ms) {
  const match = /^@(date|epoch)([+-]\d+)$/.exec(value);
  if (!match) return value;
  const instant = Math.ceil(ms / 1000) + Number(match[2]);
  return match[1] === 'epoch' ? String(instant) : new real.Date(instant * 1000).toUTCString();
}

async function outcomeOf(operation) {
  try {
    const status = await operation();
    const isAnswer = typeof status === 'number';
    return { type: isAnswer && status >= 300 ? 'Response' : 'success', ...(isAnswer && { status }) };
  } catch (error) {
    const { response } = error;
    const statuses = [error.status, error.statusCode, response?.status, response?.statusCode];
    const status = [...statuses, error.$metadata?.httpStatusCode].find((one) => typeof one === 'number' && one >= 100);
    const code = [error.code, error.cause?.code].find((one) => ['ECONNRESET', 'UND_ERR_SOCKET'].includes(one));
    const type = error.name && error.name !== 'Error' ? error.name : error.constructor.name;
    return { type, ...(status ? { status } : code && { code }) };
  }
}

class Recorder {
  clock = new Clock();
  server = new Server(this.clock, (method) => {
    this.waits.push((this.clock.ms - this.mark) / 1000);
    this.mark = this.clock.ms;
    this.method ??= method;
  });

  async operation(operation, steps) {
    Object.assign(this.server, { steps, number: 0 });
    Object.assign(this, { waits: [], mark: this.clock.ms, method: undefined });
    const outcome = await this.clock.run(outcomeOf(operation), this.server);
    return { waits: [...this.waits, (this.clock.ms - this.mark) / 1000], outcome };
  }

  create(make, old) {
    return make(old.config, this.server.url, old.method ?? 'GET');
  }

  async scenario(old, make, series, maxOps) {
    const { id, config, method, steps, kind } = old;
    const kept = given({ id, config, method, steps, kind });
    let client = await this.create(make, old);
    if (!client) return undefined;
    // The first operation of a process loads code, so it is not recorded.
    await this.operation(client, [{ status: 200, body: '{}' }]);
    client = await this.create(make, old);
    if (old.kind === 'series') {
      const script = series[old.id];
      if (!script) return undefined;
      const [attempts, waits, runs] = [[], [], []];
      for (const steps of listed(script, old.ops)) {
        const { waits: each, outcome } = await this.operation(client, steps);
        attempts.push(each.length - 1);
        waits.push(each.at(-1) > MIN_WAIT_S ? each : each.slice(0, -1));
        const word = outcome.type === 'success' ? 'ok' : outcome.type;
        if (runs.at(-1)?.[0] === word) runs.at(-1)[1]++;
        else runs.push([word, 1]);
        this.clock.ms += 1000 * (script.pause_s ?? 0);
      }
      return { ...kept, ops: old.ops, attempts_per_op: attempts, waits_per_op: waits, outcomes_per_op: runs };
    }
    const [ops, outcomes] = [[], {}];
    for (let number = 0; number < Math.min(old.n, maxOps); number++) {
      if (number) client = await this.create(make, old);
      const { waits, outcome } = await this.operation(client, old.steps);
      ops.push(waits);
      const text = JSON.stringify(outcome);
      outcomes[text] = (outcomes[text] ?? 0) + 1;
    }
    return { ...kept, method: this.method ?? old.method, ...measured(ops), ...ended(outcomes) };
  }
}

// Returns the steps of each operation of a series.
function listed({ ops: groups, repeat }, ops) {
  const steps = [];
  while (steps.length < ops) {
    groups.forEach((group, index) => {
      const isLast = index + 1 === groups.length && !repeat;
      const count = isLast ? ops - steps.length : (group.count ?? ops);
      steps.push(...Array(Math.max(0, count)).fill(group.steps));
    });
  }
  return steps.slice(0, ops);
}

function measured(ops) {
  const same = (values) => (values.every((value) => String(value) === String(values[0])) ? values.slice(0, 1) : values);
  const attempts = same(ops.map((waits) => waits.length - 1));
  const fields = { n: ops.length, attempts: attempts.length === 1 ? attempts[0] : attempts };
  fields.samples = same(ops.map((waits) => waits.slice(1, -1)));
  for (const [key, place] of [['sleep_before_first', 0], ['sleep_after_last', -1]]) {
    const waits = ops.map((each) => each.at(place));
    if (Math.max(...waits) > MIN_WAIT_S) fields[key] = waits;
  }
  return fields;
}

function ended(outcomes) {
  const texts = Object.keys(outcomes);
  if (texts.length === 1) return { outcome: JSON.parse(texts[0]) };
  const kind = ({ type, status }) => (status ? `${type} ${status}` : type);
  return { outcomes: Object.fromEntries(texts.map((text) => [kind(JSON.parse(text)), outcomes[text]])) };
}

// Returns the value of a setting in a configuration such as `maxRetries 8` or `timeout.request 10 s`.
const number = (config, name) => {
  const match = new RegExp(`${name.replaceAll('.', '\\.')}[:=]? (\\d+(?:\\.\\d+)?)( s)?`).exec(config);
  return match ? Number(match[1]) * (match[2] ? 1000 : 1) : undefined;
};
// Returns the object in a configuration such as `retryConfig { retry: 6 }`, or undefined.
const literal = (config) =>
  config.includes('{') ? Function(`return (${config.slice(config.indexOf('{'))})`)() : undefined;
// Returns the settings in a configuration such as `retries 4, retryDelayMultiplier 3`. Others are left out.
const numbers = (config) => {
  const pairs = config.split(', ').map((part) => part.split(' ')).filter(([, value]) => Number.isFinite(Number(value)));
  return Object.fromEntries(pairs.map(([name, value]) => [name, Number(value)]));
};
const given = (settings) => Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
const isKnown = (config, pattern) => config.split(', ').every((part) => pattern.test(part));

async function openai(config, url) {
  if (!isKnown(config, /^(default client \(maxRetries 2\)|maxRetries \d+)$/)) return undefined;
  const { default: OpenAI } = await import('openai');
  const maxRetries = number(config, 'maxRetries');
  const client = new OpenAI({ apiKey: 'key', baseURL: `${url}/v1`, ...given({ maxRetries }) });
  const chat = { model: 'x', messages: [{ role: 'user', content: 'x' }] };
  return async () => void (await client.chat.completions.create(chat));
}

async function anthropic(config, url) {
  if (!isKnown(config, /^(default client \(maxRetries 2\)|maxRetries \d+)$/)) return undefined;
  const { default: Anthropic } = await import('@anthropic-ai/sdk');
  const maxRetries = number(config, 'maxRetries');
  const client = new Anthropic({ apiKey: 'key', baseURL: url, ...given({ maxRetries }) });
  const message = { model: 'x', max_tokens: 1, messages: [{ role: 'user', content: 'x' }] };
  return async () => void (await client.messages.create(message));
}

async function stripe(config, url) {
  if (!isKnown(config, /^(new Stripe\(\) default|customers\.\w+|maxNetworkRetries \d+)$/)) return undefined;
  const { default: Stripe } = await import('stripe');
  const { hostname, port } = new URL(url);
  const retries = given({ maxNetworkRetries: number(config, 'maxNetworkRetries') });
  const client = new Stripe('sk_test_key', { host: hostname, port, protocol: 'http', telemetry: false, ...retries });
  if (config.includes('retrieve')) return async () => void (await client.customers.retrieve('cus_1'));
  return async () => void (await client.customers.create({ email: 'x@example.com' }));
}

async function got(config, url, method) {
  if (!isKnown(config, /^(got\(\) default|retry\.limit \d+|timeout\.request \d+ s)$/)) return undefined;
  const { default: own } = await import('got');
  const [limit, request] = [number(config, 'retry.limit'), number(config, 'timeout.request')];
  const client = own.extend({ ...(limit && { retry: { limit } }), ...(request && { timeout: { request } }) });
  return async () => (await client(`${url}/x`, { method })).statusCode;
}

async function ky(config, url, method) {
  if (!isKnown(config, /^(ky\(\) default|timeout off|retry\.(limit|maxRetryAfter) \d+( s)?)$/)) return undefined;
  const { default: own } = await import('ky');
  const retry = given({ limit: number(config, 'retry.limit'), maxRetryAfter: number(config, 'retry.maxRetryAfter') });
  const client = own.create(given({
    retry: Object.keys(retry).length ? retry : undefined,
    timeout: config.includes('timeout off') ? false : undefined,
  }));
  return async () => (await client(`${url}/x`, { method })).status;
}

async function undici(config, url, method) {
  if (!isKnown(config, /^(RetryAgent default|maxRetries \d+|throwOnError false)$/)) return undefined;
  const { Agent, request, RetryAgent } = await import('undici');
  const settings = given({ maxRetries: number(config, 'maxRetries') });
  if (config.includes('throwOnError false')) settings.throwOnError = false;
  const dispatcher = new RetryAgent(new Agent(), settings);
  return async () => {
    const { statusCode, body } = await request(`${url}/x`, { method, dispatcher });
    await body.dump();
    return statusCode;
  };
}

async function axios(config, url, method) {
  if (!isKnown(config, /^(axiosRetry\(axios\) default|retries \d+|(retryDelay: )?exponentialDelay)$/)) return undefined;
  const [{ default: own }, { default: axiosRetry }] = [await import('axios'), await import('axios-retry')];
  const client = own.create();
  const settings = given({ retries: number(config, 'retries') });
  if (config.includes('exponentialDelay')) settings.retryDelay = axiosRetry.exponentialDelay;
  axiosRetry(client, settings);
  return async () => (await client.request({ url: `${url}/x`, method })).status;
}

async function octokit(config, baseUrl, method) {
  const { Octokit } = await import('@octokit/core');
  const { retry } = await import('@octokit/plugin-retry');
  const { throttling } = await import('@octokit/plugin-throttling');
  const names = [['plugin-retry', retry], ['plugin-throttling', throttling]];
  const plugins = names.flatMap(([name, plugin]) => (config.includes(name) ? [plugin] : []));
  if (!plugins.length && config !== 'core alone') return undefined;
  // `retry twice` is the callback of the documentation; it is also the one of the series.
  const again = (retryAfter, options, client, count) => !config.includes('say no') && count < 2;
  const client = new (Octokit.plugin(...plugins))({
    auth: 'token',
    baseUrl,
    throttle: { onRateLimit: again, onSecondaryRateLimit: again },
    log: { debug() {}, info() {}, warn() {}, error() {} },
  });
  return async () => void (await client.request(`${method} /x`));
}

// A function that fails like the requests of `fetch`, for libraries that retry any function.
const fetched = async (url, method = 'GET') => {
  const answer = await fetch(`${url}/x`, { method });
  await answer.text();
  if (!answer.ok) throw Object.assign(new Error('scripted'), { status: answer.status });
  return answer.status;
};

const retrySettings = (config) => given({
  retries: number(config, 'retries'),
  minTimeout: number(config, 'minTimeout'),
  maxTimeout: number(config, 'maxTimeout'),
  maxRetryTime: number(config, 'maxRetryTime'),
  randomize: config.includes('randomize true') || undefined,
});
const RETRY = /^((pRetry|operation)\(\) default|(retries|minTimeout|maxTimeout|maxRetryTime) \d+( s)?|randomize true)$/;

async function pRetry(config, url) {
  if (!isKnown(config, RETRY)) return undefined;
  const { default: own } = await import('p-retry');
  return () => own(() => fetched(url), retrySettings(config));
}

async function nodeRetry(config, url) {
  if (!isKnown(config, RETRY)) return undefined;
  const { default: own } = await import('retry');
  return () => new Promise((resolve, reject) => {
    const operation = own.operation(retrySettings(config));
    operation.attempt(() => fetched(url).then(resolve, (error) => operation.retry(error) || reject(error)));
  });
}

async function aws(config, url) {
  const match = /^(S3|DynamoDB|SQS)Client (default|maxAttempts \d+|retryMode adaptive)(, \w+)?$/.exec(config);
  if (!match) return undefined;
  const [, service, setting] = match;
  const sdk = await import(`@aws-sdk/client-${service.toLowerCase()}`);
  const client = new sdk[`${service}Client`]({
    region: 'us-east-1',
    endpoint: url,
    forcePathStyle: true,
    credentials: { accessKeyId: 'key', secretAccessKey: 'secret' },
    ...given({
      maxAttempts: number(setting, 'maxAttempts'),
      retryMode: setting.includes('adaptive') ? 'adaptive' : undefined,
    }),
  });
  const command = {
    S3: () => new sdk.GetObjectCommand({ Bucket: 'bucket', Key: 'key' }),
    DynamoDB: () => new sdk.GetItemCommand({ TableName: 'table', Key: { id: { S: '1' } } }),
    SQS: () => new sdk.SendMessageCommand({ QueueUrl: `${url}/1/queue`, MessageBody: 'x' }),
  }[service];
  return async () => {
    const answer = await client.send(command());
    await answer.Body?.transformToString();
  };
}

async function azure(config, url, method) {
  if (!isKnown(config, /^(defaultRetryPolicy\(\) default|maxRetries \d+)$/)) return undefined;
  const sdk = await import('@azure/core-rest-pipeline');
  const pipeline = sdk.createEmptyPipeline();
  pipeline.addPolicy(sdk.defaultRetryPolicy(given({ maxRetries: number(config, 'maxRetries') })));
  const client = sdk.createDefaultHttpClient();
  return async () => {
    const request = sdk.createPipelineRequest({ url: `${url}/x`, method, allowInsecureConnection: true });
    return (await pipeline.sendRequest(client, request)).status;
  };
}

async function azureStorage(config, url, method) {
  const names = /^(newPipeline\(\) default|(maxTries|retryDelayInMs|maxRetryDelayInMs) \d+|retryPolicyType FIXED)$/;
  if (!isKnown(config, names)) return undefined;
  const sdk = await import('@azure/storage-blob');
  const retryOptions = numbers(config);
  if (config.includes('FIXED')) retryOptions.retryPolicyType = sdk.StorageRetryPolicyType.FIXED;
  const pipeline = sdk.newPipeline(new sdk.AnonymousCredential(), { retryOptions });
  const blob = new sdk.BlockBlobClient(`${url}/account/container/blob`, pipeline);
  const call = {
    GET: () => blob.getTags(),
    HEAD: () => blob.getProperties(),
    PUT: () => blob.upload('x', 1),
    DELETE: () => blob.delete(),
  }[method];
  return call && (async () => void (await call()));
}

async function exponentialBackoff(config, url, method) {
  const names = /^(backOff\(\) default|jitter full|(numOfAttempts|startingDelay|timeMultiple|maxDelay) \d+)$/;
  if (!isKnown(config, names)) return undefined;
  const { backOff } = await import('exponential-backoff');
  const settings = { ...numbers(config), ...(config.includes('jitter full') && { jitter: 'full' }) };
  return () => backOff(() => fetched(url, method), settings);
}

async function gaxios(config, url, method) {
  if (!/^(request\(\) without retryConfig|retryConfig \{.*\})$/.test(config)) return undefined;
  const retryConfig = literal(config);
  const { Gaxios } = await import('gaxios');
  const data = ['POST', 'PUT'].includes(method) ? {} : undefined;
  return async () => (await new Gaxios().request({ url: `${url}/x`, method, data, retryConfig })).status;
}

async function googleGenai(config, baseUrl, method) {
  if (!/^(new GoogleGenAI\(\) without retryOptions|retryOptions \{.*\})$/.test(config)) return undefined;
  const retryOptions = literal(config);
  const { GoogleGenAI } = await import('@google/genai');
  const { models } = new GoogleGenAI({ apiKey: 'key', httpOptions: { baseUrl, ...given({ retryOptions }) } });
  if (method === 'GET') return async () => void (await models.get({ model: 'x' }));
  return async () => void (await models.generateContent({ model: 'x', contents: 'x' }));
}

async function notion(config, baseUrl, method) {
  if (!/^(new Client\(\) default|retry: false|retry \{.*\})$/.test(config)) return undefined;
  const retry = config === 'retry: false' ? false : literal(config);
  const { Client } = await import('@notionhq/client');
  const { pages, blocks } = new Client({ auth: 'key', baseUrl, logger() {}, ...given({ retry }) });
  const id = '0123456789abcdef0123456789abcdef';
  const call = {
    GET: () => pages.retrieve({ page_id: id }),
    POST: () => pages.create({ parent: { page_id: id }, properties: {} }),
    PATCH: () => pages.update({ page_id: id, properties: {} }),
    DELETE: () => blocks.delete({ block_id: id }),
  }[method];
  return call && (async () => void (await call()));
}

async function retryRequest(config, url, method) {
  const names = /^(retryRequest\(\) default|(retries|retryDelayMultiplier|maxRetryDelay|noResponseRetries) \d+)$/;
  if (!isKnown(config, names)) return undefined;
  const [{ default: send }, { teenyRequest }] = [await import('retry-request'), await import('teeny-request')];
  const request = { uri: `${url}/x`, method, ...(method === 'POST' && { json: {} }) };
  const settings = { request: teenyRequest, ...numbers(config) };
  return () => new Promise((resolve, reject) => {
    send(request, settings, (error, answer) => (error ? reject(error) : resolve(answer.statusCode)));
  });
}

async function slack(config, url) {
  const { WebClient, LogLevel, retryPolicies } = (await import('@slack/web-api')).default;
  const named = {
    'new WebClient() default': {},
    'retryConfig fiveRetriesInFiveMinutes': { retryConfig: retryPolicies.fiveRetriesInFiveMinutes },
    'rejectRateLimitedCalls: true': { rejectRateLimitedCalls: true },
  }[config];
  if (!named && !config.startsWith('retryConfig {')) return undefined;
  const settings = named ?? { retryConfig: literal(config) };
  const client = new WebClient('key', { slackApiUrl: `${url}/api/`, logLevel: LogLevel.ERROR, ...settings });
  return async () => void (await client.chat.postMessage({ channel: 'x', text: 'x' }));
}

async function postgrest(config, url, method) {
  const settings = { 'new PostgrestClient() default': {}, 'retry: false': { retry: false } }[config];
  if (!settings) return undefined;
  const { PostgrestClient } = await import('@supabase/postgrest-js');
  const table = new PostgrestClient(url, settings).from('x');
  const call = {
    GET: () => table.select(),
    HEAD: () => table.select('*', { head: true }),
    POST: () => table.insert({ x: 1 }),
    PATCH: () => table.update({ x: 1 }).eq('x', 2),
    DELETE: () => table.delete().eq('x', 2),
  }[method];
  return call && (async () => {
    const { error, status } = await call();
    if (error) throw Object.assign(new Error('scripted'), { status });
    return status;
  });
}

async function tanstack(config, url, method) {
  const match = /^(query|mutation) (default \((browser|server)\)|\{.*\})$/.exec(config);
  if (!match) return undefined;
  // The library takes a process without a window for a server, which does not retry.
  globalThis.window ??= { addEventListener() {}, removeEventListener() {} };
  const sdk = await import('@tanstack/query-core');
  sdk.environmentManager.setIsServer(() => match[3] === 'server');
  const client = new sdk.QueryClient();
  const send = () => fetched(url, method);
  if (match[1] === 'mutation') {
    return () => new sdk.MutationObserver(client, { mutationFn: send, ...literal(config) }).mutate();
  }
  return () => new Promise((resolve, reject) => {
    const observer = new sdk.QueryObserver(client, { queryKey: ['x'], queryFn: send, ...literal(config) });
    const stop = observer.subscribe((result) => {
      if (result.fetchStatus !== 'idle') return;
      stop();
      client.clear();
      result.isSuccess ? resolve(result.data) : reject(result.error);
    });
  });
}

const CLIENTS = {
  'anthropic-node': anthropic,
  'aws-sdk-js-dynamodb': aws,
  'aws-sdk-js-s3': aws,
  'aws-sdk-js-sqs': aws,
  'axios-retry': axios,
  'azure-core-rest-pipeline': azure,
  'azure-storage-common': azureStorage,
  'exponential-backoff': exponentialBackoff,
  gaxios,
  'google-genai-node': googleGenai,
  'got-16': got,
  'ky-2': ky,
  'node-retry': nodeRetry,
  'notion-client': notion,
  octokit,
  'openai-node-7': openai,
  'p-retry-9': pRetry,
  'retry-request': retryRequest,
  'slack-web-api': slack,
  'stripe-node': stripe,
  'supabase-postgrest-js': postgrest,
  'tanstack-query-core': tanstack,
  'undici-8': undici,
};

const [library, source, target, maxOps, seriesFile, version] = process.argv.slice(2);
const old = JSON.parse(readFileSync(source));
const series = { ...JSON.parse(readFileSync(seriesFile)), ...old.series };
const recorder = new Recorder();
await recorder.server.listen();
recorder.clock.install();
const [scenarios, unknown] = [[], []];
for (const scenario of old.scenarios) {
  const recorded = await recorder.scenario(scenario, CLIENTS[library], series, Number(maxOps));
  if (recorded) scenarios.push(recorded);
  else unknown.push(`${scenario.id} · ${scenario.config}`);
}
const { language, interception } = old;
const head = { library: old.library, version, language };
const runtime = `Node ${process.versions.node}`;
const rest = { runtime, interception, not_recorded: unknown, series: old.series, scenarios };
writeFileSync(target, JSON.stringify({ ...head, ...rest }));
process.exit(0);
