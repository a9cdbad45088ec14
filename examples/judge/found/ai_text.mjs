import { createOpenAI } from '@ai-sdk/openai';
import { generateText } from 'ai';

const openai = createOpenAI({ apiKey: 'any', baseURL: `${process.argv[2]}/v1` });
console.log((await generateText({ model: openai.chat('gpt-4o-mini'), prompt: 'Hello' })).text);
