// ofetch: one GET with its default of one retry.
import { ofetch } from 'ofetch';

console.log(await ofetch(`${process.argv[2]}/v1/things`));
