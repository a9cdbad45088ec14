// @google-cloud/storage (Node.js): reads the metadata of one object.
import { Storage } from '@google-cloud/storage';

const storage = new Storage({ apiEndpoint: process.argv[2], projectId: 'project', useAuthWithCustomEndpoint: false });
const [metadata] = await storage.bucket('bucket').file('notes').getMetadata();
console.log(metadata.size);
