// Prints what an administrator applies: the CRD, and a ServiceAccount with exactly the rights that the greeter declares.
//   node --conditions=@bowline/source --import tsx docs/examples/ten-lines/manifests.ts | kubectl apply --server-side -f -
import { customResourceDefinition, rbacManifests } from '@bowline/runtime';
import { greeter } from './greeter.ts';

const items = [
  ...greeter.resources.map(customResourceDefinition),
  ...rbacManifests(greeter, { namespace: 'bowline-system' }),
];
process.stdout.write(`${JSON.stringify({ apiVersion: 'v1', kind: 'List', items }, undefined, 2)}\n`);
