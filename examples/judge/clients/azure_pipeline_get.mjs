// @azure/core-rest-pipeline (Node.js): one GET with the default retry policy, which most Azure libraries use.
import { createDefaultHttpClient, createEmptyPipeline, createPipelineRequest, defaultRetryPolicy } from '@azure/core-rest-pipeline';

const pipeline = createEmptyPipeline();
pipeline.addPolicy(defaultRetryPolicy());
const request = createPipelineRequest({ url: `${process.argv[2]}/v1/things`, allowInsecureConnection: true });
const answer = await pipeline.sendRequest(createDefaultHttpClient(), request);
console.log(answer.status, JSON.parse(answer.bodyAsText));
process.exitCode = answer.status < 300 ? 0 : 1;
