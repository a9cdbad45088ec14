// ky: one GET with its default retries.
import ky from 'ky';

console.log(await ky(`${process.argv[2]}/v1/things`).json());
