// got: one GET with its default retries.
import got from 'got';

console.log(await got(`${process.argv[2]}/v1/things`).json());
