// @slack/web-api (Node.js): posts one message with the default retries.
import { WebClient } from '@slack/web-api';

const client = new WebClient('xoxb-token', { slackApiUrl: `${process.argv[2]}/api/` });
console.log((await client.chat.postMessage({ channel: 'C1', text: 'Hello' })).ts);
