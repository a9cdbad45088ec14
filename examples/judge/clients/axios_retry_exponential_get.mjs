// axios-retry with exponentialDelay, as its documentation recommends: one GET.
import axios from 'axios';
import axiosRetry from 'axios-retry';

axiosRetry(axios, { retryDelay: axiosRetry.exponentialDelay });
console.log((await axios.get(`${process.argv[2]}/v1/things`)).data);
