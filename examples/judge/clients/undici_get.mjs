// undici: one GET with the default retries of RetryAgent.
import { Agent, request, RetryAgent } from 'undici';

const { statusCode, body } = await request(`${process.argv[2]}/v1/things`, {
  dispatcher: new RetryAgent(new Agent()),
});
console.log(statusCode, await body.json());
process.exitCode = statusCode < 300 ? 0 : 1;
