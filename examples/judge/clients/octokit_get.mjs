// @octokit/rest with plugin-retry and plugin-throttling: reads one repository. Without the plugins it does not retry.
import { retry } from '@octokit/plugin-retry';
import { throttling } from '@octokit/plugin-throttling';
import { Octokit } from '@octokit/rest';

const again = (retryAfter, options, octokit, retryCount) => retryCount < 1;
const octokit = new (Octokit.plugin(retry, throttling))({
  auth: 'token',
  baseUrl: process.argv[2],
  throttle: { onRateLimit: again, onSecondaryRateLimit: again },
});
console.log((await octokit.rest.repos.get({ owner: 'octocat', repo: 'hello-world' })).data.full_name);
