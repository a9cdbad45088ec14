// Tests of a client that retries `fetch` (node --test). Replace `get` with your client. LOADGEN names the program, by default `loadgen`.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

let program, urls;

before(async () => {
  program = spawn(process.env.LOADGEN ?? "loadgen", ["judge", "--serve", "--quiet"], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = await once(createInterface({ input: program.stdout }), "line");
  urls = JSON.parse(line).situations;
});

after(async () => {
  program.kill("SIGTERM");
  await once(program, "exit");
});

async function verdict(situation) {
  const answer = await fetch(`${urls[situation]}/_judge/end`, { method: "POST" });
  return answer.json();
}

async function get(url) {
  for (let retry = 0; ; retry++) {
    const answer = await fetch(url).catch(() => null);
    if ((answer && ![429, 503].includes(answer.status)) || retry === 4) return answer;
    const advised = Number.parseInt(answer?.headers.get("retry-after") ?? "", 10);
    const backoff = 100 * 2 ** retry * (0.5 + Math.random() / 2);
    await sleep(advised > 0 ? advised * 1000 : backoff);
  }
}

for (const situation of ["throttled", "unavailable"]) {
  test(`waits as advised: ${situation}`, async () => {
    assert.equal((await get(urls[situation])).status, 200);
    const { verdict: found, findings } = await verdict(situation);
    assert.equal(found, "passed", JSON.stringify(findings));
  });
}

test("does not retry what is final", async () => {
  assert.equal((await get(urls["404"])).status, 404);
  assert.equal((await verdict("404")).verdict, "passed");
});

test("finds that this client cannot read dates", async () => {
  assert.equal((await get(urls.date)).status, 200);
  const { findings } = await verdict("date");
  assert.deepEqual(findings.map((finding) => finding.rule), ["early-retry"]);
});
