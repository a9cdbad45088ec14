// axios-retry: one GET with its default retries.
import axios from 'axios';
import axiosRetry from 'axios-retry';

axiosRetry(axios);
console.log((await axios.get(`${process.argv[2]}/v1/things`)).data);
