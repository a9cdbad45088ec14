// @aws-sdk/client-dynamodb (Node.js): reads one item. The endpoint is in AWS_ENDPOINT_URL_DYNAMODB.
import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';

const credentials = { accessKeyId: 'key', secretAccessKey: 'secret' };
const client = new DynamoDBClient({ region: 'us-east-1', credentials });
console.log((await client.send(new GetItemCommand({ TableName: 'table', Key: { id: { S: '1' } } }))).Item);
