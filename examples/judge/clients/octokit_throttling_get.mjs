// @octokit/rest with plugin-throttling alone: reads one repository. Without the plugin it does not retry.
import { throttling } from '@octokit/plugin-throttling';
import { Octokit } from '@octokit/rest';

const again = (retryAfter, options, octokit, retryCount) => retryCount < 1;
const octokit = new (Octokit.plugin(throttling))({
  auth: 'token',
  baseUrl: process.argv[2],
  throttle: { onRateLimit: again, onSecondaryRateLimit: again },
});
console.log((await octokit.rest.repos.get({ owner: 'octocat', repo: 'hello-world' })).data.full_name);
