// @anthropic-ai/sdk (Node.js): one message. The base URL is in ANTHROPIC_BASE_URL.
import Anthropic from '@anthropic-ai/sdk';

const client = new Anthropic({ apiKey: 'key' });
const answer = await client.messages.create({
  model: 'claude-haiku-4-5',
  max_tokens: 16,
  messages: [{ role: 'user', content: 'Hello' }],
});
console.log(answer.content[0].text);
