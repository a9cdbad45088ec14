// openai (Node.js): one chat completion. The base URL is in OPENAI_BASE_URL.
import OpenAI from 'openai';

const client = new OpenAI({ apiKey: 'key' });
const answer = await client.chat.completions.create({
  model: 'gpt-4o-mini',
  messages: [{ role: 'user', content: 'Hello' }],
});
console.log(answer.choices[0].message.content);
