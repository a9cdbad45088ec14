import { JsonRpcProvider, Network } from 'ethers';

const provider = new JsonRpcProvider(process.argv[2], Network.from(1), { staticNetwork: true });
console.log(await provider.getBlockNumber().finally(() => provider.destroy()));
