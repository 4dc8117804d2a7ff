// The informer of @kubernetes/client-node, used as its own examples do, with managedFields dropped on arrival.
import { readFileSync } from 'node:fs';
import { CoreV1Api, KubeConfig, makeInformer } from '@kubernetes/client-node';

const config = new KubeConfig();
config.loadFromString(readFileSync(process.argv[2], 'utf8'));

const start = performance.now();
const api = config.makeApiClient(CoreV1Api);
const strip = (object) => {
  object.metadata.managedFields = undefined;
};
const informer = makeInformer(config, '/api/v1/configmaps', async () => {
  const list = await api.listConfigMapForAllNamespaces();
  list.items.forEach(strip);
  return list;
});
informer.on('add', strip);
informer.on('update', strip);
informer.on('error', (error) => {
  console.error(error);
  process.exit(1);
});
// start() settles when the first list has been stored.
await informer.start();
console.log(JSON.stringify({ syncMs: performance.now() - start, objects: informer.list().length }));

process.stdin.on('end', () => {
  informer.stop();
  process.exit(0);
});
process.stdin.resume();
