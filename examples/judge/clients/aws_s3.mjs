// @aws-sdk/client-s3 (Node.js): reads one object. The endpoint is in AWS_ENDPOINT_URL_S3.
import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3';

const credentials = { accessKeyId: 'key', secretAccessKey: 'secret' };
const client = new S3Client({ region: 'us-east-1', credentials, forcePathStyle: true });
const answer = await client.send(new GetObjectCommand({ Bucket: 'bucket', Key: 'key' }));
console.log(await answer.Body.transformToString());
