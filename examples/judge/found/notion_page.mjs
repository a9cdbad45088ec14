import { Client } from '@notionhq/client';

const notion = new Client({ auth: 'any', baseUrl: process.argv[2], timeoutMs: 4000 });
console.log((await notion.pages.retrieve({ page_id: '1d1f6f0c-6d2c-4a39-9c3e-5a54b8a2f0aa' })).object);
