// @discordjs/rest: reads one channel.
import { REST } from '@discordjs/rest';

const rest = new REST({ api: `${process.argv[2]}/api` }).setToken('token');
console.log((await rest.get('/channels/1')).name);
process.exit(0);
