import axios from 'axios';
import { attach } from 'retry-axios';

axios.defaults.raxConfig = { retry: 3 };
attach();
console.log((await axios.get(`${process.argv[2]}/v1/things`, { timeout: 4000 })).status);
